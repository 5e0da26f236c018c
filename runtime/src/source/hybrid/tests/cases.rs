//! The cases: orders of messages, crashes, and what earlier versions of such sources got wrong.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::numbers::{Greatest, Numbers, Part, TOLD};
use super::world::{Checkpoint, Out, Random, World};
use crate::error::JobResult;
use crate::source::hybrid::event::{FromReader, ToReader};
use crate::source::hybrid::switch::Switch;
use crate::source::hybrid::{Hybrid, HybridSource, HybridSplit, StageEnd, Stages};
use crate::source::{
    EnumeratorAction, EnumeratorContext, ReaderContext, ReaderStatus, Source, SourceContext, SourceReader, Split,
    SplitEnumerator, Throttle,
};
use crate::value::Timestamp;

/// 40 numbers, then the next 30, then the next 20: each stage begins where the one before ended. `least` is the earliest stage
/// that may be made; `begun` hears when the second was made and when the first had ended.
fn three_stages(least: Arc<AtomicUsize>, begun: Arc<Mutex<Vec<i64>>>) -> HybridSource<impl Stages<Row = u64>> {
    let allowed = move |stage: usize| {
        let least = least.load(Ordering::Relaxed);
        if stage < least { Err(crate::JobError::new(format!("stage {stage} is touched, and {least} runs"))) } else { Ok(()) }
    };
    let (first, second, third) = (allowed.clone(), allowed.clone(), allowed);
    Hybrid::of::<u64, Greatest>()
        .stage("first", move |_| first(0).map(|()| Numbers::new(0, 40, 4)))
        .stage("second", move |ends: &Switch<Greatest>| {
            second(1)?;
            let end = ends.of("first")?;
            begun.lock().unwrap().push(end.end_time.0);
            Ok(Numbers::new(end.summary.0.map_or(0, |max| max + 1), 30, 3))
        })
        .stage("third", move |ends: &Switch<Greatest>| {
            third(2)?;
            Ok(Numbers::new(ends.of("second")?.summary.0.map_or(0, |max| max + 1), 20, 2))
        })
        .bounded()
}

fn make() -> HybridSource<impl Stages<Row = u64>> {
    three_stages(Arc::default(), Arc::default())
}

/// The stage that a checkpoint was taken in.
fn stage_of(checkpoint: &Checkpoint) -> usize {
    let names = ["first", "second", "third"];
    let held = checkpoint.splits.iter().map(|split| HybridSplit::decode(split).unwrap().stage as usize).max();
    // The enumerator's bytes: version, schema, three names, stage.
    let mut input = crate::bytes::Reader::new(&checkpoint.enumerator);
    let _ = (input.u32().unwrap(), input.str().unwrap(), input.u32().unwrap());
    names.iter().for_each(|name| assert_eq!(input.str().unwrap(), *name));
    let stage = input.u32().unwrap() as usize;
    assert!(held.is_none_or(|held| held <= stage), "a reader is further than the enumerator");
    stage
}

/// Checkpoints and crashes at random moments, at changing parallelism: in every stage and in the middle of switches.
#[test]
fn every_row_once_whatever_happens_when() {
    let all: Vec<u64> = (0..90).collect();
    let (mut crashes, mut restored_in) = (0, [0; 3]);
    for seed in 1..400u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let least = Arc::new(AtomicUsize::new(0));
        let make = || three_stages(least.clone(), Arc::default());
        let mut world = World::start(&make, 1 + u32::try_from(seed % 3).unwrap(), None).unwrap();
        for step in 0.. {
            assert!(step < 100_000, "seed {seed}: it stands still with {:?}", world.rows());
            match random.next() % 100 {
                0 => world.checkpoint(),
                1 if random.next().is_multiple_of(8) => {
                    crashes += 1;
                    let from = world.complete.clone();
                    let ended_before = world.is_done();
                    if let Some(from) = &from {
                        restored_in[stage_of(from)] += 1;
                        least.store(stage_of(from), Ordering::Relaxed);
                    }
                    let readers = if ended_before { seed % 3 } else { random.next() % 3 };
                    world = World::start(&make, 1 + u32::try_from(readers).unwrap(), from.as_ref()).unwrap();
                }
                _ => world.step(random.next()).unwrap_or_else(|error| panic!("seed {seed}: {error}")),
            }
            if world.is_done() {
                break;
            }
        }
        assert_eq!(world.rows(), all, "seed {seed}");
    }
    assert!(crashes > 200 && restored_in.iter().all(|&times| times > 20), "{crashes} crashes, restored in {restored_in:?}");
}

fn reader_context() -> ReaderContext {
    ReaderContext { name: "numbers".to_owned(), subtask: 0, parallelism: 1, throttle: Arc::new(Throttle::default()) }
}

fn switch_to(stage: u32, ends: &[(&str, u64)]) -> Vec<u8> {
    let mut switch = Switch::default();
    for (name, max) in ends {
        let time = Timestamp(0);
        switch.push(StageEnd { name: (*name).to_owned(), start_time: time, end_time: time, summary: Greatest(Some(*max)) });
    }
    let mut bytes = Vec::new();
    switch.encode(ends.len(), &mut bytes);
    ToReader::Switch { stage, ends: bytes }.encode()
}

fn split(stage: u32, part: &Part) -> HybridSplit {
    HybridSplit::of_stage(stage, part.id(), part.encode())
}

/// C01: splits that come back before the switch to their stage are in the snapshots taken in between, and are read after it.
#[test]
fn splits_that_wait_for_their_stage_are_in_every_snapshot() {
    let mut reader = make().reader(&reader_context()).unwrap();
    let part = Part { name: "p0".to_owned(), next: 43, end: 45 };
    reader.add_splits(vec![split(1, &part)]).unwrap();
    assert_eq!(reader.snapshot(), [split(1, &part)], "no reader of the stage is there yet");
    let mut out = Out::default();
    let mut context = Context::from_waker(Waker::noop());
    assert!(reader.poll(&mut context, &mut out).is_pending());
    reader.source_event(&switch_to(1, &[("first", 39)])).unwrap();
    assert!(reader.snapshot().contains(&split(1, &part)));
    for _ in 0..3 {
        assert!(matches!(reader.poll(&mut context, &mut out), Poll::Ready(Ok(ReaderStatus::More))));
    }
    assert_eq!(out.rows, [43, 44]);
}

/// Two stages have splits of one name; the watermark must not take them for one.
#[test]
fn splits_of_two_stages_with_one_name_are_told_apart() {
    let part = Part { name: "p0".to_owned(), next: 0, end: 1 };
    assert_ne!(split(0, &part).id(), split(1, &part).id());
    let mut reader = make().reader(&reader_context()).unwrap();
    reader.source_event(&switch_to(0, &[])).unwrap();
    reader.add_splits(vec![split(0, &part)]).unwrap();
    let mut out = Out::default();
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(reader.poll(&mut context, &mut out), Poll::Ready(Ok(ReaderStatus::More))));
    assert_eq!(out.active, [split(0, &part).id()], "as the chain knows it from the assignment");
}

/// Between two stages a reader neither ends nor asks for anything: it waits, and so does its watermark.
#[test]
fn a_reader_between_stages_is_neither_done_nor_idle() {
    let mut reader = make().reader(&reader_context()).unwrap();
    assert!(reader.holds_watermark(), "it does not know of its splits yet");
    reader.source_event(&switch_to(0, &[])).unwrap();
    assert!(reader.holds_watermark(), "it has no split yet");
    let part = Part { name: "p0".to_owned(), next: 0, end: 0 };
    reader.add_splits(vec![split(0, &part)]).unwrap();
    assert!(!reader.holds_watermark(), "its split says how far it is");
    let mut out = Out::default();
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(reader.poll(&mut context, &mut out), Poll::Ready(Ok(ReaderStatus::More))));
    assert!(reader.holds_watermark(), "its split is read, and it does not know yet whether there is another");
    reader.no_more_splits();
    assert!(matches!(reader.poll(&mut context, &mut out), Poll::Ready(Ok(ReaderStatus::More))));
    let event = FromReader::decode(&out.events[0]).unwrap();
    assert!(matches!(event, FromReader::Finished { stage: 0, .. }), "{event:?}");
    assert!(reader.poll(&mut context, &mut out).is_pending());
    assert!(reader.poll(&mut context, &mut out).is_pending());
    assert!(reader.holds_watermark(), "finished is not idle");
    reader.source_event(&switch_to(2, &[("first", 39), ("second", 69)])).unwrap();
    assert!(!reader.holds_watermark(), "in the last stage a reader without splits is idle, unless the enumerator holds it");
}

/// C02: restored in the second stage, the first is not made again; its files may be gone.
/// C04: what the second stage is made from is what it was made from before the crash.
#[test]
fn a_restart_makes_the_same_stage_again_and_no_earlier_one() {
    let (least, begun) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let make = || three_stages(least.clone(), begun.clone());
    let mut world = World::start(&make, 1, None).unwrap();
    let mut random = Random(77);
    while world.complete.as_ref().is_none_or(|complete| stage_of(complete) < 1) {
        if begun.lock().unwrap().len() > 1 {
            world.checkpoint();
        }
        world.step(random.next()).unwrap();
    }
    let first_time = begun.lock().unwrap()[0];
    least.store(1, Ordering::Relaxed);
    let from = world.complete.clone().unwrap();
    assert_eq!(stage_of(&from), 1);
    for _ in 0..3 {
        // The clock moves on between the attempts.
        std::thread::sleep(std::time::Duration::from_millis(2));
        let mut world = World::start(&make, 2, Some(&from)).unwrap();
        while !world.is_done() {
            world.step(random.next()).unwrap();
        }
        assert_eq!(world.rows(), (0..90).collect::<Vec<_>>());
    }
    let times = begun.lock().unwrap().clone();
    assert!(times.len() > 4 && times.iter().all(|&time| time == first_time), "{times:?}");
}

type Actions = Vec<EnumeratorAction<HybridSplit>>;

/// A reader that reported its end and is then reset does not count as finished: the switch waits for what came back.
#[test]
fn a_reader_that_is_reset_has_finished_nothing() {
    let source = Hybrid::of::<u64, Greatest>()
        .stage("first", |_| Ok(Numbers::new(0, 10, 2)))
        .stage("second", |_| Ok(Numbers::new(10, 10, 2)))
        .bounded();
    let mut enumerator = source.enumerator(&SourceContext { name: "n".to_owned(), parallelism: 2 }, None).unwrap();
    let mut context = EnumeratorContext::new();
    enumerator.start(&mut context).unwrap();
    let (_, calls) = context.into_parts();
    let mut acting = |act: &mut dyn FnMut(&mut _, &mut EnumeratorContext<_, _>) -> JobResult<()>| -> Actions {
        let mut context = EnumeratorContext::new();
        act(&mut enumerator, &mut context).unwrap();
        context.into_parts().0
    };
    for call in calls {
        let mut found = Some((call.work)());
        acting(&mut |enumerator: &mut _, context| SplitEnumerator::found(enumerator, found.take().unwrap(), context));
    }
    let mut assigned = Vec::new();
    for subtask in 0..2 {
        acting(&mut |enumerator: &mut _, context| SplitEnumerator::reader_added(enumerator, subtask, context));
        let actions = acting(&mut |enumerator: &mut _, context| SplitEnumerator::request(enumerator, subtask, context));
        assigned.extend(actions.into_iter().filter_map(|action| match action {
            EnumeratorAction::Assign(_, split) => Some(split),
            _ => None,
        }));
    }
    assert_eq!(assigned.len(), 2);
    let finished =
        FromReader::Finished { stage: 0, summary: crate::source::hybrid::switch::encoded(&Greatest(Some(4))) }.encode();
    let switched = |actions: &Actions| {
        actions.iter().any(|action| {
            matches!(action, EnumeratorAction::Event(_, event)
                if matches!(ToReader::decode(event), Ok(ToReader::Switch { stage: 1, .. })))
        })
    };
    let event = |subtask| {
        let finished = &finished;
        move |enumerator: &mut _, context: &mut _| SplitEnumerator::source_event(enumerator, subtask, finished, context)
    };
    assert!(!switched(&acting(&mut event(0))));
    // Reader 0 fails: its split comes back, and it starts anew.
    let back = assigned.remove(0);
    acting(&mut |enumerator: &mut _, context| SplitEnumerator::add_splits_back(enumerator, vec![back.clone()], context));
    acting(&mut |enumerator: &mut _, context| SplitEnumerator::reader_added(enumerator, 0, context));
    let again = acting(&mut |enumerator: &mut _, context| SplitEnumerator::request(enumerator, 0, context));
    assert_eq!(again, [EnumeratorAction::Assign(0, back)]);
    assert!(!switched(&acting(&mut event(1))), "what came back is assigned, and not read yet");
    assert!(switched(&acting(&mut event(0))));
    assert!(!switched(&acting(&mut event(0))), "said twice, heard once");
}

/// What a reader may let go of once a checkpoint is complete is told to the reader of a stage that has ended, too, and no longer than needed.
#[test]
fn readers_hear_which_checkpoint_has_what_they_gave() {
    TOLD.take();
    let mut world = World::start(&make, 1, None).unwrap();
    let mut random = Random(11);
    let mut told_at = |rows: usize| {
        while world.seen().0 <= rows {
            world.step(random.next()).unwrap();
        }
        world.checkpoint();
        let (_, id) = world.seen();
        while world.complete.as_ref().map(|complete| complete.id) != id {
            world.step(random.next()).unwrap();
        }
        TOLD.take().into_iter().map(|(first, _)| first.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(told_at(10), [0]);
    assert_eq!(told_at(45), [0, 40]);
    assert_eq!(told_at(50), [40]);
    assert_eq!(told_at(75), [40, 70]);
}

/// Splits of a stage that has ended come back after the switch: the reader is led through that stage again, and only there.
#[test]
fn a_late_reader_is_led_through_the_stages_that_have_splits_for_it() {
    let from = {
        let mut world = World::start(&make, 1, None).unwrap();
        let mut random = Random(5);
        while world.complete.as_ref().is_none_or(|complete| stage_of(complete) < 2) {
            if random.next().is_multiple_of(20) {
                world.checkpoint();
            }
            world.step(random.next()).unwrap();
        }
        world.complete.unwrap()
    };
    let mut from = from;
    let part = Part { name: "p9".to_owned(), next: 1000, end: 1003 };
    from.splits.push(split(0, &part).encode());
    let mut world = World::start(&make, 1, Some(&from)).unwrap();
    let mut random = Random(6);
    while !world.is_done() {
        world.step(random.next()).unwrap();
    }
    let expected: Vec<u64> = (0..90).chain(1000..1003).collect();
    assert_eq!(world.rows(), expected);
}

/// A stage that never ends is refused where others come after it.
#[test]
fn only_the_last_stage_may_be_endless() {
    let source = Hybrid::of::<u64, ()>()
        .stage("endless", |_| Ok(Numbers { bounded: false, ..Numbers::new(0, 10, 1) }))
        .stage("live", |_| Ok(Numbers::new(0, 10, 1)))
        .bounded();
    let error = source.enumerator(&SourceContext { name: "n".to_owned(), parallelism: 1 }, None).unwrap_err();
    assert!(error.message().contains("it never ends, so that `live` would never begin"), "{error}");
}

/// A checkpoint of other stages is refused with what to do; a stage added behind the one that runs is fine.
#[test]
fn stages_may_be_added_behind_but_not_renamed_before() {
    let from = {
        let mut world = World::start(&make, 1, None).unwrap();
        let mut random = Random(9);
        while world.complete.is_none() {
            world.checkpoint();
            world.step(random.next()).unwrap();
        }
        world.complete.unwrap()
    };
    let context = SourceContext { name: "n".to_owned(), parallelism: 1 };
    let renamed = Hybrid::of::<u64, Greatest>().stage("other", |_| Ok(Numbers::new(0, 40, 4))).bounded();
    let error = renamed.enumerator(&context, Some(&from.enumerator)).unwrap_err();
    assert!(
        error.message().contains("taken in stage first of first, second, third; the source now has the stages other"),
        "{error}"
    );
    let other = Hybrid::of::<u64, ()>().stage("first", |_| Ok(Numbers::new(0, 40, 4))).bounded();
    assert!(other.enumerator(&context, Some(&from.enumerator)).unwrap_err().message().contains("start from the beginning"));
    let longer = Hybrid::of::<u64, Greatest>()
        .stage("first", |_| Ok(Numbers::new(0, 40, 4)))
        .stage("new", |_| Ok(Numbers::new(0, 40, 4)))
        .bounded();
    assert!(longer.enumerator(&context, Some(&from.enumerator)).is_ok());
}
