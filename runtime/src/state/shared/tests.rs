//! States without key in checkpoints: who gets what, at any parallelism.

use super::{BroadcastState, Everywhere, OperatorList, SharedState, UnionList};
use crate::coordinator::{contents_of, deal_for_tests};
use crate::operator::{RestoredState, SnapshotBuilder};

#[derive(Default)]
struct States {
    list: OperatorList<i64>,
    union: UnionList<i64>,
    rules: BroadcastState<i64, String>,
}

impl States {
    fn each(&mut self, mut visit: impl FnMut(&str, &mut dyn SharedState)) {
        visit("list", &mut self.list);
        visit("union", &mut self.union);
        visit("rules", &mut self.rules);
    }

    fn seen(&self) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
        (self.list.get().to_vec(), self.union.get().to_vec(), self.rules.keys().copied().collect())
    }
}

/// Runs a checkpoint of as many subtasks as there are states through to `after` subtasks.
fn through(before: &mut [States], after: u32) -> Vec<States> {
    let mut entries = Vec::new();
    let subtasks = before.len();
    for (subtask, states) in before.iter_mut().enumerate() {
        let mut builder = SnapshotBuilder::new(1);
        let operator = builder.operator(&"op".into());
        states.each(|name, state| state.snapshot(name, operator));
        // What is done behind the barrier is not in the checkpoint.
        states.list.push(666);
        states.rules.change(&Everywhere(())).clear();
        entries.extend(contents_of(builder.into_operators(), u32::try_from(subtask).unwrap()).unwrap().entries);
    }
    let dealt: Vec<RestoredState> = deal_for_tests("chain", "op", after, u32::try_from(subtasks).unwrap(), entries);
    dealt
        .iter()
        .map(|restored| {
            let mut states = States::default();
            let operator = restored.operator("op").unwrap();
            states.each(|name, state| state.restore(name, operator).unwrap());
            states
        })
        .collect()
}

#[test]
fn lists_are_dealt_unions_go_to_all_and_broadcast_state_is_copied() {
    let make = || -> Vec<States> {
        let one = |subtask: i64| {
            let mut states = States::default();
            states.list.get_mut().extend([subtask * 10, subtask * 10 + 1, subtask * 10 + 2]);
            states.union.push(subtask);
            states.rules.change(&Everywhere(())).extend([(7, "seven".to_owned()), (8 + subtask, String::new())]);
            states
        };
        (0..2).map(one).collect()
    };
    let same: Vec<_> = through(&mut make(), 2).iter().map(States::seen).collect();
    assert_eq!(same[0], (vec![0, 1, 2], vec![0, 1], vec![7, 8]), "a list stays where it was");
    assert_eq!(same[1], (vec![10, 11, 12], vec![0, 1], vec![7, 9]));
    for after in [1, 3, 5] {
        let restored = through(&mut make(), after);
        let mut all: Vec<i64> = restored.iter().flat_map(|states| states.list.get().to_vec()).collect();
        let sizes: Vec<usize> = restored.iter().map(|states| states.list.get().len()).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 10, 11, 12], "each once");
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "evenly: {sizes:?}");
        for (subtask, states) in restored.iter().enumerate() {
            let copy = i64::try_from(subtask % 2).unwrap();
            assert_eq!(states.seen().1, [0, 1]);
            assert_eq!(states.seen().2, [7, 8 + copy], "the copy of an old subtask");
        }
    }
}
