//! What only rustc knows of operators: the types of their methods.

use millstream::prelude::*;

#[derive(Clone, Debug, Record)]
pub struct Payment {
    pub card: String,
}

#[derive(Clone, Debug, Record)]
pub struct Alert {
    pub card: String,
}

pub struct OtherRow;

#[operator]
impl Process for OtherRow {
    type Input = Payment;
    type Output = Alert;

    fn process(&mut self, row: Alert, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct NoResult;

#[operator]
impl Process for NoResult {
    type Input = Payment;
    type Output = Alert;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) {
        cx.emit(Alert { card: row.card });
    }
}

pub struct Emits;

#[operator]
impl Process for Emits {
    type Input = Payment;
    type Output = Alert;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.emit(row);
        Ok(())
    }
}

pub struct NoSideOutput;

#[operator]
impl Process for NoSideOutput {
    type Input = Payment;
    type Output = Alert;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.side(Alert { card: row.card });
        Ok(())
    }
}

pub struct Plain {
    pub open: std::rc::Rc<u8>,
}

#[operator]
impl Process for Plain {
    type Input = Payment;
    type Output = Alert;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Err("no")
    }
}

pub struct Unshared;

/// Not derived.
#[derive(Default)]
pub struct Limits {
    pub of_card: std::collections::BTreeMap<String, i64>,
}

#[operator]
impl Process for Unshared {
    type Input = Payment;
    type Output = Alert;
    type Broadcast = Alert;
    type Shared = Limits;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

#[derive(Default, Shared)]
pub struct Fields {
    pub of_card: std::collections::BTreeMap<String, i64>,
}

fn main() {}
