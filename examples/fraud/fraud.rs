//! A card that pays a little and then a lot within a minute is suspicious: the classic of fraud detection.

use millstream::prelude::*;

/// A payment with a card.
#[derive(Clone, Debug, Record, Source)]
#[source(name = payments, from = file { path: "data/payments.jsonl" }, watermark = at - 5s)]
pub struct Payment {
    pub card: String,
    pub amount: Decimal<10, 2>,
    #[flow(event_time)]
    pub at: Timestamp,
}

/// A card to be looked at.
#[derive(Clone, Debug, Record)]
pub struct Alert {
    pub card: String,
    /// Of the large payment.
    pub amount: Decimal<10, 2>,
    #[flow(event_time)]
    pub at: Timestamp,
    /// How long after the small one.
    pub after: Duration,
}

/// A small payment behind which nothing came.
#[derive(Clone, Debug, Record, Sink)]
#[sink(of = calm, into = file { path: "out/calm", format: json })]
pub struct Calm {
    pub card: String,
    pub until: Timestamp,
}

/// What is remembered of a card: when it last paid a little.
#[derive(Clone, Debug, Default, State)]
pub struct Seen {
    card: String,
    small_at: Option<Timestamp>,
}

/// Finds cards that pay less than `small` and then more than `large` within `within`.
pub struct FraudDetector {
    pub small: Decimal<10, 2>,
    pub large: Decimal<10, 2>,
    pub within: Duration,
}

#[operator]
impl Process for FraudDetector {
    type Input = Payment;
    type Output = Alert;
    type Side = Calm;
    type State = Seen;

    fn process(&mut self, payment: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if let Some(small_at) = cx.state().small_at
            && payment.amount > self.large
            // The timer fires when the watermark comes, which may be after this row.
            && payment.at.0 - small_at.0 <= self.within.0
        {
            let after = Duration(payment.at.0 - small_at.0);
            cx.emit(Alert { card: payment.card, amount: payment.amount, at: payment.at, after });
            cx.delete_event_timer(Timestamp(small_at.0 + self.within.0));
            cx.clear();
        } else if payment.amount < self.small {
            if let Some(before) = cx.state().small_at.replace(payment.at) {
                cx.delete_event_timer(Timestamp(before.0 + self.within.0));
            }
            cx.event_timer(Timestamp(payment.at.0 + self.within.0));
            cx.state().card = payment.card;
        }
        Ok(())
    }

    fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let card = std::mem::take(&mut cx.state().card);
        cx.side(Calm { card, until: at });
        cx.clear();
        Ok(())
    }
}

/// A card that its owner has lost.
#[derive(Clone, Debug, Record)]
pub struct Block {
    pub card: String,
    #[flow(event_time)]
    pub at: Timestamp,
}

/// Rows of either of two streams.
pub enum Event {
    Payment(Payment),
    Block(Block),
}

/// Of a card: since when it is blocked, and payments that wait until nothing older can come.
#[derive(Clone, Debug, Default, State)]
pub struct Waiting {
    card: String,
    blocked_at: Option<Timestamp>,
    payments: Vec<(Timestamp, Decimal<10, 2>)>,
}

/// Finds payments with cards that were blocked before, whichever of the two streams is read first.
pub struct LostCards;

#[operator]
impl Process for LostCards {
    type Input = Event;
    type Output = Alert;
    type State = Waiting;

    fn process(&mut self, event: Event, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        match event {
            Event::Block(block) => {
                let first = cx.state().blocked_at.map_or(block.at, |before| before.min(block.at));
                cx.state().blocked_at = Some(first);
            }
            Event::Payment(payment) => {
                cx.event_timer(payment.at);
                cx.state().payments.push((payment.at, payment.amount));
                cx.state().card = payment.card;
            }
        }
        Ok(())
    }

    fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let state = cx.state();
        let (card, since) = (state.card.clone(), state.blocked_at.filter(|since| *since <= at));
        let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut state.payments).into_iter().partition(|(time, _)| *time == at);
        state.payments = later;
        let Some(since) = since else { return Ok(()) };
        for (at, amount) in now {
            cx.emit(Alert { card: card.clone(), amount, at, after: Duration(at.0 - since.0) });
        }
        Ok(())
    }
}

/// What a bank lets its cards pay at once.
#[derive(Clone, Debug, Record)]
pub struct Limit {
    pub bank: String,
    pub most: Decimal<10, 2>,
}

/// The limits of all banks, in every subtask.
#[derive(Default, Shared)]
pub struct Limits {
    of_bank: BroadcastState<String, Decimal<10, 2>>,
}

/// A card of a bank whose limit nobody has said.
#[derive(Clone, Debug, Record)]
pub struct Unlimited {
    pub card: String,
    pub payments: i64,
}

/// What else is found.
#[derive(SideOutputs)]
pub enum Beside {
    Unlimited(Unlimited),
    /// Payments of more than four fifths of the limit.
    Near(Alert),
}

/// Finds payments above the limit of the bank of their card, which is its first letter.
pub struct AboveLimit;

#[operator]
impl Process for AboveLimit {
    type Input = Payment;
    type Output = Alert;
    type Side = Beside;
    type State = Waiting;
    type Broadcast = Limit;
    type Shared = Limits;

    fn process(&mut self, payment: Payment, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        // All limits may not be there yet.
        cx.state().payments.push((payment.at, payment.amount));
        cx.state().card = payment.card;
        cx.event_timer(Timestamp(i64::MAX - 1));
        Ok(())
    }

    fn on_broadcast(&mut self, limit: Limit, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        let (limits, everywhere) = cx.broadcast();
        limits.of_bank.change(everywhere).insert(limit.bank, limit.most);
        Ok(())
    }

    fn on_event_timer(&mut self, _: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let Waiting { card, payments, .. } = std::mem::take(cx.state());
        let bank: String = card.chars().take(1).collect();
        let Some(most) = cx.shared().of_bank.get(&bank).copied() else {
            cx.side(Beside::Unlimited(Unlimited { card, payments: payments.len() as i64 }));
            return Ok(());
        };
        for (at, amount) in payments {
            let alert = Alert { card: card.clone(), amount, at, after: Duration(0) };
            if amount > most {
                cx.emit(alert);
            } else if amount.0 * 5 > most.0 * 4 {
                cx.side(Beside::Near(alert));
            }
        }
        Ok(())
    }
}
