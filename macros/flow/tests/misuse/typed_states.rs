//! What only rustc knows of state.

use millstream::prelude::*;

#[derive(Clone, Debug, Record)]
pub struct Payment {
    pub card: String,
}

/// No default: nothing says what a key begins with.
#[derive(Clone, Debug, State)]
pub struct NoDefault {
    pub count: u64,
}

/// Not in checkpoints.
#[derive(Clone, Debug, Default)]
pub struct NotStored {
    pub count: u64,
}

/// Fields that cannot be stored.
#[derive(Clone, Debug, State)]
pub struct Fields {
    pub since: std::time::Instant,
    pub last: Option<NotStored>,
    pub shared: std::sync::Arc<String>,
}

pub struct A;

#[operator]
impl Process for A {
    type Input = Payment;
    type Output = Payment;
    type State = NoDefault;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.emit(row);
        Ok(())
    }
}

pub struct B;

#[operator]
impl Process for B {
    type Input = Payment;
    type Output = Payment;
    type State = NotStored;

    fn process(&mut self, row: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.emit(row);
        Ok(())
    }
}

#[derive(Clone, State)]
pub struct DefaultOfAnotherType {
    #[flow(default = 7)]
    name: String,
    #[flow(default)]
    side: Undefaulted,
}

#[derive(Clone, State)]
pub enum Undefaulted {
    Left,
}

fn main() {}
