//! Sinks of tables: what happens to rows goes in, and the rows that stand are compared.
//!
//! A number is a step in the life of a row. Each split of the source has keys of its own, eight steps for three of them: the first is
//! replaced, the second goes away, the third goes away and comes back. Steps of several keys are mixed.

use std::collections::BTreeMap;
use std::fmt::Debug;

use millstream::JobResult;
use millstream::codegen::{Change, ChangeKind};
use millstream::sink::Sink;

use super::SinkContext;
use crate::claims::{Delivery, SinkClaims};
use crate::numbers::SPLITS;

/// Differences shown.
const SHOWN: usize = 5;

/// What the kit must know of a sink that takes tables: one value per test, with an external store of its own that goes away with it.
pub trait TableSinkContext: Send + Sync + Sized + 'static {
    /// The rows. Compared by their debug text.
    type Row: Debug + Send + 'static;

    /// The sink.
    type Sink: Sink<Change<Self::Row>>;

    /// What the connector is called in the table of what is proven.
    const NAME: &'static str;

    /// What it promises.
    const CLAIMS: SinkClaims;

    /// Opens an empty store.
    fn open() -> JobResult<Self>;

    /// Where the store is, for another process: what [`at`](Self::at) takes.
    fn address(&self) -> String;

    /// A store that another process has opened, which it also removes.
    fn at(address: &str) -> JobResult<Self>;

    /// The row of this key in this version.
    fn row(&self, key: u64, version: u64) -> Self::Row;

    /// The key of a row.
    fn key(row: &Self::Row) -> u64;

    /// The sink on this store. Made anew for each attempt; the store has rows of earlier ones.
    fn sink(&self) -> JobResult<Self::Sink>;

    /// All rows that stand in the store now.
    fn read(&self) -> JobResult<Vec<Self::Row>>;
}

/// Such a sink, as the suite of sinks knows them.
#[derive(Debug)]
pub struct Tables<C>(C);

/// What happens at each of eight steps: to which of three keys, and in which version.
const STEPS: [(ChangeKind, u64, u64); 8] = [
    (ChangeKind::Insert, 0, 0),
    (ChangeKind::Insert, 1, 0),
    (ChangeKind::UpdateBefore, 0, 0),
    (ChangeKind::UpdateAfter, 0, 1),
    (ChangeKind::Delete, 1, 0),
    (ChangeKind::Insert, 2, 0),
    (ChangeKind::Delete, 2, 0),
    (ChangeKind::Insert, 2, 1),
];

/// The step of a number: what happens, to which key, in which version.
fn step(number: u64) -> (ChangeKind, u64, u64) {
    let (split, turn) = (number % SPLITS, number / SPLITS);
    let (kind, of, version) = STEPS[(turn % 8) as usize];
    (kind, (turn / 8 * SPLITS + split) * 3 + of, version)
}

impl<C: TableSinkContext> SinkContext for Tables<C> {
    type Row = Change<C::Row>;
    type Sink = C::Sink;
    const NAME: &'static str = C::NAME;
    const CLAIMS: SinkClaims = C::CLAIMS;

    fn open() -> JobResult<Self> {
        C::open().map(Tables)
    }

    fn address(&self) -> String {
        self.0.address()
    }

    fn at(address: &str) -> JobResult<Self> {
        C::at(address).map(Tables)
    }

    fn row(&self, number: u64) -> Change<C::Row> {
        let (kind, key, version) = step(number);
        Change { kind, row: self.0.row(key, version) }
    }

    fn sink(&self) -> JobResult<C::Sink> {
        self.0.sink()
    }

    fn read(&self) -> JobResult<Vec<Change<C::Row>>> {
        Ok(self.0.read()?.into_iter().map(Change::insert).collect())
    }

    const BY_KEY: bool = true;

    fn key_of(change: &Change<C::Row>) -> u64 {
        C::key(&change.row)
    }

    fn difference(&self, rows: u64, found: &[Change<C::Row>], delivery: Delivery) -> Option<String> {
        let mut problems = Vec::new();
        let mut standing: BTreeMap<u64, String> = BTreeMap::new();
        for change in found {
            let key = C::key(&change.row);
            if let Some(other) = standing.insert(key, format!("{:?}", change.row)) {
                problems.push(format!("two rows of the key {key}: {other} and {:?}", change.row));
            }
        }
        for (key, may_be) in allowed(rows, delivery) {
            let text = |version: &Option<u64>| version.map(|version| format!("{:?}", self.0.row(key, version)));
            let found = standing.remove(&key);
            let may_be: Vec<_> = may_be.iter().map(text).collect();
            if !may_be.contains(&found) {
                problems.push(format!("the key {key}: {found:?} and not {may_be:?}"));
            }
        }
        problems.extend(standing.into_values().map(|row| format!("a row that nobody wrote: {row}")));
        let (count, shown) = (problems.len(), problems.len().min(SHOWN));
        (count > 0).then(|| format!("{count} differences\n  {}", problems[..shown].join("\n  ")))
    }
}

/// The versions in which each key may stand when the steps below `rows` were taken; None: it does not.
fn allowed(rows: u64, delivery: Delivery) -> BTreeMap<u64, Vec<Option<u64>>> {
    let mut keys: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
    for (kind, key, version) in (0..rows).map(step) {
        let may_be = keys.entry(key).or_default();
        if delivery == Delivery::AtMostOnce {
            // Anything that it has been.
            may_be.extend([None, Some(version)]);
            continue;
        }
        *may_be = match kind {
            ChangeKind::Insert | ChangeKind::UpdateAfter => vec![Some(version)],
            // Until the new row comes the old one may stand.
            ChangeKind::UpdateBefore => vec![None, Some(version)],
            ChangeKind::Delete => vec![None],
        };
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_replaced_go_away_and_come_back() {
        let all = allowed(8 * SPLITS, Delivery::ExactlyOnce);
        assert_eq!(all.len(), 12);
        assert_eq!((&all[&0], &all[&1], &all[&2]), (&vec![Some(1)], &vec![None], &vec![Some(1)]));
        // The first key is about to be replaced.
        let half = allowed(2 * SPLITS + 1, Delivery::ExactlyOnce);
        assert_eq!((&half[&0], &half[&3]), (&vec![None, Some(0)], &vec![Some(0)]));
        assert_eq!(allowed(1, Delivery::AtMostOnce)[&0], [None, Some(0)]);
    }
}
