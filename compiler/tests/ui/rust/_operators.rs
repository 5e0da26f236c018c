use millstream::prelude::*;

#[derive(Clone, Record)]
pub struct Payment {
    pub card: String,
}

pub struct Private {
    threshold: f64,
}

#[operator]
impl Process for Private {
    type Input = Payment;
    type Output = Payment;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct Tuple(pub f64);

#[operator]
impl Process for Tuple {
    type Input = Payment;
    type Output = Payment;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct Plain;

impl Process for Plain {
    type Input = Payment;
    type Output = Payment;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct Lacks;

#[operator]
impl Process for Lacks {
    type Input = Payment;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct Idle;

#[operator]
impl Process for Idle {
    type Input = Payment;
    type Output = Payment;
}

pub struct Members;

#[operator]
impl Process for Members {
    type Inputs = Payment;
    type Output = Payment;

    fn on_event_tmer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }

    fn process(&self, row: Payment) -> Option<Payment> {
        None
    }

    async fn on_end(&mut self, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct Scalar;

#[operator]
impl Process for Scalar {
    type Input = String;
    type Output = Payment;

    fn process(&mut self, row: String, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

#[operator]
impl Process for Elsewhere {
    type Input = Payment;
    type Output = Payment;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct Keyed;

#[operator(keyed)]
impl Process for Keyed {}

#[operator]
impl Keyed {}

#[aggregate]
impl Keyed {}
