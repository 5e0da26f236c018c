//! A table under another key than its own: of the rows that stand for a key, the last to come shows.
//!
//! State: key → the rows that stand for it, in the order in which they came. What the table says about different rows of
//! one key may come in any order: when the row that shows goes, the one before it shows again, and a row that does not
//! show goes unseen.

use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorReport, OperatorSnapshot, RestoredOperator};
use crate::record::{Change, ChangeKind, Key};
use crate::state::{KeyedState, Place, State, encode_to_vec};
use crate::time::Progress;
use crate::value::EvalError;

/// Gives a table a key: one row for each, of several the last.
pub struct Materialize<T, K, KeyOf> {
    key_of: KeyOf,
    state: KeyedState<K, Vec<T>>,
    stray: u64,
}

impl<T, K, KeyOf> Materialize<T, K, KeyOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
{
    /// By this key.
    pub fn new(key_of: KeyOf) -> Self {
        Materialize { key_of, state: KeyedState::new("rows"), stray: 0 }
    }
}

/// The last of the rows that are this one, bit by bit.
fn position<T: State>(rows: &[T], row: &T) -> Option<usize> {
    let (encoded, mut other) = (encode_to_vec(row), Vec::new());
    rows.iter().rposition(|row| {
        other.clear();
        row.encode(&mut other);
        other == encoded
    })
}

impl<T, K, KeyOf> Operator<Change<T>> for Materialize<T, K, KeyOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
{
    type Out = Change<T>;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    fn process(&mut self, change: Change<T>, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        let key = (self.key_of)(&change.row)?;
        let slot = self.state.slot(&key)?;
        let before = |row| Change { kind: ChangeKind::UpdateBefore, row };
        let after = |row| Change { kind: ChangeKind::UpdateAfter, row };
        match (self.state.place(slot, &key)?, change.kind.adds()) {
            (Place::Vacant(place), true) => {
                place.insert(key, vec![change.row.clone()]);
                out.emit(Change::insert(change.row))?;
            }
            (Place::Vacant(_), false) => self.stray += 1,
            (Place::Occupied(mut place), true) => {
                let rows = place.value();
                let shown = rows.last().cloned();
                rows.push(change.row.clone());
                if let Some(shown) = shown {
                    out.emit(before(shown))?;
                }
                out.emit(after(change.row))?;
            }
            (Place::Occupied(mut place), false) => {
                let rows = place.value();
                let Some(index) = position(rows, &change.row) else {
                    self.stray += 1;
                    return Ok(());
                };
                let row = rows.remove(index);
                match rows.last() {
                    None => {
                        place.remove();
                        out.emit(Change::delete(row))?;
                    }
                    Some(shown) if index == rows.len() => {
                        let shown = shown.clone();
                        out.emit(before(row))?;
                        out.emit(after(shown))?;
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        self.state.clear();
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&Progress::default(), snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }

    fn report(&self, report: &mut OperatorReport) {
        report.stray += self.stray;
    }
}
