use millstream::prelude::*;

#[derive(Clone, Record)]
pub struct Order {
    pub id: i64,
}

#[derive(Default)]
pub struct Twice;

#[operator]
impl Process for Twice {
    type Input = Order;
    type Output = Order;

    fn process(&mut self, order: Order, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.emit(order.clone());
        cx.emit(order);
        Ok(())
    }
}
