//! Joins of streams and tables by key, without a distance in time: all rows of both sides are kept.

use std::marker::PhantomData;
use std::panic::Location;

use super::by_key::{ByKey, KeyedTable};
use super::condition::Condition;
use super::join::{Join, operation};
use super::keyed::KeyedStream;
use super::link::Link;
use super::process::two;
use super::rows::{Row, origin, rows};
use super::stream::Stream;
use super::tables::{Table, table};
use super::ttl::forgetting;
use crate::graph::{Emit, JoinHow, JoinKind, JoinOperation, Operation, Origin, Side};
use crate::operators::{Carried, Joining, OverChanges, OverRows, UnboundedJoin};
use crate::record::{Change, Key};
use crate::time::WindowBounds;
use crate::value::EvalError;

impl<T, L, K, F> KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// With all rows of another stream or table, by a key of the same type. Rows of both sides are kept as long as the job, or for the
    /// [`ttl`](Self::ttl) of the left one. Streams that have a time ([`timed_by`](Self::timed_by)) can be joined within a distance.
    pub fn join<B: ByKey<Key = K>>(self, right: B) -> Join<Self, B> {
        Join::of(self, right)
    }
}

impl<T, L, K, F> KeyedTable<T, L, K, F>
where
    T: Row,
    L: Link<Change<T>>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// With all rows of another table or stream, by a key of the same type: see [`KeyedStream::join`].
    pub fn join<B: ByKey<Key = K>>(self, right: B) -> Join<Self, B> {
        Join::of(self, right)
    }
}

/// Two streams: nothing that came out is taken back.
impl<T, L, K, F, R, LR, FR, C> Join<KeyedStream<T, L, K, F>, KeyedStream<R, LR, K, FR>, C>
where
    C: Condition<T, R>,
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    R: Row,
    LR: Link<R>,
    FR: Fn(&R) -> K + Clone + Send + Sync + 'static,
{
    /// One row of each pair.
    #[track_caller]
    pub fn inner<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, &R) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined::<OverRows, _, _, _, _>(JoinKind::Inner, pairs(make), at)
    }

    /// The left rows that have a partner, once.
    #[track_caller]
    pub fn semi(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "join");
        self.joined::<OverRows, _, _, _, _>(JoinKind::Semi, lefts(), at)
    }
}

macro_rules! with_a_table {
    ($([$($link:ident: $of:ty),*] $left:ident, $right:ident;)*) => {$(
        /// With a table on a side, rows that came out are taken back.
        impl<T, L, K, F, R, LR, FR, C> Join<$left<T, L, K, F>, $right<R, LR, K, FR>, C>
        where
            C: Condition<T, R>,
            T: Row,
            K: Key,
            F: Fn(&T) -> K + Clone + Send + Sync + 'static,
            R: Row,
            FR: Fn(&R) -> K + Clone + Send + Sync + 'static,
            $($link: Link<$of>,)*
        {
            /// One row of each pair.
            #[track_caller]
            pub fn inner<Out, M>(self, make: M) -> Table<Out, impl Link<Change<Out>>>
            where
                Out: Row,
                M: Fn(&T, &R) -> Out + Clone + Send + Sync + 'static,
            {
                let at = origin(Location::caller(), "join");
                Table { changes: self.joined::<OverChanges, _, _, _, _>(JoinKind::Inner, pairs(make), at) }
            }

            /// The left rows that have a partner, once.
            #[track_caller]
            pub fn semi(self) -> Table<T, impl Link<Change<T>>> {
                let at = origin(Location::caller(), "join");
                Table { changes: self.joined::<OverChanges, _, _, _, _>(JoinKind::Semi, lefts(), at) }
            }
        }
    )*};
}
with_a_table! {
    [L: Change<T>, LR: R] KeyedTable, KeyedStream;
    [L: T, LR: Change<R>] KeyedStream, KeyedTable;
    [L: Change<T>, LR: Change<R>] KeyedTable, KeyedTable;
}

impl<A: ByKey, B: ByKey<Key = A::Key>, C: Condition<A::Row, B::Row>> Join<A, B, C> {
    /// One row of each pair, and one of each left row as long as it has no partner.
    #[track_caller]
    pub fn left<Out, M>(self, make: M) -> Table<Out, impl Link<Change<Out>>>
    where
        Out: Row,
        M: Fn(&A::Row, Option<&B::Row>) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        let alone = make.clone();
        let both = move |left: &A::Row, right: &B::Row| Some(make(left, Some(right)));
        let made = (both, move |left: &A::Row| Some(alone(left, None)), |_: &B::Row| None);
        Table { changes: self.joined::<OverChanges, _, _, _, _>(JoinKind::Left, made, at) }
    }

    /// One row of each pair, and one of each right row as long as it has no partner.
    #[track_caller]
    pub fn right<Out, M>(self, make: M) -> Table<Out, impl Link<Change<Out>>>
    where
        Out: Row,
        M: Fn(Option<&A::Row>, &B::Row) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        let alone = make.clone();
        let both = move |left: &A::Row, right: &B::Row| Some(make(Some(left), right));
        let made = (both, |_: &A::Row| None, move |right: &B::Row| Some(alone(None, right)));
        Table { changes: self.joined::<OverChanges, _, _, _, _>(JoinKind::Right, made, at) }
    }

    /// One row of each pair, and one of each row of either side as long as it has no partner: one of the two is there.
    #[track_caller]
    pub fn full<Out, M>(self, make: M) -> Table<Out, impl Link<Change<Out>>>
    where
        Out: Row,
        M: Fn(Option<&A::Row>, Option<&B::Row>) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        let (left_alone, right_alone) = (make.clone(), make.clone());
        let both = move |left: &A::Row, right: &B::Row| Some(make(Some(left), Some(right)));
        let left = move |left: &A::Row| Some(left_alone(Some(left), None));
        let made = (both, left, move |right: &B::Row| Some(right_alone(None, Some(right))));
        Table { changes: self.joined::<OverChanges, _, _, _, _>(JoinKind::Full, made, at) }
    }

    /// The left rows, as long as they have no partner.
    #[track_caller]
    pub fn anti(self) -> Table<A::Row, impl Link<Change<A::Row>>> {
        let at = origin(Location::caller(), "join");
        Table { changes: self.joined::<OverChanges, _, _, _, _>(JoinKind::Anti, lefts(), at) }
    }

    /// `E` says how the output travels.
    fn joined<E, Out, X, Y, Z>(
        self,
        kind: JoinKind,
        make: (X, Y, Z),
        at: Origin,
    ) -> Stream<E::Row<Out>, impl Link<E::Row<Out>> + use<A, B, C, E, Out, X, Y, Z>>
    where
        E: Carried,
        Out: Row,
        X: Fn(&A::Row, &B::Row) -> Option<Out> + Clone + Send + Sync + 'static,
        Y: Fn(&A::Row) -> Option<Out> + Clone + Send + Sync + 'static,
        Z: Fn(&B::Row) -> Option<Out> + Clone + Send + Sync + 'static,
    {
        let (emit, output) = if E::APPEND { (Emit::Append, rows::<Out>()) } else { (Emit::Changes, table::<Out>()) };
        let Join { left, right, condition, broadcast } = self;
        let operation = operation::<A::Row, B::Row, A::Key, C>(kind, JoinHow::Unbounded, emit, &at);
        let operation = Operation::Join(JoinOperation { broadcast, ..operation });
        let (keys, ttl) = ((left.key_of(), right.key_of()), left.forgets_after());
        let (left, right) = match broadcast {
            false => (left.by_key(), right.by_key()),
            true => (left.stays(), right.everywhere()),
        };
        if broadcast && (kind.keeps(Side::Right) || !A::Carried::APPEND) {
            let text = match kind.keeps(Side::Right) {
                true => {
                    format!("no subtask of a `broadcast` knows which right rows have no partner: a `{}` has none", kind.words())
                }
                false => "a `broadcast` is for a stream on the left: no row of it may be taken back".to_owned(),
            };
            left.parts.borrow_mut().mistake(&at, &text);
        }
        two(left, right.from, "join", operation, output, at, move |_| {
            let spec = Spec { keys: keys.clone(), condition: condition.clone(), make: make.clone(), types: PhantomData };
            let join: UnboundedJoin<Spec<A::Row, B::Row, A::Key, Out, _, _, _>, A::Carried, B::Carried, E> =
                UnboundedJoin::new(kind, spec);
            let join = if broadcast { join.broadcast() } else { join };
            Ok(forgetting!(join, ttl))
        })
    }
}

type Alone<T, Out> = fn(&T) -> Option<Out>;

/// Pairs alone.
fn pairs<T, R, Out, M>(make: M) -> (impl Fn(&T, &R) -> Option<Out> + Clone + Send + Sync, Alone<T, Out>, Alone<R, Out>)
where
    M: Fn(&T, &R) -> Out + Clone + Send + Sync,
{
    (move |left: &T, right: &R| Some(make(left, right)), |_: &T| None, |_: &R| None)
}

/// Left rows as they are.
fn lefts<T: Clone, R>() -> (fn(&T, &R) -> Option<T>, Alone<T, T>, Alone<R, T>) {
    (|_: &T, _: &R| None, |left: &T| Some(left.clone()), |_: &R| None)
}

/// What the operator is told: the closures.
struct Spec<T, R, K, Out, F, C, M> {
    keys: F,
    condition: C,
    make: M,
    types: PhantomData<fn(T, R) -> (K, Out)>,
}

impl<T, R, K, Out, F, FR, C, X, Y, Z> Joining for Spec<T, R, K, Out, (F, FR), C, (X, Y, Z)>
where
    C: Condition<T, R>,
    T: Row,
    R: Row,
    K: Key,
    F: Fn(&T) -> K + Send,
    FR: Fn(&R) -> K + Send,
    X: Fn(&T, &R) -> Option<Out> + Send,
    Y: Fn(&T) -> Option<Out> + Send,
    Z: Fn(&R) -> Option<Out> + Send,
{
    type Left = T;
    type Right = R;
    type Key = K;
    type Out = Out;

    #[inline]
    fn left_key(&self, row: &T) -> Result<K, EvalError> {
        Ok((self.keys.0)(row))
    }

    #[inline]
    fn right_key(&self, row: &R) -> Result<K, EvalError> {
        Ok((self.keys.1)(row))
    }

    #[inline]
    fn matches(&self, left: &T, right: &R) -> Result<bool, EvalError> {
        Ok(self.condition.holds(left, right))
    }

    fn both(&self, left: &T, right: &R, _window: WindowBounds) -> Option<Out> {
        (self.make.0)(left, right)
    }

    fn left_only(&self, left: &T, _window: WindowBounds) -> Option<Out> {
        (self.make.1)(left)
    }

    fn right_only(&self, right: &R, _window: WindowBounds) -> Option<Out> {
        (self.make.2)(right)
    }
}
