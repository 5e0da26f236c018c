use millstream_macros::aggregate;

struct Product;

#[aggregate]
impl Accumulator for Product {
    type Input = f64;
    type Output = f64;
    fn add(&mut self, value: f64) -> Result<(), EvalError> {}
    fn finish(&self) -> Result<Option<f64>, EvalError> {}
}

#[aggregate]
impl<T> Accumulator for Generic<T> {}

#[aggregate]
impl Accumulator for Product {
    async fn add(&mut self, value: f64) -> Result<(), EvalError> {}
}

#[aggregate(nam = "other")]
impl Accumulator for Product {}

#[aggregate]
impl Product {}

#[aggregate]
struct NoAggregate;

fn main() {}
