//! An operator over three streams, and a connector that keeps a table in a file: what the pipelines `accounts` have in Rust.

use std::io::Write;

use millstream::formats::Encoder;
use millstream::prelude::*;
use millstream::sink::{Sink, SinkContext, SinkWriter};

#[derive(Clone, Debug, Record, State)]
pub struct Order {
    pub customer: String,
    pub amount: i64,
}

#[derive(Clone, Debug, Record, State)]
pub struct Payment {
    pub payer: String,
    pub amount: i64,
}

#[derive(Clone, Debug, Record, State)]
pub struct Refund {
    pub customer: String,
    pub back: i64,
}

/// Rows of any of the streams.
#[derive(Clone, Debug, State)]
pub enum Event {
    Order(Order),
    Payment(Payment),
    Refund(Refund),
}

impl Event {
    /// Whose it is.
    pub fn customer(&self) -> &String {
        match self {
            Event::Order(Order { customer, .. })
            | Event::Payment(Payment { payer: customer, .. })
            | Event::Refund(Refund { customer, .. }) => customer,
        }
    }
}

/// What changes an account.
#[derive(Clone, Debug, Record, State)]
pub struct Entry {
    pub customer: String,
    pub amount: i64,
}

/// More than a customer may owe.
#[derive(Clone, Debug, Record, State)]
pub struct Warning {
    pub customer: String,
    pub owes: i64,
}

/// What goes out beside the entries.
#[derive(SideOutputs)]
pub enum Beside {
    Refunded(Refund),
    Warning(Warning),
}

/// Books what customers order, pay and get back.
#[derive(Default)]
pub struct Accounts;

#[operator]
impl Process for Accounts {
    type Input = Event;
    type Output = Entry;
    type Side = Beside;
    type State = i64;

    fn process(&mut self, event: Event, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let (customer, amount) = match event {
            Event::Order(order) => (order.customer, order.amount),
            Event::Payment(payment) => (payment.payer, -payment.amount),
            Event::Refund(refund) => {
                cx.side(Beside::Refunded(refund.clone()));
                (refund.customer, -refund.back)
            }
        };
        let owes = cx.state();
        *owes += amount;
        let owes = *owes;
        if amount > 0 && owes > 1_000_000 {
            cx.side(Beside::Warning(Warning { customer: customer.clone(), owes }));
        }
        cx.emit(Entry { customer, amount });
        Ok(())
    }
}

/// Writes what happens to the rows of a table into a file.
#[derive(Clone, Debug, Connector)]
#[flow(keyed)]
pub struct Ledger {
    /// The file.
    pub path: String,
}

impl TableSinkConnector for Ledger {
    type Sink<T: Record, F: Format> = LedgerSink<F>;

    fn table_sink<T: Record, F: Format>(self, format: F, key: TableKey) -> JobResult<LedgerSink<F>> {
        Ok(LedgerSink { path: self.path, format, key })
    }
}

/// The sink that `ledger` makes.
#[derive(Clone, Debug)]
pub struct LedgerSink<F> {
    path: String,
    format: F,
    key: TableKey,
}

impl<T: Record, F: Format> Sink<Change<T>> for LedgerSink<F> {
    type Writer = LedgerWriter<F::Encoder<T>>;

    fn writer(&self, _: &SinkContext) -> JobResult<Self::Writer> {
        Ok(LedgerWriter { path: self.path.clone(), encoder: self.format.encoder()?, key: self.key.clone(), lines: Vec::new() })
    }
}

/// Its writer.
#[derive(Debug)]
pub struct LedgerWriter<E> {
    path: String,
    encoder: E,
    key: TableKey,
    lines: Vec<u8>,
}

impl<T: Record, E: Encoder<T>> SinkWriter<Change<T>> for LedgerWriter<E> {
    fn write(&mut self, change: Change<T>) -> JobResult<()> {
        let key: Vec<Str> = self.key.of(&change.row).map(Option::unwrap_or_default).collect();
        self.lines.extend_from_slice(format!("{} {} ", change.kind.name(), key.join(",")).as_bytes());
        self.encoder.encode(&change.row, &mut self.lines);
        Ok(())
    }

    fn prepare_commit(&mut self, _: u64) -> JobResult<Vec<Vec<u8>>> {
        let lines = std::mem::take(&mut self.lines);
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path);
        let written = file.and_then(|mut file| file.write_all(&lines));
        written.map(|()| Vec::new()).map_err(|error| JobError::io("cannot write", &error))
    }
}
