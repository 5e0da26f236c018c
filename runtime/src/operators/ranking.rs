//! The rows of one key in an order, of which the first n show: what `top` keeps.
//!
//! Rows that show lie in a list, the others (kept only where rows can be taken back) in a tree behind it. Of rows that are
//! equal by the order, the one that came earlier comes first, or the one that came later.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::record::Key;
use crate::state::{State, StateError, StateReader, encode_to_vec};

/// How many rows show, and what else there is to know of a `top`.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// So many rows show.
    pub count: usize,
    /// Also those that are equal to the last of them.
    pub ties: bool,
    /// Of equal rows the later comes first.
    pub latest_first: bool,
    /// Rows can be taken back, so those that do not show are kept as well.
    pub keeps_rest: bool,
}

impl Limit {
    /// The first `count` rows of a stream.
    pub fn new(count: usize) -> Self {
        Limit { count, ties: false, latest_first: false, keeps_rest: false }
    }
}

/// A row in its place: order, number of arrival (negative where the latest is first), row.
type Ranked<S, T> = (S, i64, T);

/// The rows of one key.
#[derive(Clone, Debug)]
pub struct Ranking<S, T> {
    shown: Vec<Ranked<S, T>>,
    rest: BTreeMap<(S, i64), T>,
    /// The number of the next row, without its sign.
    next: i64,
}

impl<S, T> Default for Ranking<S, T> {
    fn default() -> Self {
        Ranking { shown: Vec::new(), rest: BTreeMap::new(), next: 0 }
    }
}

/// What a row did to the rows that show.
#[derive(Debug)]
pub enum Moved<T> {
    /// Nothing.
    Nothing,
    /// It shows at this place, and those at the end of the list went, in order.
    In { at: usize, out: Vec<T> },
    /// It is gone, and so many came to the end of the list.
    Out { row: T, came: usize },
    /// It was to be taken back and is not there.
    Stray,
}

impl<S: Key, T: Clone + PartialEq + State> Ranking<S, T> {
    /// No rows at all.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The rows that show, in order.
    pub fn rows(&self) -> impl Iterator<Item = &T> {
        self.shown.iter().map(|(_, _, row)| row)
    }

    /// How many rows show.
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// How many of the rows that show come before all of this order, whatever happens to a row of it.
    pub fn before(&self, order: &S) -> usize {
        self.shown.partition_point(|(other, ..)| other < order)
    }

    /// The row that shows at this place.
    pub fn row(&self, at: usize) -> Option<&T> {
        self.shown.get(at).map(|(_, _, row)| row)
    }

    /// The rank of the row at this place, from 1; rows that tie share it.
    pub fn rank(&self, at: usize, ties: bool) -> i64 {
        let better = match self.shown.get(at).filter(|_| ties) {
            Some((order, ..)) => self.before(order),
            None => at,
        };
        better as i64 + 1
    }

    /// Whether a row of this order would show, so that it is worth being made.
    #[inline]
    pub fn takes(&self, order: &S, limit: Limit) -> bool {
        limit.keeps_rest
            || self.shown.len() < limit.count
            || self.shown.last().is_some_and(|(last, ..)| match order.cmp(last) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => limit.ties || limit.latest_first,
                std::cmp::Ordering::Greater => false,
            })
    }

    /// Takes a row.
    pub fn add(&mut self, order: S, row: T, limit: Limit) -> Moved<T> {
        self.next += 1;
        let number = if limit.latest_first { -self.next } else { self.next };
        if !self.takes(&order, limit) {
            return Moved::Nothing;
        }
        let at = self.shown.partition_point(|(other, other_number, _)| (other, *other_number) < (&order, number));
        let ties = |ranking: &Self| limit.ties && ranking.shown.last().is_some_and(|(last, ..)| *last == order);
        if at >= limit.count && !ties(self) {
            self.rest.insert((order, number), row);
            return Moved::Nothing;
        }
        self.shown.insert(at, (order, number, row));
        let keep = self.visible(limit);
        let mut out = Vec::new();
        for (order, number, row) in self.shown.drain(keep..) {
            if limit.keeps_rest {
                self.rest.insert((order, number), row.clone());
            }
            out.push(row);
        }
        Moved::In { at, out }
    }

    /// How many rows of the list show: the first n, and those that tie with the last.
    fn visible(&self, limit: Limit) -> usize {
        if self.shown.len() <= limit.count {
            return self.shown.len();
        }
        match self.shown.get(limit.count.wrapping_sub(1)).filter(|_| limit.ties) {
            Some((last, ..)) => self.shown.partition_point(|(order, ..)| order <= last),
            None => limit.count,
        }
    }

    /// Takes a row back.
    pub fn remove(&mut self, order: &S, row: &T, limit: Limit) -> Moved<T> {
        let from = self.before(order);
        let equals = self.shown[from..].iter().take_while(|(other, ..)| other == order);
        if let Some(index) = equals.into_iter().position(|(_, _, other)| same(other, row)) {
            let (_, _, row) = self.shown.remove(from + index);
            let before = self.shown.len();
            while let Some(first) = self.rest.first_entry() {
                let ties = || limit.ties && self.shown.last().is_some_and(|(last, ..)| *last == first.key().0);
                if self.shown.len() >= limit.count && !ties() {
                    break;
                }
                let ((order, number), row) = first.remove_entry();
                self.shown.push((order, number, row));
            }
            return Moved::Out { row, came: self.shown.len() - before };
        }
        let of_order = self.rest.range((order.clone(), i64::MIN)..=(order.clone(), i64::MAX));
        let found = of_order.into_iter().find(|(_, other)| same(*other, row)).map(|(place, _)| place.clone());
        match found {
            Some(place) => {
                self.rest.remove(&place);
                Moved::Nothing
            }
            None => Moved::Stray,
        }
    }

    /// Takes all rows of another ranking, which came behind its own.
    pub fn merge(&mut self, other: &Self, limit: Limit) {
        let mut rows: Vec<&Ranked<S, T>> = other.shown.iter().collect();
        rows.sort_by_key(|(_, number, _)| number.abs());
        for (order, _, row) in rows {
            self.add(order.clone(), row.clone(), limit);
        }
    }
}

/// Whether two rows are the same one. Floats that are not equal to themselves are the same if their bits are.
#[allow(clippy::eq_op)] // a row with such a float is not equal to itself
fn same<T: PartialEq + State>(a: &T, b: &T) -> bool {
    a == b || (b != b && encode_to_vec(a) == encode_to_vec(b))
}

/// Descending order.
impl<T: State> State for Reverse<T> {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    #[inline]
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        State::decode(input).map(Reverse)
    }

    fn schema() -> String {
        T::schema()
    }
}

impl<S: Key, T: State> State for Ranking<S, T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.next.encode(out);
        self.shown.encode(out);
        (self.rest.len() as u64).encode(out);
        for ((order, number), row) in &self.rest {
            order.encode(out);
            number.encode(out);
            row.encode(out);
        }
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let next = State::decode(input)?;
        let shown = State::decode(input)?;
        let count = u64::decode(input)?;
        let rest = (0..count)
            .map(|_| {
                let (order, number, row): Ranked<S, T> = State::decode(input)?;
                Ok(((order, number), row))
            })
            .collect::<Result<_, StateError>>()?;
        Ok(Ranking { shown, rest, next })
    }

    fn schema() -> String {
        let rows = Vec::<Ranked<S, T>>::schema();
        format!("ranking{{next:int64,shown:{rows},rest:{rows}}}")
    }
}
