use millstream::prelude::*;

#[derive(Clone, Record)]
pub struct Payment {
    pub card: String,
    pub amount: f64,
}

#[derive(Clone, Record)]
pub struct Rule {
    pub bank: String,
}

pub enum Event {
    Payment(Payment),
    Rule(Rule),
}

pub enum Three {
    Payment(Payment),
    Rule(Rule),
    Other(Rule),
}

pub struct Both;

#[operator]
impl Process for Both {
    type Input = Event;
    type Output = Payment;

    fn process(&mut self, row: Event, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct Everywhere;

#[operator]
impl Process for Everywhere {
    type Input = Payment;
    type Output = Payment;
    type Broadcast = Rule;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct One;

#[operator]
impl Process for One {
    type Input = Payment;
    type Output = Payment;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub struct OfThree;

#[operator]
impl Process for OfThree {
    type Input = Three;
    type Output = Payment;

    fn process(&mut self, row: Three, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

#[derive(Clone, Record)]
pub struct Number {
    pub number: i64,
}

pub enum Known {
    Rule(Rule),
    Number(Number),
}

pub struct Full;

#[operator]
impl Process for Full {
    type Input = Parts;
    type Output = Payment;
    type Broadcast = Known;

    fn process(&mut self, row: Parts, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

pub enum Parts {
    Payment(Payment),
    Rule(Rule),
    Again(Payment),
}

pub enum Single {
    Payment(Payment),
}

pub struct Lone;

#[operator]
impl Process for Lone {
    type Input = Single;
    type Output = Payment;

    fn process(&mut self, row: Single, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}
