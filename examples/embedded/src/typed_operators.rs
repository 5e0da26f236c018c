//! `pipelines/built_operators.flow` in plain Rust: operators that keep state for each customer.

use std::cmp::Reverse;
use std::time::Duration;

use millstream::builder::{Pipeline, count, lag_by, max, sum};
use millstream::connectors::channel::{Receiver, Sender};
use millstream::formats::CsvFormat;
use millstream::prelude::{Record, State, Timestamp};
use millstream::record::Change;

#[derive(Clone, Debug, PartialEq, State)]
pub struct Order {
    pub id: i64,
    pub customer: String,
    pub amount: i64,
    pub at: Timestamp,
}

#[derive(Clone, Debug, State)]
pub struct Return {
    pub order_id: i64,
    pub reason: String,
}

#[derive(Clone, Debug, Record, State)]
pub struct Region {
    pub customer: String,
    pub region: String,
}

#[derive(Clone, Debug, PartialEq, State)]
pub struct Ranked {
    pub id: i64,
    pub customer: String,
    pub amount: i64,
    pub at: Timestamp,
    pub rank: i64,
}

#[derive(Clone, Debug, State)]
pub struct Returned {
    pub id: i64,
    pub customer: String,
    pub reason: String,
}

#[derive(Clone, Debug, State)]
pub struct Running {
    pub id: i64,
    pub customer: String,
    pub last_two: i64,
}

#[derive(Clone, Debug, State)]
pub struct Located {
    pub id: i64,
    pub region: Option<String>,
}

#[derive(Clone, Debug, State)]
pub struct Greater {
    pub id: i64,
    pub than: i64,
}

#[derive(Clone, Debug, PartialEq, State)]
pub struct Spread {
    pub much: bool,
    pub customers: i64,
    pub most: i64,
}

#[derive(Clone, Debug, State)]
pub struct ByTwos {
    pub customer: String,
    pub total: i64,
}

#[derive(Clone, Debug, State)]
pub struct TwoBefore {
    pub id: i64,
    pub before: Option<i64>,
}

/// What it takes and gives.
pub struct Ends {
    pub orders: Sender<Order>,
    pub web_orders: Sender<Order>,
    pub phone_orders: Sender<Order>,
    pub returns: Sender<Return>,
    pub greatest: Receiver<Change<Ranked>>,
    pub returned: Receiver<Returned>,
    pub running: Receiver<Running>,
    pub located: Receiver<Located>,
    pub greater: Receiver<Greater>,
    pub spread: Receiver<Change<Spread>>,
    pub by_twos: Receiver<ByTwos>,
    pub two_before: Receiver<TwoBefore>,
}

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// `regions`: a file with the regions of customers.
pub fn operators(regions: &str) -> (Pipeline, Ends) {
    let pipeline = Pipeline::new("typed_operators").doc("What customers order.").ttl(30 * DAY);
    let (orders, shop) = pipeline.channel::<Order>("orders", 100);
    let (web_orders, web) = pipeline.channel::<Order>("web_orders", 100);
    let (phone_orders, phone) = pipeline.channel::<Order>("phone_orders", 100);
    let (returns, back) = pipeline.channel::<Return>("returns", 100);
    let of_customers = pipeline.lookup_files::<Region, CsvFormat>("of_customers", regions).cache(Duration::from_secs(600));

    let shop = shop.watermark(|order| order.at, Duration::ZERO);
    let web = web.watermark(|order| order.at, Duration::ZERO);
    let phone = phone.watermark(|order| order.at, Duration::ZERO);
    let all = shop.stream("all_orders").union((web, phone)).shared();

    let by_customer = all.clone().stream("greatest").key_by(|order| order.customer.clone());
    let greatest = by_customer.ttl(DAY).top(2, |order| Reverse(order.amount)).ranked(|order, rank| {
        let Order { id, customer, amount, at } = order.clone();
        Ranked { id, customer, amount, at, rank }
    });

    let by_id = all.clone().stream("returned").key_by(|order| order.id);
    let returned = by_id.join(back.key_by(|back| back.order_id)).inner(|order, back| Returned {
        id: order.id,
        customer: order.customer.clone(),
        reason: back.reason.clone(),
    });

    let by_customer = all.clone().stream("running").key_by(|order| order.customer.clone()).timed_by(|order| order.at);
    let running = by_customer.over_rows(2).aggregate(sum(|order: &Order| order.amount));
    let running = running.map(|(order, last_two)| Running { id: order.id, customer: order.customer, last_two });

    let regions = of_customers.key_by(|region| region.customer.clone());
    let left = all.clone().stream("greater").key_by(|order| order.customer.clone()).timed_by(|order| order.at);
    let right = all.clone().key_by(|order| order.customer.clone()).timed_by(|order| order.at);
    let pairs = left.join(right).when(|order, other| order.amount > other.amount).tumbling(HOUR);
    let greater = pairs.inner(|order, other, _| Greater { id: order.id, than: other.id });

    let by_customer = all.clone().stream("spread").key_by(|order| order.customer.clone());
    let totals = by_customer.aggregate(sum(|order: &Order| order.amount), |_, total| total);
    let spread = totals
        .key_by(|total| *total >= 50)
        .aggregate((count(), max(|total: &i64| *total)), |much, (customers, most)| Spread { much: *much, customers, most });

    let by_twos = all.clone().stream("by_twos").key_by(|order| order.customer.clone()).every_rows(2);
    let by_twos =
        by_twos.aggregate(sum(|order: &Order| order.amount), |customer, total| ByTwos { customer: customer.clone(), total });

    let by_customer = all.clone().stream("two_before").key_by(|order| order.customer.clone()).timed_by(|order| order.at);
    let two_before = by_customer.one_by_one().aggregate(lag_by(2, |order: &Order| order.amount));
    let two_before = two_before.map(|(order, before)| TwoBefore { id: order.id, before });

    let located = all.stream("located").lookup(regions, |order| order.customer.clone());
    let located = located.left(|order, region| Located { id: order.id, region: region.map(|found| found.region.clone()) });

    let ends = Ends {
        orders,
        web_orders,
        phone_orders,
        returns,
        greatest: greatest.into_channel(100),
        returned: returned.into_channel(100),
        running: running.into_channel(100),
        located: located.into_channel(100),
        greater: greater.into_channel(100),
        spread: spread.into_channel(100),
        by_twos: by_twos.into_channel(100),
        two_before: two_before.into_channel(100),
    };
    (pipeline, ends)
}
