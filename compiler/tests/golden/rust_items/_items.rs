use millstream::prelude::*;

#[derive(Clone, Debug, Record)]
pub struct Payment {
    pub card: String,
    pub amount: f64,
    #[flow(event_time)]
    pub at: Timestamp,
}

#[derive(Clone, Debug, Record)]
pub struct Block {
    pub number: String,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Record)]
pub struct Limit {
    pub most: f64,
}

#[function(in_flight = 20, timeout = "5s", unordered)]
pub async fn owner_of(card: &str) -> Result<Option<String>, String> {
    if card.is_empty() { Err("no card".to_owned()) } else { Ok(None) }
}

#[function(retries = 3, backoff = "250ms")]
pub async fn is_open(number: String) -> Result<bool, String> {
    Ok(number.is_empty())
}

#[function]
pub async fn banks_of(number: &str) -> Vec<String> {
    vec![number.to_owned()]
}

#[function]
pub async fn bank_of(text: String) -> String {
    text
}

pub enum Event {
    Payment(Payment),
    Block(Block),
}

pub struct Lost;

#[operator]
impl Process for Lost {
    type Input = Event;
    type Output = Payment;
    type State = Option<Timestamp>;

    fn process(&mut self, event: Event, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        match event {
            Event::Block(block) => {
                cx.event_timer(block.at);
                *cx.state() = Some(block.at);
            }
            Event::Payment(payment) if cx.state().is_some() => cx.emit(payment),
            Event::Payment(_) => {}
        }
        Ok(())
    }
}

#[derive(Default, Shared)]
pub struct Limits {
    most: BroadcastState<i64, f64>,
}

pub struct Above;

#[operator]
impl Process for Above {
    type Input = Payment;
    type Output = Payment;
    type Broadcast = Limit;
    type Shared = Limits;

    fn process(&mut self, payment: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if cx.shared().most.get(&0).is_some_and(|most| payment.amount > *most) {
            cx.emit(payment);
        }
        Ok(())
    }

    fn on_broadcast(&mut self, limit: Limit, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        let (limits, everywhere) = cx.broadcast();
        limits.most.change(everywhere).insert(0, limit.most);
        Ok(())
    }
}

pub struct Halved {
    pub least: f64,
}

#[operator]
impl Process for Halved {
    type Input = Payment;
    type Output = Payment;
    type Side = Limit;

    fn process(&mut self, payment: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let amount = payment.amount / 2.0;
        match amount >= self.least {
            true => cx.emit(Payment { amount, ..payment }),
            false => cx.side(Limit { most: amount }),
        }
        Ok(())
    }
}
