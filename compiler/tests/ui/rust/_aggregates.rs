use millstream::prelude::*;

#[derive(Clone, Default, State)]
pub struct Product {
    value: f64,
}

/// The product of all values.
#[aggregate]
impl Accumulator for Product {
    type Input = f64;
    type Output = f64;
    fn add(&mut self, value: f64) -> Result<(), EvalError> { Ok(()) }
    fn merge(&mut self, other: &Self) -> Result<(), EvalError> { Ok(()) }
    fn finish(&self) -> Result<Option<f64>, EvalError> { Ok(None) }
}

#[derive(Clone, Default, State)]
pub struct Nulls;
#[aggregate]
impl Accumulator for Nulls {
    type Input = Option<i64>;
    type Output = i64;
    fn add(&mut self, value: Option<i64>) -> Result<(), EvalError> { Ok(()) }
    fn merge(&mut self, other: &Self) -> Result<(), EvalError> { Ok(()) }
    fn finish(&self) -> Result<Option<i64>, EvalError> { Ok(None) }
}

#[derive(Clone, Default, State)]
struct Hidden;
#[aggregate]
impl Accumulator for Hidden {
    type Input = (i64, String);
    type Output = i64;
    fn add(&mut self, value: (i64, String)) -> Result<(), EvalError> { Ok(()) }
    fn merge(&mut self, other: &Self) -> Result<(), EvalError> { Ok(()) }
    fn finish(&self) -> Result<Option<i64>, EvalError> { Ok(None) }
}

#[derive(Clone, Default, State)]
pub struct Lacking;
#[aggregate]
impl Accumulator for Lacking {
    type Input = i64;
    type Output = i64;
    fn add(&mut self, value: i64) -> Result<(), EvalError> { Ok(()) }
    fn finish(&self) -> Result<Option<i64>, EvalError> { Ok(None) }
}

#[derive(Clone, Default, State)]
pub struct Taken;
#[aggregate(name = "sum")]
impl Accumulator for Taken {
    type Input = i64;
    type Output = i64;
    fn add(&mut self, value: i64) -> Result<(), EvalError> { Ok(()) }
    fn merge(&mut self, other: &Self) -> Result<(), EvalError> { Ok(()) }
    fn finish(&self) -> Result<Option<i64>, EvalError> { Ok(None) }
}

#[derive(Clone, Default, State)]
pub struct Single;
#[aggregate]
impl Accumulator for Single {
    type Input = (i64,);
    type Output = i64;
    fn add(&mut self, value: (i64,)) -> Result<(), EvalError> { Ok(()) }
    fn merge(&mut self, other: &Self) -> Result<(), EvalError> { Ok(()) }
    fn finish(&self) -> Result<Option<i64>, EvalError> { Ok(None) }
}

#[derive(Clone, Default, State)]
pub struct Pairs;
#[aggregate]
impl Accumulator for Pairs {
    type Input = (i64, Json);
    type Output = u64;
    fn add(&mut self, value: (i64, Json)) -> Result<(), EvalError> { Ok(()) }
    fn merge(&mut self, other: &Self) -> Result<(), EvalError> { Ok(()) }
    fn finish(&self) -> Result<Option<u64>, EvalError> { Ok(None) }
}
