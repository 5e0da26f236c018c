use millstream::prelude::*;

#[derive(Clone, Record)]
pub struct Payment {
    pub card: String,
    pub amount: f64,
    pub at: Timestamp,
}

#[derive(Clone, Record)]
pub struct Alert {
    pub card: String,
}

pub struct Detector {
    pub threshold: f64,
    pub note: Option<String>,
}

#[operator]
impl Process for Detector {
    type Input = Payment;
    type Output = Alert;
    type Side = Alert;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct Helper {
    pub threshold: f64,
}

pub struct Quiet;

#[operator]
impl Process for Quiet {
    type Input = Payment;
    type Output = Alert;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}
