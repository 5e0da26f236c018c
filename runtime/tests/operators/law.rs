//! The law of operators, for every operator, at every split.

use std::fmt::Debug;

use millstream_runtime::ErrorPolicy;
use millstream_runtime::checkpoint::StateEntry;
use millstream_runtime::graph::{Frame, Keep};
use millstream_runtime::operator::Operator;
use millstream_runtime::operators::*;
use millstream_runtime::record::{Change, ChangeKind};
use millstream_runtime::time::{Cumulative, Global, Sliding, Tumbling};
use millstream_runtime::value::Timestamp;
use proptest::prelude::*;

use crate::harness::*;

/// Rows in any order between growing watermarks and clock times.
pub fn events(max_len: usize) -> impl Strategy<Value = Vec<Event<Row>>> {
    let event = prop_oneof![
        8 => (0..5i64, -30..60i64).prop_map(|(key, time)| Event::Row(row(key, time, 0))),
        2 => (0..20i64).prop_map(Event::Watermark),
        1 => (0..20i64).prop_map(Event::Clock),
        1 => Just(Event::EndOfBatch),
    ];
    prop::collection::vec(event, 0..max_len).prop_map(|mut events| {
        let (mut watermark, mut clock) = (-40, 0);
        for (id, event) in events.iter_mut().enumerate() {
            match event {
                Event::Row(row) => row.id = 100 + id as i64,
                Event::Watermark(step) => {
                    watermark += *step;
                    *step = watermark;
                }
                Event::Clock(step) => {
                    clock += *step;
                    *step = clock;
                }
                Event::EndOfBatch => {}
            }
        }
        events.insert(0, Event::Clock(0));
        events
    })
}

/// Changes of a table: rows taken back have been added before.
pub fn changes(max_len: usize) -> impl Strategy<Value = Vec<Event<Change<Row>>>> {
    prop::collection::vec((0..4i64, any::<prop::sample::Index>(), 0..3u8), 0..max_len).prop_map(|steps| {
        let mut standing: Vec<Row> = Vec::new();
        let mut events = Vec::new();
        for (id, (key, index, choice)) in steps.into_iter().enumerate() {
            if choice == 0 && !standing.is_empty() {
                let row = standing.remove(index.index(standing.len()));
                let kind = if id % 2 == 0 { ChangeKind::Delete } else { ChangeKind::UpdateBefore };
                events.push(Event::Row(Change { kind, row }));
            } else {
                let row = row(key, 0, 100 + id as i64);
                standing.push(row);
                let kind = if id % 2 == 0 { ChangeKind::Insert } else { ChangeKind::UpdateAfter };
                events.push(Event::Row(Change { kind, row }));
            }
        }
        events
    })
}

/// Checks the law at every split, from one or two subtasks to one or two.
pub fn check<In: Keyed, O: Operator<In>>(make: impl Fn() -> O, events: &[Event<In>])
where
    O::Out: Debug + Send,
{
    check_at(&[1, 2], &[1, 2, 3], make, events);
}

/// Checks the law for an operator that runs once.
pub fn check_single<In: Keyed, O: Operator<In>>(make: impl Fn() -> O, events: &[Event<In>])
where
    O::Out: Debug + Send,
{
    check_at(&[1], &[1], make, events);
}

fn check_at<In: Keyed, O: Operator<In>>(befores: &[u32], afters: &[u32], make: impl Fn() -> O, events: &[Event<In>])
where
    O::Out: Debug + Send,
{
    let expected = sorted(run(&make, events));
    check_on(Backend::Memory, 1, (befores, afters), &make, events, &expected);
    // The same code decides; what differs is where entries lie between two calls.
    #[cfg(feature = "disk")]
    check_on(
        Backend::Disk,
        events.len().div_ceil(3).max(1),
        (&befores[..1], &afters[afters.len() - 1..]),
        &make,
        events,
        &expected,
    );
}

fn check_on<In: Keyed, O: Operator<In>>(
    backend: Backend,
    step: usize,
    (befores, afters): (&[u32], &[u32]),
    make: &impl Fn() -> O,
    events: &[Event<In>],
    expected: &[String],
) where
    O::Out: Debug + Send,
{
    let job = |parallelism| Job::on(backend, parallelism, ErrorPolicy::Fail, make);
    for split in (0..=events.len()).step_by(step) {
        let (a, b) = events.split_at(split);
        for before in befores.iter().copied() {
            let mut first = job(before);
            let in_pieces = (split / step).is_multiple_of(2);
            let mut checkpoints = Vec::new();
            let mut take = |job: &mut Job<In, O>| {
                let before = checkpoints.len() as u64;
                checkpoints.push(job.pieces(before + 1, before));
            };
            for events in a.chunks(5) {
                if in_pieces {
                    take(&mut first);
                }
                first.feed(events);
            }
            let mut outputs = first.take();
            // The job goes on before the snapshot is written: the snapshot must not see it, nor disturb it.
            let snapshot = if in_pieces {
                take(&mut first);
                Vec::new()
            } else {
                first.snapshot()
            };
            first.feed(b);
            first.finish();
            let mut undisturbed: Vec<String> = sorted(outputs.iter().collect());
            undisturbed.extend(sorted(first.take()));
            undisturbed.sort();
            assert_eq!(undisturbed, expected, "{backend:?}, split {split}, {before} subtasks, not restored");
            let last = checkpoints.len() as u64;
            if in_pieces {
                let stored: Vec<StateEntry> = checkpoints.into_iter().flat_map(encode_pieces).collect();
                for after in afters.iter().copied() {
                    let said = format!("{backend:?}, split {split}, in pieces from {before} to {after} subtasks");
                    goes_on(&job, (before, after), (last, stored.clone()), (&outputs, a, b), (expected, &said));
                }
                continue;
            }
            let snapshot = encode(snapshot);
            for after in afters.iter().copied() {
                let mut second = job(after);
                second.restore(&snapshot);
                // Restored clocks start where the events left off.
                let clock = a.iter().rev().find(|event| matches!(event, Event::Clock(_)));
                second.feed(&clock.cloned().into_iter().collect::<Vec<_>>());
                // A snapshot right after the restore is worth the same.
                let again = encode(second.snapshot());
                let mut third = job(before);
                third.restore(&again);
                third.feed(&clock.cloned().into_iter().collect::<Vec<_>>());
                for job in [&mut second, &mut third] {
                    job.feed(b);
                    job.finish();
                    let mut all: Vec<String> = sorted(outputs.iter().collect());
                    all.extend(sorted(job.take()));
                    all.sort();
                    assert_eq!(all, expected, "{backend:?}, split {split}, from {before} to {after} subtasks");
                    job.finish();
                    assert!(job.take().is_empty(), "a second end of input adds rows");
                }
            }
            outputs.clear();
        }
    }
}

/// From a checkpoint in pieces, with others that build upon it: they know what has changed since it was restored.
fn goes_on<In: Keyed, O: Operator<In>>(
    job: &impl Fn(u32) -> Job<In, O>,
    (before, after): (u32, u32),
    (last, mut stored): (u64, Vec<StateEntry>),
    (outputs, a, b): (&[O::Out], &[Event<In>], &[Event<In>]),
    (expected, said): (&[String], &str),
) where
    O::Out: Debug + Send,
{
    // Restored clocks start where the events left off.
    let clock = |events: &[&[Event<In>]]| -> Vec<Event<In>> {
        events.concat().into_iter().rev().find(|event| matches!(event, Event::Clock(_))).into_iter().collect()
    };
    let ends = |rows: &[&[O::Out]], said: &str| {
        let all = sorted(rows.iter().copied().flatten().collect());
        assert_eq!(all, expected, "{said}");
    };
    let mut second = job(after);
    second.restore_pieces(last, &stored);
    second.feed(&clock(&[a]));
    stored.extend(encode_pieces(second.pieces(last + 1, last)));
    let (now, later) = b.split_at(b.len() / 2);
    second.feed(now);
    let so_far = second.take();
    stored.extend(encode_pieces(second.pieces(last + 2, last + 1)));
    second.feed(later);
    second.finish();
    ends(&[outputs, &so_far, &second.take()], said);
    let mut third = job(before);
    third.restore_pieces(last + 2, &stored);
    third.feed(&clock(&[a, now]));
    stored.extend(encode_pieces(third.pieces(last + 3, last + 2)));
    third.feed(later);
    third.finish();
    ends(&[outputs, &so_far, &third.take()], &format!("{said}, restored again"));
    let mut fourth = job(after);
    fourth.restore_pieces(last + 3, &stored);
    fourth.feed(&clock(&[a, now]));
    fourth.feed(later);
    fourth.finish();
    ends(&[outputs, &so_far, &fourth.take()], &format!("{said}, restored a third time"));
}

fn key(row: &Row) -> Result<i64, millstream_runtime::value::EvalError> {
    Ok(row.key)
}

fn time(row: &Row) -> Result<Timestamp, millstream_runtime::value::EvalError> {
    Ok(Timestamp(row.time))
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn windows(events in events(18), lateness in prop_oneof![Just(0i64), 1..25i64]) {
        check(|| WindowAggregate::new(Tumbling::new(10, 3), Collect).allow_late(lateness), &events);
        check(|| WindowAggregate::new(Sliding::new(12, 4, 1), Collect).allow_late(lateness), &events);
        check(|| WindowAggregate::new(Sliding::new(4, 7, 0), Collect).allow_late(lateness), &events);
        check(|| WindowAggregate::new(Cumulative::new(12, 4, 0), Collect).allow_late(lateness), &events);
        check(|| WindowAggregate::new(Global, Collect).allow_late(lateness), &events);
    }

    #[test]
    fn windows_over_the_clock(events in events(18)) {
        check(|| WindowAggregate::new(Tumbling::new(10, 0), Collect).in_processing_time(), &events);
        check(|| WindowAggregate::new(Sliding::new(12, 4, 0), Collect).in_processing_time(), &events);
        check(|| SessionAggregate::new(5, Collect).in_processing_time(), &events);
    }

    #[test]
    fn sessions(events in events(18), lateness in prop_oneof![Just(0i64), 1..25i64]) {
        check(|| SessionAggregate::new(6, Collect).allow_late(lateness), &events);
    }

    #[test]
    fn early_results(events in events(18), lateness in prop_oneof![Just(0i64), 1..25i64]) {
        check(|| EarlyAggregate::new(Tumbling::new(10, 3), Collect, 4).allow_late(lateness), &events);
        check(|| EarlyAggregate::new(Sliding::new(12, 4, 1), Collect, 7).allow_late(lateness), &events);
        check(|| EarlyAggregate::new(Cumulative::new(12, 4, 0), Collect, 3).in_processing_time(), &events);
    }

    #[test]
    fn over(events in events(18)) {
        for frame in [Frame::Running, Frame::All, Frame::Rows(3), Frame::Time(12), Frame::Ahead(2)] {
            check(|| Over::new(frame, crate::over::Ids), &events);
        }
    }

    #[test]
    fn counts(events in events(40)) {
        check(|| CountWindow::new(3, Collect), &events);
        check(|| SlidingCountWindow::new(4, 2, Collect), &events);
        check(|| SlidingCountWindow::new(3, 2, Collect), &events);
        check(|| SlidingCountWindow::new(2, 3, Collect), &events);
    }

    #[test]
    fn tables(events in events(30), changes in changes(30)) {
        check(|| TableAggregate::new(Collect), &events);
        check(|| FinalAggregate::new(Collect), &events);
        check(|| TableAggregate::over_changes(Collect), &changes);
        check(|| FinalAggregate::over_changes(Collect), &changes);
        check(|| Final::new(|row: &Row| Ok(row.key)), &changes);
        check(|| FinalBag::new(|row: &Row| Ok(row.key)), &changes);
    }

    #[test]
    fn dedup(events in events(30), within in prop_oneof![Just(None), (1..30i64).prop_map(Some)]) {
        for keep in [Keep::First, Keep::Last] {
            check(|| with(DedupFinal::new(keep, key, time), within, DedupFinal::within), &events);
            check(|| DedupFinal::new(keep, key, by_arrival), &events);
            check(|| with(DedupTable::new(keep, key, time), within, DedupTable::within), &events);
        }
        check(|| with(KeepFirst::new(key, time), within, KeepFirst::within), &events);
        check(|| with(KeepFirstByTime::new(key, time), within, KeepFirstByTime::within), &events);
    }

    #[test]
    fn stateless(events in events(20)) {
        check(|| Filter::new(|row: &Row| Ok(row.key > 2)), &events);
        check(|| Project::new(|row: Row| Ok(row.id)), &events);
        check(|| Explode::new(|row: Row| Ok(vec![row.id; row.key as usize])), &events);
    }
}

fn with<T>(operator: T, within: Option<i64>, set: impl Fn(T, i64) -> T) -> T {
    match within {
        None => operator,
        Some(within) => set(operator, within),
    }
}
