use millstream::prelude::*;

#[derive(Clone, Record)]
pub struct Payment {
    pub card: String,
    pub amount: f64,
}

#[derive(Clone, Record)]
pub struct Alert {
    pub card: String,
}

#[derive(SideOutputs)]
pub enum Beside {
    Alert(Alert),
    TooSmall(Payment),
}

pub struct Several;

#[operator]
impl Process for Several {
    type Input = Payment;
    type Output = Alert;
    type Side = Beside;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct One;

#[operator]
impl Process for One {
    type Input = Payment;
    type Output = Alert;
    type Side = Alert;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub enum NotDerived {
    Alert(Alert),
    TooSmall(Payment),
}

pub struct Underived;

#[operator]
impl Process for Underived {
    type Input = Payment;
    type Output = Alert;
    type Side = NotDerived;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

#[derive(SideOutputs)]
pub struct NoEnum {
    pub card: String,
}

#[derive(SideOutputs)]
pub enum Nothing {}

#[derive(SideOutputs)]
pub enum Bare {
    Alert(Alert),
    Late,
    Both(Alert, Payment),
}

#[derive(SideOutputs)]
enum Private {
    Alert(Alert),
}

#[derive(SideOutputs)]
pub enum Generic<T> {
    Alert(T),
}

#[derive(SideOutputs)]
pub enum NoRecords {
    Alert(Alert),
    Text(String),
}

pub struct OfTexts;

#[operator]
impl Process for OfTexts {
    type Input = Payment;
    type Output = Alert;
    type Side = NoRecords;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}
