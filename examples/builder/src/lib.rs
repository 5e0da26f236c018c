//! The orders of a shop, in plain Rust: no text of the language, no build script, and nothing of the compiler in the build.
//!
//! Three streams come of two: revenue per customer and minute, orders with their payment, and orders that nobody has paid in time.

use std::time::Duration;

use millstream::builder::{Link, Pipeline, Stream, count, sum};
use millstream::formats::JsonFormat;
use millstream::prelude::{Context, Decimal, Failure, Process, Record, State, Timestamp, operator};
use millstream::{JobResult, Options, ParamValues, value};

/// An order of the shop.
#[derive(Clone, Debug, Record, State)]
pub struct Order {
    pub id: i64,
    pub customer: String,
    pub amount: Decimal<10, 2>,
    pub at: Timestamp,
}

/// A payment for one.
#[derive(Clone, Debug, Record, State)]
pub struct Payment {
    pub order: i64,
    pub method: String,
    pub at: Timestamp,
}

/// What a customer has ordered in a minute.
#[derive(Clone, Debug, Record, State)]
pub struct Revenue {
    pub customer: String,
    pub minute: Timestamp,
    pub orders: i64,
    pub total: Decimal<38, 2>,
}

/// An order with its payment.
#[derive(Clone, Debug, Record, State)]
pub struct Paid {
    pub id: i64,
    pub customer: String,
    pub method: String,
}

/// An order that is to be called in.
#[derive(Clone, Debug, Record, State)]
pub struct Reminder {
    pub id: i64,
    pub customer: String,
    pub since: Timestamp,
}

/// Rows of either stream, for [`Unpaid`].
pub enum Event {
    Order(Order),
    Payment(Payment),
}

/// Of one order: who has ordered when, and when it was paid.
#[derive(Clone, Debug, Default, State)]
pub struct Known {
    order: Option<(String, Timestamp)>,
    paid_at: Option<Timestamp>,
}

/// Finds orders that have no payment after so many microseconds.
pub struct Unpaid {
    pub patience: i64,
}

#[operator]
impl Process for Unpaid {
    type Input = Event;
    type Output = Reminder;
    type State = Known;

    fn process(&mut self, event: Event, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let at = match event {
            Event::Order(order) => {
                cx.state().order = Some((order.customer, order.at));
                order.at
            }
            Event::Payment(payment) => {
                cx.state().paid_at = Some(payment.at);
                payment.at
            }
        };
        cx.event_timer(Timestamp(at.0 + self.patience));
        Ok(())
    }

    fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        // All that is not younger than `at` has come, whichever of the files was read first.
        let paid = cx.state().paid_at.is_some_and(|paid_at| paid_at <= at);
        if let Some((customer, since)) = cx.state().order.take_if(|(_, since)| since.0 + self.patience == at.0)
            && !paid
        {
            let id = cx.key_text().parse().unwrap_or_default();
            cx.emit(Reminder { id, customer, since });
        }
        if cx.state().order.is_none() {
            cx.clear();
        }
        Ok(())
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// Orders that count. A function over streams says what it needs, and not what is before.
fn real(orders: Stream<Order, impl Link<Order>>) -> Stream<Order, impl Link<Order>> {
    orders.stream("real").filter(|order| order.amount > Decimal(0))
}

/// The settings of the job, and the flags of its program.
pub fn shop() -> Pipeline {
    Pipeline::new("shop")
        .doc("Revenue, payments and reminders of a shop.")
        .param_or::<String>("data", "data", "The folder with orders*.jsonl and payments*.jsonl.")
        .param_or::<String>("out", "out", "The folder that the rows go to.")
        .param_if::<value::Duration>("watch", "Looks for more files so often, and does not end.")
}

/// The streams, when the values of the flags are known.
pub fn streams(shop: &Pipeline, params: &ParamValues) -> JobResult<()> {
    let (data, out): (String, String) = (params.get("data")?, params.get("out")?);
    let watch: Option<value::Duration> = params.optional("watch")?;
    let files = |name: &str| Options::new().with("path", format!("{data}/{name}*.jsonl")).with_some("watch", watch);

    let orders = shop.files_with::<Order, JsonFormat>("orders", files("orders"));
    let orders = real(orders.watermark(|order| order.at, Duration::from_secs(5))).shared();
    let payments = shop.files_with::<Payment, JsonFormat>("payments", files("payments"));
    let payments = payments.watermark(|payment| payment.at, Duration::from_secs(5)).shared();

    let by_customer = orders.clone().stream("revenue").key_by(|order| order.customer.clone()).timed_by(|order| order.at);
    let (revenue, late) = by_customer.tumbling(MINUTE).aggregate_with_late(
        (count(), sum(|order: &Order| order.amount)),
        |customer, window, (orders, total)| Revenue { customer: customer.clone(), minute: window.start, orders, total },
    );
    revenue.into_json_files(&format!("{out}/revenue"));
    late.stream("late").into_json_files(&format!("{out}/late"));

    let by_id = orders.clone().stream("paid").key_by(|order| order.id).timed_by(|order| order.at);
    let by_order = payments.clone().key_by(|payment| payment.order).timed_by(|payment| payment.at);
    let paid = by_id.join(by_order).within(Duration::ZERO, 10 * MINUTE);
    let paid =
        paid.inner(|order, payment| Paid { id: order.id, customer: order.customer.clone(), method: payment.method.clone() });
    paid.into_json_files(&format!("{out}/paid"));

    let by_id = orders.stream("unpaid").key_by(|order| order.id).timed_by(|order| order.at);
    let by_order = payments.key_by(|payment| payment.order).timed_by(|payment| payment.at);
    let unpaid = by_id.process_with(by_order, Event::Order, Event::Payment, || Unpaid { patience: 600_000_000 });
    unpaid.into_json_files(&format!("{out}/unpaid"));
    Ok(())
}

/// The examples of the manual are true.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/builder.md")]
pub struct Manual;
