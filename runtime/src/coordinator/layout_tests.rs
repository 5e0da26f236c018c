//! Wiring and dealing out.

use super::layout::{deal, wire};
use crate::checkpoint::{ChainEntry, Part, StateEntry, SubtaskEntry};
use crate::error::JobError;
use crate::job::{BuildChain, ChainSpec, ExchangeKind, InputSpec};

pub(super) fn chain(name: &'static str, uids: &'static [&'static str], inputs: Vec<InputSpec>) -> ChainSpec {
    ChainSpec {
        name,
        uids,
        parallelism: None,
        slot_group: "default",
        inputs,
        build: BuildChain::new(|_| Err(JobError::new("not built here"))),
        source: None,
    }
}

fn chains() -> Vec<ChainSpec> {
    let from_a = |edge, exchange| InputSpec { from: 0, edge, exchange };
    vec![
        chain("a", &["a/source/0"], vec![]),
        chain("b", &["b/where/0"], vec![from_a(0, ExchangeKind::Forward)]),
        chain(
            "c",
            &["c/aggregate/0"],
            vec![from_a(1, ExchangeKind::Hash), InputSpec { from: 1, edge: 2, exchange: ExchangeKind::Forward }],
        ),
    ]
}

#[test]
fn forward_goes_straight_and_everything_else_to_all() {
    let wiring = wire(&chains(), &[2, 2, 3], &[0, 1, 2]).unwrap();
    let channels = |chain: usize, subtask: usize| (wiring[chain][subtask].senders.len(), wiring[chain][subtask].receivers.len());
    assert_eq!(channels(0, 0), (1 + 3, 0), "one straight to b, three to c");
    assert_eq!(channels(1, 1), (3, 1), "b to c: the parallelism differs, so rows are dealt to all");
    assert_eq!(channels(2, 0), (0, 2 + 2));
    let edges: Vec<_> = wiring[0][1].outputs.iter().map(|output| (output.edge, output.channels.clone())).collect();
    assert_eq!(edges, [(0, 0..1), (1, 1..4)]);
    let inputs: Vec<_> = wiring[2][2].receivers.iter().map(|(input, _)| *input).collect();
    assert_eq!(inputs, [0, 0, 1, 1]);
}

fn entry(uid: &str, state: &str, subtask: u32, part: Part) -> StateEntry {
    StateEntry { uid: uid.into(), state: state.into(), schema: "int64".into(), subtask, part }
}

fn old(name: &str, finished: &[bool], watermarks: &[i64]) -> ChainEntry {
    let subtasks = finished.iter().zip(watermarks).map(|(&finished, &watermark)| SubtaskEntry { finished, watermark });
    ChainEntry { name: name.into(), operators: Vec::new(), subtasks: subtasks.collect() }
}

#[test]
fn state_follows_its_key_group_and_items_stay_or_are_dealt() {
    let entries = || {
        let mut entries: Vec<_> =
            (0..8_u16).map(|group| entry("c/aggregate/0", "windows", 0, Part::Group(group, vec![1]))).collect();
        entries.extend((0..4).map(|subtask| entry("c/aggregate/0", "list", subtask, Part::Item(vec![2]))));
        entries.push(entry("a/source/0", "#splits", 0, Part::Item(vec![3])));
        entries
    };
    let ended = |name| old(name, &[true], &[i64::MAX]);
    let finished = [ended("a"), ended("b"), old("c", &[true, false, true, true], &[5, 3, 9, i64::MAX])];
    let same = deal(&chains(), &[1, 1, 4], 8, &finished, entries()).unwrap();
    assert_eq!(same.own.len(), 1, "splits go to the enumerator");
    let state = |dealt: &super::layout::Dealt, subtask: usize| {
        let operator = dealt.states[2][subtask].operator("c/aggregate/0").unwrap();
        let groups: Vec<_> = operator.keyed("windows", "int64").unwrap().map(|part| part.unwrap().0).collect();
        (groups, operator.list("list", "int64").unwrap().len())
    };
    for subtask in 0..4 {
        let first = u16::try_from(subtask * 2).unwrap();
        assert_eq!(state(&same, subtask), (vec![first, first + 1], 1));
    }
    assert!(same.subtasks[2][0].finished && !same.subtasks[2][1].finished);
    let fewer = deal(&chains(), &[1, 1, 2], 8, &finished, entries()).unwrap();
    assert_eq!(state(&fewer, 0), (vec![0, 1, 2, 3], 2));
    assert_eq!(fewer.subtasks[2][1], SubtaskEntry { finished: false, watermark: 3 }, "as far as the slowest was");
}

/// A sink that was in a chain of four subtasks is now behind a source that has, and had, two.
#[test]
fn items_of_an_operator_that_was_in_a_larger_chain_are_dealt() {
    let moved = [chain("a", &["a/source/0", "sink/c/own"], vec![])];
    let entries = (0..4).map(|subtask| entry("sink/c/own", "list", subtask, Part::Item(vec![2])));
    let before = [old("a", &[false; 2], &[0; 2]), old("c", &[false; 4], &[0; 4])];
    let dealt = deal(&moved, &[2], 8, &before, entries.collect()).unwrap();
    let items = |subtask: usize| dealt.states[0][subtask].operator("sink/c/own").unwrap().list("list", "int64").unwrap().len();
    assert_eq!((items(0), items(1)), (2, 2));
}

/// A reader may get a split that another had read less far: had it kept its own event time, those rows would be late.
#[test]
fn no_reader_is_further_in_time_than_the_slowest_was() {
    let of_source = [old("a", &[false, false, true], &[56, 26, i64::MAX])];
    let dealt = deal(&chains(), &[3, 1, 1], 8, &of_source, Vec::new()).unwrap();
    let watermarks: Vec<_> = dealt.subtasks[0].iter().map(|subtask| (subtask.finished, subtask.watermark)).collect();
    // One that had ended may be given a split of another, too.
    assert_eq!(watermarks, [(false, 26), (false, 26), (false, 26)]);
}

#[test]
fn what_a_reader_feeds_straight_stands_with_it() {
    let both = [old("a", &[true, false], &[i64::MAX, 26]), old("b", &[true, false], &[i64::MAX, 20])];
    let dealt = deal(&chains(), &[2, 2, 1], 8, &both, Vec::new()).unwrap();
    let b: Vec<_> = dealt.subtasks[1].iter().map(|subtask| (subtask.finished, subtask.watermark)).collect();
    assert_eq!(b, [(false, 20), (false, 20)]);
    let ended = [old("a", &[true, true], &[i64::MAX, i64::MAX]), old("b", &[true, true], &[i64::MAX, i64::MAX])];
    let dealt = deal(&chains(), &[2, 2, 1], 8, &ended, Vec::new()).unwrap();
    assert!(dealt.subtasks[..2].iter().flatten().all(|subtask| subtask.finished));
}

#[test]
fn state_without_an_operator_is_refused() {
    let lost = vec![entry("d/aggregate/0", "windows", 0, Part::Item(vec![]))];
    let error = deal(&chains(), &[1, 1, 1], 8, &[], lost).unwrap_err();
    assert!(error.message().contains("`d/aggregate/0`") && error.message().contains("--fresh"), "{error}");
}

/// Deals the state of one chain with one operator out to so many subtasks.
pub(crate) fn deal_for_tests(
    name: &'static str,
    uid: &'static str,
    parallelism: u32,
    subtasks: u32,
    entries: Vec<StateEntry>,
) -> Vec<crate::operator::RestoredState> {
    let uids: &'static [&'static str] = Box::leak(Box::new([uid]));
    let old = old(name, &vec![false; subtasks as usize], &vec![i64::MIN; subtasks as usize]);
    let mut dealt = deal(&[chain(name, uids, vec![])], &[parallelism], 8, &[old], entries).unwrap();
    dealt.states.remove(0)
}
