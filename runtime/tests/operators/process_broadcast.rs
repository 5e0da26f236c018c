//! A process with a broadcast input: rows are checked against rules, which come to every subtask.

use millstream_runtime::codegen::{BroadcastState, OperatorList, Shared};
use millstream_runtime::operator::*;
use millstream_runtime::operators::*;
use millstream_runtime::value::EvalError;
use proptest::prelude::*;

use crate::harness::*;
use crate::process::Said;

pub struct Check;

#[derive(Default, Shared)]
pub struct Known {
    rules: BroadcastState<i64, i64>,
    held: OperatorList<i64>,
}

impl Process for Check {
    type Input = Row;
    type Output = Said;
    type Side = NoSide;
    type State = Vec<i64>;
    type Broadcast = (i64, i64);
    type Shared = Known;

    fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.state().push(row.id);
        let seen = cx.state().clone();
        match cx.shared().rules.get(&row.key) {
            Some(rule) if row.id % *rule == 0 => cx.emit((row.key, 0, row.id, seen)),
            Some(_) => {}
            None => cx.shared().held.push(row.id),
        }
        Ok(())
    }

    fn on_broadcast(&mut self, (key, rule): (i64, i64), cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        let (shared, everywhere) = cx.broadcast();
        shared.rules.change(everywhere).insert(key, rule);
        Ok(())
    }

    fn on_end(&mut self, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        let held = cx.shared().held.take();
        held.into_iter().for_each(|id| cx.emit((0, 8, id, vec![])));
        Ok(())
    }
}

pub struct Spec;

impl Processing for Spec {
    type Process = Check;
    type In = Row;
    type Out = Said;
    type Key = i64;
    fn key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.key)
    }
    fn input(&self, row: Row) -> Result<Row, EvalError> {
        Ok(row)
    }
    fn output(&self, row: Said) -> Result<Said, EvalError> {
        Ok(row)
    }
}

type Rule = (i64, i64);

#[derive(Clone, Debug)]
pub enum Step {
    Row(Row),
    Rule(Rule),
}

struct Subtasks {
    stages: Vec<Box<dyn Stage<Either<Row, Rule>>>>,
    seen: Seen<Said>,
}

impl Subtasks {
    fn new(parallelism: u32) -> Self {
        let seen = Seen::default();
        let make = |subtask| -> Box<dyn Stage<Either<Row, Rule>>> {
            let context = context(subtask, parallelism, millstream_runtime::ErrorPolicy::Fail);
            let operator = KeyedProcess::new(Check, Spec).with_broadcast(|rule: Rule| Ok(rule));
            Box::new(Chained::new::<Either<Row, Rule>>(context, operator, seen.clone()))
        };
        Subtasks { stages: (0..parallelism).map(make).collect(), seen }
    }

    fn run(&mut self, steps: &[Step]) {
        let parallelism = self.stages.len() as u32;
        for step in steps {
            match step {
                Step::Row(row) => {
                    let subtask = subtask_of(row.key, parallelism);
                    self.stages[subtask as usize].push(Either::Left(*row)).unwrap();
                }
                Step::Rule(rule) => self.stages.iter_mut().for_each(|stage| stage.push(Either::Right(*rule)).unwrap()),
            }
        }
    }

    fn end(&mut self) {
        for stage in &mut self.stages {
            stage.watermark(millstream_runtime::time::Watermark::MAX).unwrap();
            stage.finish().unwrap();
        }
    }

    /// Through a checkpoint to another parallelism, as the coordinator deals it out.
    fn through(&mut self, after: u32) -> Subtasks {
        let mut restored: Vec<RestoredState> = (0..after).map(|_| RestoredState::new()).collect();
        let (mut turn, copies) = (0, self.stages.len());
        for (subtask, stage) in self.stages.iter_mut().enumerate() {
            let mut builder = SnapshotBuilder::new(1);
            stage.snapshot(&mut builder).unwrap();
            for state in builder.into_operators().into_iter().flat_map(|operator| operator.states) {
                match state.parts {
                    StateParts::Keyed(groups) => groups.iter().for_each(|group| {
                        let mut bytes = Vec::new();
                        group.part.encode(&mut bytes).unwrap();
                        let to = millstream_runtime::state::KeyGroups::new(MAX_PARALLELISM).subtask(group.group, after);
                        restored[to as usize].add_group("op", &state.name, &state.schema, group.group, bytes);
                    }),
                    StateParts::Shared(spread, items) => items.encode().unwrap().into_iter().for_each(|item| match spread {
                        Spread::Deal => {
                            turn += 1;
                            restored[turn % after as usize].add_item("op", &state.name, &state.schema, item);
                        }
                        Spread::All => panic!("there is no union"),
                        // In reverse: every copy is as good as another.
                        Spread::Copy => restored.iter_mut().enumerate().for_each(|(number, restored)| {
                            if subtask == (number + 1) % copies {
                                restored.add_item("op", &state.name, &state.schema, item.clone());
                            }
                        }),
                    }),
                    StateParts::List(_) | StateParts::Pieces(_) => panic!("nothing of this form"),
                }
            }
        }
        let mut next = Subtasks::new(after);
        next.stages.iter_mut().zip(&restored).for_each(|(stage, restored)| stage.restore(restored).unwrap());
        next
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn the_law_with_a_broadcast_input(
        steps in prop::collection::vec(prop_oneof![
            3 => (0..5i64, 0..60i64).prop_map(|(key, id)| Step::Row(row(key, 0, id))),
            1 => (0..5i64, 1..4i64).prop_map(Step::Rule),
        ], 0..30),
        split in any::<prop::sample::Index>(),
        before in 1..4u32,
        after in 1..4u32,
    ) {
        let mut whole = Subtasks::new(1);
        whole.run(&steps);
        whole.end();
        let (a, b) = steps.split_at(split.index(steps.len() + 1));
        let mut first = Subtasks::new(before);
        first.run(a);
        let mut all = first.seen.take();
        let mut second = first.through(after);
        second.run(b);
        second.end();
        all.extend(second.seen.take());
        prop_assert_eq!(sorted(all), sorted(whole.seen.take()));
    }
}
