use millstream_macros::operator;

struct Payment;
struct Detector;

#[operator]
impl Process for Detector {
    type Input = Payment;
    type Output = Payment;

    fn process(&self, row: Payment) -> Option<Payment> {
        Some(row)
    }
}

#[operator]
impl Process for Detector {
    type Input = Payment;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

#[operator]
impl Process for Detector {
    type Input = Payment;
    type Output = Payment;
}

#[operator]
impl Process for Detector {
    type Inputs = Payment;
}

#[operator]
impl Process for Detector {
    fn on_event_tmer(&mut self) {}
}

#[operator]
impl Process for Detector {
    async fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

#[operator]
impl<T> Process for Generic<T> {
    type Input = Payment;
}

#[operator]
impl Detector {}

#[operator(keyed)]
impl Process for Detector {}

#[operator]
struct NoOperator;

fn main() {}
