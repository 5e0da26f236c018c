//! Operators at their end that a changed job would give rows to.

use super::ended::refuse_ended;
use super::layout::stand;
use super::layout_tests::chain;
use super::storage::Checkpoint;
use crate::checkpoint::{ChainEntry, Manifest, Part, StateEntry, SubtaskEntry, sample};
use crate::graph::KeptBy;
use crate::job::{ChainSpec, ExchangeKind, InputSpec};

fn old(name: &str, operators: &[&str], finished: &[bool]) -> ChainEntry {
    let watermark = |finished| if finished { i64::MAX } else { 7 };
    let subtasks = finished.iter().map(|&finished| SubtaskEntry { finished, watermark: watermark(finished) });
    let operators = operators.iter().map(|&uid| uid.to_owned()).collect();
    ChainEntry { name: name.into(), operators, subtasks: subtasks.collect() }
}

fn checkpoint(chains: Vec<ChainEntry>) -> Checkpoint {
    let manifest = Manifest { chains, ..sample() };
    let committable = StateEntry {
        uid: "totals/aggregate/0".into(),
        state: "#staged".into(),
        schema: "bytes".into(),
        subtask: 0,
        part: Part::Item(vec![1]),
    };
    let item = StateEntry { state: "progress".into(), ..committable.clone() };
    Checkpoint { manifest, entries: vec![item, committable], groups: Vec::new(), to_build_upon: Vec::new() }
}

fn input(from: usize, exchange: ExchangeKind) -> InputSpec {
    InputSpec { from, edge: from, exchange }
}

/// `rows | aggregate`, and the same behind `rows | union more | where`: the chain of the filter has the name that the aggregate had.
fn with_more() -> Vec<ChainSpec> {
    let forward = |from| input(from, ExchangeKind::Forward);
    vec![
        chain("rows", &["rows/source/0"], vec![]),
        chain("more", &["more/source/0"], vec![]),
        chain("totals", &["totals/where/0"], vec![forward(0), forward(1)]),
        chain("totals_2", &["totals/aggregate/0", "sink/totals/file"], vec![input(2, ExchangeKind::Hash)]),
    ]
}

fn kept() -> [KeptBy; 1] {
    [KeptBy::new("totals/aggregate/0").key("k", &["k"])]
}

fn ended(rows: &[bool], totals: &[bool]) -> Checkpoint {
    checkpoint(vec![
        old("rows", &["rows/source/0", "totals/where/0"], rows),
        old("totals", &["totals/aggregate/0", "sink/totals/file"], totals),
    ])
}

#[test]
fn an_operator_is_known_by_its_name_and_not_by_that_of_its_chain() {
    let again = |checkpoint: &mut Checkpoint, given_up: &[String]| {
        refuse_ended(checkpoint, &with_more(), &[2, 2, 2, 2], &kept(), given_up).map_err(|error| error.message().to_owned())
    };
    for totals in [[true, true], [true, false]] {
        let refused = again(&mut ended(&[true, true], &totals), &[]).unwrap_err();
        assert!(refused.contains("`totals/aggregate/0` had come to the end of its input, and `totals` would give"), "{refused}");
        assert!(!refused.contains("totals/where") && !refused.contains("sink/"), "they keep nothing: {refused}");
        let mut dropped = ended(&[true, true], &totals);
        let told = again(&mut dropped, &["totals/aggregate/0".into()]).unwrap();
        assert!(told.len() == 1 && told[0].contains("it held 0 key groups, 1 other entries"), "{told:?}");
        assert_eq!(dropped.entries.len(), 1, "what is staged stays");
    }
    assert_eq!(again(&mut ended(&[true, false], &[false, false]), &[]).unwrap(), [""; 0], "nothing had ended");
    // Nobody asks who keeps nothing.
    let mut nothing = ended(&[true, true], &[true, true]);
    nothing.entries.clear();
    assert_eq!(refuse_ended(&mut nothing, &with_more(), &[2, 2, 2, 2], &[], &[]).unwrap(), [""; 0]);
    // A version that did not say which operators a chain has.
    let mut nameless = ended(&[true, true], &[true, true]);
    nameless.manifest.chains.iter_mut().for_each(|chain| chain.operators.clear());
    let chains = vec![
        chain("rows", &["rows/source/0"], vec![]),
        chain("more", &["more/source/0"], vec![]),
        chain("totals", &["totals/aggregate/0"], vec![input(0, ExchangeKind::Hash), input(1, ExchangeKind::Hash)]),
    ];
    let refused = refuse_ended(&mut nameless, &chains, &[1, 1, 2], &kept(), &[]).unwrap_err();
    assert!(refused.message().contains("and `more` would give it rows"), "{refused}");
}

#[test]
fn nothing_is_finished_behind_what_is_not() {
    let stands = |old: &[ChainEntry]| stand(&with_more(), &[2, 2, 2, 2], old);
    let found =
        stands(&[old("rows", &[], &[true, true]), old("totals", &[], &[true, true]), old("totals_2", &[], &[true, true])]);
    let fresh = SubtaskEntry { finished: false, watermark: i64::MIN };
    assert!(found[0].iter().all(|subtask| subtask.finished) && found[2..].iter().flatten().all(|subtask| *subtask == fresh));
}

/// Copies straight behind others of which one is at its end, at a moment when these are made more: what they get anew comes from all.
#[test]
fn another_parallelism_before_copies_at_their_end_is_no_change_of_the_job() {
    let chains = vec![
        chain("rows", &["rows/source/0"], vec![]),
        chain("totals", &["totals/aggregate/0"], vec![input(0, ExchangeKind::Hash)]),
        chain("ranks", &["ranks/top/0"], vec![input(1, ExchangeKind::Forward)]),
    ];
    let before = || {
        let of = |name, uid, finished| old(name, &[uid], finished);
        vec![
            of("rows", "rows/source/0", &[true]),
            of("totals", "totals/aggregate/0", &[true, false]),
            of("ranks", "ranks/top/0", &[true, false]),
        ]
    };
    let kept = [KeptBy::new("ranks/top/0").key("k", &["k"])];
    assert_eq!(refuse_ended(&mut checkpoint(before()), &chains, &[1, 3, 2], &kept, &[]).unwrap(), [""; 0]);
    let stands = stand(&chains, &[1, 3, 2], &before());
    assert!(stands[1..].iter().flatten().all(|subtask| *subtask == SubtaskEntry { finished: false, watermark: 7 }), "{stands:?}");
    let stands = stand(&chains, &[1, 2, 2], &before());
    assert!(stands[2][0].finished && !stands[2][1].finished, "as it was: {stands:?}");
}
