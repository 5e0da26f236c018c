//! Joins whose right side comes to every subtask: the same rows as by key, at any parallelism, before and after a restore.

use millstream_runtime::ErrorPolicy;
use millstream_runtime::graph::JoinKind;
use millstream_runtime::operator::*;
use millstream_runtime::operators::*;
use millstream_runtime::record::Change;
use millstream_runtime::time::{Sliding, Tumbling, Watermark};
use proptest::prelude::*;

use crate::harness::*;
use crate::joins::Ids;
use crate::law::{changes, events};

/// Left rows come to subtasks in turn, right ones to all.
struct Spreading<L, R, O: Operator<Either<L, R>>> {
    subtasks: Vec<Chained<O, Seen<O::Out>>>,
    seen: Seen<O::Out>,
    turn: usize,
    rows: std::marker::PhantomData<fn(L, R)>,
}

impl<L: Clone, R: Clone, O: Operator<Either<L, R>>> Spreading<L, R, O>
where
    O::Out: std::fmt::Debug + Send,
{
    fn new(parallelism: u32, make: &impl Fn() -> O) -> Self {
        Self::on(Backend::Memory, parallelism, make)
    }

    fn on(backend: Backend, parallelism: u32, make: &impl Fn() -> O) -> Self {
        let seen = Seen::default();
        let context = |subtask| backend.of(context(subtask, parallelism, ErrorPolicy::Fail));
        let chain = |subtask| Chained::new(context(subtask), make(), seen.clone());
        Spreading { subtasks: (0..parallelism).map(chain).collect(), seen, turn: 0, rows: std::marker::PhantomData }
    }

    fn feed(&mut self, events: &[Event<Either<L, R>>]) {
        for event in events {
            match event {
                Event::Row(Either::Left(row)) => {
                    self.turn = (self.turn + 1) % self.subtasks.len();
                    self.subtasks[self.turn].push(Either::Left(row.clone())).unwrap();
                }
                Event::Row(right) => self.subtasks.iter_mut().for_each(|subtask| subtask.push(right.clone()).unwrap()),
                Event::Watermark(time) => self.subtasks.iter_mut().for_each(|s| s.watermark(Watermark(*time)).unwrap()),
                Event::Clock(now) => self.subtasks.iter_mut().for_each(|s| s.processing_time(*now).unwrap()),
                Event::EndOfBatch => self.subtasks.iter_mut().for_each(|s| s.end_of_batch().unwrap()),
            }
        }
    }

    fn finish(&mut self) {
        for subtask in &mut self.subtasks {
            subtask.watermark(Watermark::MAX).unwrap();
            subtask.finish().unwrap();
        }
    }

    fn reports(&self) -> (u64, u64) {
        let mut reports = Vec::new();
        self.subtasks.iter().for_each(|subtask| subtask.report(&mut reports));
        (reports.iter().map(|report| report.late).sum(), reports.iter().map(|report| report.stray).sum())
    }

    /// Through a checkpoint to another parallelism, as the coordinator deals it out.
    fn through(&mut self, after: u32, make: &impl Fn() -> O) -> Result<Self, millstream_runtime::JobError> {
        let mut restored: Vec<RestoredState> = (0..after).map(|_| RestoredState::new()).collect();
        let (same, mut turn) = (self.subtasks.len() == after as usize, 0);
        for (subtask, chain) in self.subtasks.iter_mut().enumerate() {
            let mut builder = SnapshotBuilder::new(1);
            chain.snapshot(&mut builder).unwrap();
            for state in builder.into_operators().into_iter().flat_map(|operator| operator.states) {
                let StateParts::Shared(spread, items) = state.parts else { panic!("`{}` goes with keys", state.name) };
                for item in items.encode().unwrap() {
                    turn += 1;
                    let to = if same { subtask } else { turn % after as usize };
                    match spread {
                        Spread::Deal => restored[to].add_item("op", &state.name, &state.schema, item),
                        Spread::All => restored.iter_mut().for_each(|restored| {
                            restored.add_item("op", &state.name, &state.schema, item.clone());
                        }),
                        Spread::Copy => panic!("copies differ"),
                    }
                }
            }
        }
        let mut next = Spreading::new(after, make);
        next.subtasks.iter_mut().zip(&restored).try_for_each(|(chain, restored)| chain.restore(restored))?;
        Ok(next)
    }
}

/// What it gives by key, and with every split, from one, two or three subtasks to as many.
fn check<L, R, O>(by_key: impl Fn() -> O, make: impl Fn() -> O, events: &[Event<Either<L, R>>])
where
    L: Clone + Send + std::fmt::Debug + 'static,
    R: Clone + Send + std::fmt::Debug + 'static,
    Either<L, R>: Keyed,
    O: Operator<Either<L, R>>,
    O::Out: std::fmt::Debug + Send,
{
    let mut whole = Job::new(1, &by_key);
    whole.feed(events);
    whole.finish();
    let expected = sorted(whole.take());
    for split in 0..=events.len() {
        let (a, b) = events.split_at(split);
        for (before, after) in [(1, 3), (3, 3), (3, 2)] {
            let mut first = Spreading::new(before, &make);
            first.feed(a);
            let mut all = first.seen.take();
            all.extend(goes_on(&mut first, after, &make, a, b));
            assert_eq!(net(sorted(all)), net(expected.clone()), "split {split}, from {before} to {after} subtasks");
        }
    }
    check_ended(by_key, make, events);
}

/// What comes out behind a checkpoint after `a`, in so many subtasks, when `b` comes. The clock is where it was.
fn goes_on<L, R, O>(
    first: &mut Spreading<L, R, O>,
    after: u32,
    make: &impl Fn() -> O,
    a: &[Event<Either<L, R>>],
    b: &[Event<Either<L, R>>],
) -> Vec<O::Out>
where
    L: Clone,
    R: Clone,
    O: Operator<Either<L, R>>,
    O::Out: std::fmt::Debug + Send,
{
    let mut second = first.through(after, make).unwrap();
    second.feed(a.iter().rfind(|event| matches!(event, Event::Clock(_))).map_or(&[], std::slice::from_ref));
    second.feed(b);
    second.finish();
    second.seen.take()
}

/// The joined side is over before the checkpoint, and so are the rows before `join` of all subtasks but one, as with fewer files than
/// tasks: these have come to their end, and the others go on.
fn check_ended<L, R, O>(by_key: impl Fn() -> O, make: impl Fn() -> O, events: &[Event<Either<L, R>>])
where
    L: Clone + Send + std::fmt::Debug + 'static,
    R: Clone + Send + std::fmt::Debug + 'static,
    Either<L, R>: Keyed,
    O: Operator<Either<L, R>>,
    O::Out: std::fmt::Debug + Send,
{
    let is_right = |event: &Event<Either<L, R>>| matches!(event, Event::Row(Either::Right(_)));
    for split in 0..=events.len() {
        let (a, b) = events.split_at(split);
        let a: Vec<_> = a.iter().chain(b.iter().filter(|event| is_right(event))).cloned().collect();
        let b: Vec<_> = b.iter().filter(|event| !is_right(event)).cloned().collect();
        let mut whole = Job::new(1, &by_key);
        whole.feed(&[a.clone(), b.clone()].concat());
        whole.finish();
        let expected = net(sorted(whole.take()));
        for (left, after) in [(0, 3), (1, 3), (2, 2), (2, 1)] {
            let mut first = Spreading::new(3, &make);
            first.feed(&a);
            for (_, ended) in first.subtasks.iter_mut().enumerate().filter(|&(subtask, _)| subtask != left) {
                ended.watermark(Watermark::MAX).unwrap();
                ended.finish().unwrap();
            }
            let mut all = first.seen.take();
            all.extend(goes_on(&mut first, after, &make, &a, &b));
            assert_eq!(net(sorted(all)), expected, "split {split}, {left} goes on, in {after} subtasks");
        }
    }
}

/// Without what is taken back: how often depends on the order in which rows come.
fn net(rows: Vec<String>) -> Vec<String> {
    let mut count = std::collections::BTreeMap::<String, i64>::new();
    for row in rows {
        let (row, by) = match row.strip_prefix("Change { kind: ") {
            None => (row.clone(), 1),
            Some(change) => {
                let (kind, row) = change.split_once(',').unwrap();
                (row.to_owned(), if kind == "Delete" { -1 } else { 1 })
            }
        };
        *count.entry(row).or_default() += by;
    }
    count.into_iter().filter(|(_, count)| *count != 0).map(|(row, count)| format!("{row} {count}")).collect()
}

/// Rows to the two sides, by their number.
fn sides(events: Vec<Event<Row>>) -> Vec<Event<Either<Row, Row>>> {
    let deal = |event: Event<Row>| match event {
        Event::Row(row) if row.id % 2 == 0 => Event::Row(Either::Left(row)),
        Event::Row(row) => Event::Row(Either::Right(row)),
        Event::Watermark(time) => Event::Watermark(time),
        Event::Clock(now) => Event::Clock(now),
        Event::EndOfBatch => Event::EndOfBatch,
    };
    events.into_iter().map(deal).collect()
}

/// The same with a table on the right.
fn stream_and_table(events: Vec<Event<Change<Row>>>, rows: &[i64]) -> Vec<Event<Either<Row, Change<Row>>>> {
    let mut all: Vec<Event<Either<Row, Change<Row>>>> = Vec::new();
    let mut rows = rows.iter().enumerate();
    for event in events {
        if let Some((id, key)) = rows.next() {
            all.push(Event::Row(Either::Left(row(*key, 0, 1000 + id as i64))));
        }
        if let Event::Row(change) = event {
            all.push(Event::Row(Either::Right(change)));
        }
    }
    all
}

fn kind() -> impl Strategy<Value = JoinKind> {
    prop::sample::select(&[JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti][..])
}

proptest! {
    #![proptest_config(cases(10))]

    #[test]
    fn without_a_bound(kind in kind(), events in events(18)) {
        let events = sides(events);
        let make = || UnboundedJoin::<_, OverRows, OverRows, OverChanges>::new(kind, Ids(kind));
        check(make, || make().broadcast(), &events);
    }

    #[test]
    fn with_a_table(kind in kind(), changes in changes(16), rows in prop::collection::vec(0..4i64, 0..8)) {
        let make = || UnboundedJoin::<_, OverRows, OverChanges, OverChanges>::new(kind, Ids(kind));
        check(make, || make().broadcast(), &stream_and_table(changes, &rows));
    }

    #[test]
    fn within(kind in kind(), events in events(18)) {
        let make = || IntervalJoin::new(kind, -4, 9, Ids(kind));
        check(make, || make().broadcast(), &sides(events));
    }

    #[test]
    fn over(kind in kind(), events in events(18), lateness in prop_oneof![Just(0i64), 1..25i64]) {
        let events = sides(events);
        let make = || WindowJoin::new(kind, Tumbling::new(10, 3), Ids(kind)).allow_late(lateness);
        check(make, || make().broadcast(), &events);
        let make = || WindowJoin::new(kind, Sliding::new(12, 4, 1), Ids(kind)).allow_late(lateness);
        check(make, || make().broadcast(), &events);
    }

    #[test]
    fn as_of(left in any::<bool>(), events in events(18)) {
        let kind = if left { JoinKind::Left } else { JoinKind::Inner };
        let make = || TemporalJoin::<_, OverRows>::new(kind, Ids(kind));
        check(make, || make().broadcast(), &sides(events));
    }
}

#[test]
fn what_happens_to_the_joined_side_counts_once() {
    let make = || IntervalJoin::new(JoinKind::Inner, 0, 5, Ids(JoinKind::Inner)).broadcast();
    let mut job = Spreading::new(3, &make);
    job.feed(&[Event::Watermark(10), Event::Row(Either::Right(row(1, 3, 1))), Event::Row(Either::Left(row(1, 3, 2)))]);
    assert_eq!(job.reports(), (2, 0), "one late row of either side");
    let make = || UnboundedJoin::<_, OverRows, OverChanges, OverChanges>::new(JoinKind::Inner, Ids(JoinKind::Inner)).broadcast();
    let mut job: Spreading<Row, Change<Row>, _> = Spreading::new(3, &make);
    job.feed(&[Event::Row(Either::Right(Change { kind: millstream_runtime::record::ChangeKind::Delete, row: row(1, 0, 7) }))]);
    assert_eq!(job.reports(), (0, 1), "one row was taken back that was not there");
}

/// On forward edges one task may be ahead of another, and has forgotten what is over for it.
#[test]
fn tasks_at_different_moments_go_on_with_all_that_the_slowest_knows() {
    let make = || IntervalJoin::new(JoinKind::Inner, -5, 5, Ids(JoinKind::Inner)).broadcast();
    let mut job = Spreading::new(2, &make);
    job.feed(&[Event::Row(Either::Right(row(1, 10, 1)))]);
    job.subtasks[0].watermark(Watermark(100)).unwrap();
    job.subtasks[1].watermark(Watermark(5)).unwrap();
    let mut next = job.through(3, &make).unwrap();
    next.feed(&[Event::Row(Either::Left(row(1, 12, 2)))]);
    assert_eq!(sorted(next.seen.take()), ["(Some(2), Some(1), -9223372036854775808)"]);

    // Of windows nobody could say which of them are over.
    let make = || WindowJoin::new(JoinKind::Left, Sliding::new(20, 10, 0), Ids(JoinKind::Left)).broadcast();
    let mut job = Spreading::new(2, &make);
    job.feed(&[Event::Row(Either::Left(row(1, 15, 2))), Event::Row(Either::Left(row(1, 16, 4)))]);
    job.subtasks[0].watermark(Watermark(20)).unwrap();
    job.subtasks[1].watermark(Watermark(5)).unwrap();
    let refused = job.through(1, &make).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("different moments") && refused.contains("parallelism of before"), "{refused}");
    let mut same = job.through(2, &make).unwrap();
    let before = same.seen.take().len() + job.seen.take().len();
    same.finish();
    assert_eq!(before + same.seen.take().len(), 4, "each row in two windows, each once");
}

/// The joined side stays; the rows before it go.
#[test]
fn ttl_forgets_left_rows_only_also_after_a_restore() {
    let make =
        || UnboundedJoin::<_, OverRows, OverRows, OverRows>::new(JoinKind::Inner, Ids(JoinKind::Inner)).broadcast().ttl(1000);
    let mut job = Spreading::new(2, &make);
    job.feed(&[Event::Clock(0), Event::Row(Either::Left(row(1, 0, 2))), Event::Row(Either::Right(row(1, 0, 1)))]);
    assert_eq!(job.seen.take().len(), 1);
    job.feed(&[Event::Clock(600)]);
    let mut next = job.through(3, &make).unwrap();
    next.feed(&[Event::Clock(900), Event::Row(Either::Right(row(1, 0, 5)))]);
    assert_eq!(next.seen.take().len(), 1, "still there");
    next.feed(&[Event::Clock(1200), Event::Row(Either::Right(row(1, 0, 7)))]);
    assert_eq!(next.seen.take().len(), 0, "rows of the joined side do not keep it");
    next.feed(&[Event::Row(Either::Left(row(1, 0, 6)))]);
    assert_eq!(next.seen.take().len(), 3, "the joined side is whole");
}

/// What is dealt out is not what goes with keys.
#[test]
fn neither_way_of_a_join_goes_on_from_the_other() {
    type Sides = Either<Row, Row>;
    let make = || IntervalJoin::new(JoinKind::Inner, -5, 5, Ids(JoinKind::Inner));
    let rows: [Event<Sides>; 2] = [Event::Row(Either::Left(row(1, 0, 2))), Event::Row(Either::Right(row(1, 0, 1)))];
    let mut by_key: Job<Sides, _> = Job::new(1, make);
    by_key.feed(&rows);
    let mut restored = RestoredState::new();
    for (state, schema, group, bytes) in encode(by_key.snapshot()) {
        restored.add_group("op", &state, &schema, group, bytes);
    }
    let broadcast = || make().broadcast();
    let mut spread: Spreading<Row, Row, _> = Spreading::new(1, &broadcast);
    let refused = spread.subtasks[0].restore(&restored).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("does not fit this job"), "{refused}");
    spread.feed(&rows);
    let refused = spread.through(1, &make).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("does not fit this job"), "{refused}");
}

/// Where other operators keep their state on disk: nothing of it is there that a checkpoint would miss.
#[cfg(feature = "disk")]
#[test]
fn a_broadcast_join_keeps_all_in_memory() {
    let make =
        || UnboundedJoin::<_, OverRows, OverRows, OverRows>::new(JoinKind::Inner, Ids(JoinKind::Inner)).broadcast().ttl(1000);
    let mut job = Spreading::on(Backend::Disk, 2, &make);
    job.feed(&[Event::Clock(0), Event::Row(Either::Left(row(1, 0, 2))), Event::Row(Either::Right(row(1, 0, 1)))]);
    assert_eq!(job.seen.take().len(), 1);
    let mut next = job.through(3, &make).unwrap();
    next.feed(&[Event::Clock(500), Event::Row(Either::Right(row(1, 0, 5))), Event::Row(Either::Left(row(1, 0, 6)))]);
    assert_eq!(next.seen.take().len(), 3, "the left row meets the new right one, and the new left one both");
    next.feed(&[Event::Clock(1000), Event::Row(Either::Right(row(1, 0, 7)))]);
    assert_eq!(next.seen.take().len(), 1, "the first left row is forgotten after its time");
}
