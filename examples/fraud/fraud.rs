//! A card that pays a little and then a lot within a minute is suspicious: the classic of fraud detection.

use millstream::prelude::*;

/// A payment with a card.
#[derive(Clone, Debug, Record)]
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
#[derive(Clone, Debug, Record)]
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
