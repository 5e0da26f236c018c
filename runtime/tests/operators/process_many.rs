//! A process over three streams by one key, with three side outputs: as a plain map, and the law holds for everything that comes out, also of
//! what stands behind the side outputs.

use std::collections::BTreeMap;

use millstream_runtime::ErrorPolicy;
use millstream_runtime::codegen::State;
use millstream_runtime::operator::*;
use millstream_runtime::operators::*;
use millstream_runtime::prelude::SideOutputs;
use millstream_runtime::time::Watermark;
use millstream_runtime::value::{EvalError, Timestamp};
use proptest::prelude::*;

use crate::harness::*;
use crate::law::{check, events};

/// Rows of any of three streams, as an operator of several takes them: all columns but one are null.
#[derive(Clone, Debug)]
pub struct Columns {
    key: i64,
    of: [Option<Row>; 3],
}

impl Keyed for Columns {
    fn key(&self) -> i64 {
        self.key
    }
}

fn columns(row: Row) -> Columns {
    let mut of = [None; 3];
    of[(row.id % 3) as usize] = Some(row);
    Columns { key: row.key, of }
}

pub enum Streams {
    First(Row),
    Second(Row),
    Third(Row),
}

/// A row of a side output: key, and ids.
type Ids = (i64, Vec<i64>);

#[derive(SideOutputs)]
pub enum Beside {
    Second(Ids),
    Third(Ids),
    Timer(Ids),
}

#[derive(Clone, Debug, Default, State)]
pub struct Kept {
    seen: Vec<i64>,
}

/// Says of each row what its key has seen: of rows of the first stream in its rows, of the others at the sides. Rows of the third set a timer.
pub struct Watch;

impl Process for Watch {
    type Input = Streams;
    type Output = Ids;
    type Side = Beside;
    type State = Kept;
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, row: Streams, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let (row, stream) = match row {
            Streams::First(row) => (row, 0),
            Streams::Second(row) => (row, 1),
            Streams::Third(row) => (row, 2),
        };
        cx.state().seen.push(row.id);
        let seen = (row.key, cx.state().seen.clone());
        match stream {
            0 => cx.emit(seen),
            1 => cx.side(Beside::Second(seen)),
            _ => {
                // Behind any watermark there is: a late timer would fire at the next one, wherever that is.
                cx.event_timer(Timestamp(1_000_000 + row.time));
                cx.side(Beside::Third(seen));
            }
        }
        Ok(())
    }

    fn on_event_timer(&mut self, _: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let key = cx.key_text().parse().unwrap();
        let seen = std::mem::take(&mut cx.state().seen);
        cx.side(Beside::Timer((key, seen)));
        Ok(())
    }
}

pub struct ByKey;

impl Processing for ByKey {
    type Process = Watch;
    type In = Columns;
    type Out = Ids;
    type Key = i64;
    fn key(&self, row: &Columns) -> Result<i64, EvalError> {
        Ok(row.key)
    }
    fn input(&self, row: Columns) -> Result<Streams, EvalError> {
        Ok(match row.of {
            [Some(row), ..] => Streams::First(row),
            [_, Some(row), _] => Streams::Second(row),
            [.., Some(row)] => Streams::Third(row),
            _ => return Err(EvalError::new("a row of no input")),
        })
    }
    fn output(&self, row: Ids) -> Result<Ids, EvalError> {
        Ok(row)
    }
}

/// Where a row came out: 0 at the main output, else at which side.
type Out = (u8, Ids);

type Sides = EitherStage<Seen<Ids>, EitherStage<Seen<Ids>, EitherStage<Seen<Ids>, Discard>>>;

/// Everything that comes out, as one: the law looks at the rows of one output.
struct Gathered {
    process: KeyedProcess<ByKey, SideStages<Sides>>,
    sides: [Seen<Ids>; 3],
}

fn gathered() -> Gathered {
    let sides = [Seen::default(), Seen::default(), Seen::default()];
    let [a, b, c] = sides.clone();
    let stage = EitherStage::new(a, EitherStage::new(b, EitherStage::new(c, Discard)));
    Gathered { process: KeyedProcess::new(Watch, ByKey).with_side(SideStages::of(stage)), sides }
}

struct Main<'a, C>(&'a mut C);

impl<C: Collector<Out>> Collector<Ids> for Main<'_, C> {
    fn emit(&mut self, row: Ids) -> Result<(), millstream_runtime::JobError> {
        self.0.emit((0, row))
    }
    fn reject(&mut self, error: EvalError) -> Result<(), millstream_runtime::JobError> {
        self.0.reject(error)
    }
}

impl Gathered {
    fn drain(&mut self, out: &mut impl Collector<Out>) -> Result<(), Failure> {
        for (side, number) in self.sides.iter().zip(1..) {
            side.take().into_iter().try_for_each(|row| out.emit((number, row)))?;
        }
        Ok(())
    }
}

impl Operator<Columns> for Gathered {
    type Out = Out;
    fn open(&mut self, context: &OperatorContext) {
        self.process.open(context);
    }
    fn process(&mut self, row: Columns, out: &mut impl Collector<Out>) -> Result<(), Failure> {
        self.process.process(row, &mut Main(out))?;
        self.drain(out)
    }
    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<Out>) -> Result<Option<Watermark>, Failure> {
        let watermark = self.process.on_watermark(watermark, &mut Main(out))?;
        self.drain(out)?;
        Ok(watermark)
    }
    fn finish(&mut self, out: &mut impl Collector<Out>) -> Result<(), Failure> {
        self.process.finish(&mut Main(out))
    }
    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), millstream_runtime::JobError> {
        self.process.snapshot(snapshot)
    }
    fn restore(&mut self, state: &RestoredOperator) -> Result<(), millstream_runtime::JobError> {
        self.process.restore(state)
    }
}

fn all(events: &[Event<Row>]) -> Vec<Event<Columns>> {
    let columns = |event: &Event<Row>| match event {
        Event::Row(row) => Event::Row(columns(*row)),
        Event::Watermark(time) => Event::Watermark(*time),
        Event::Clock(now) => Event::Clock(*now),
        Event::EndOfBatch => Event::EndOfBatch,
    };
    events.iter().map(columns).collect()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn as_a_plain_map(events in events(90)) {
        let mut seen: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        let (mut timers, mut expected) = (std::collections::BTreeSet::new(), Vec::new());
        for event in &events {
            let Event::Row(row) = event else { continue };
            let ids = seen.entry(row.key).or_default();
            ids.push(row.id);
            expected.push(((row.id % 3) as u8, (row.key, ids.clone())));
            if row.id % 3 == 2 {
                timers.insert((row.time, row.key));
            }
        }
        expected.extend(timers.iter().map(|(_, key)| (3, (*key, std::mem::take(seen.entry(*key).or_default())))));
        let mut job = Job::new(1, gathered);
        job.feed(&all(&events));
        job.finish();
        prop_assert_eq!(sorted(job.take()), sorted(expected));
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn the_law(events in events(26)) {
        check(gathered, &all(&events));
    }
}

/// Keeps the first row of each key.
fn first(seen: &Seen<Ids>, uid: &str) -> Chained<impl Operator<Ids, Out = Ids> + use<>, Seen<Ids>> {
    let keep = KeepFirst::new(|row: &Ids| Ok(row.0), |_: &Ids| Ok(Timestamp(0)));
    Chained::new(
        OperatorContext { uid: uid.into(), on_error: ErrorPolicy::Fail, ..OperatorContext::single(uid) },
        keep,
        seen.clone(),
    )
}

/// What stands behind each side output is in the checkpoint and comes back from it, and hears of watermarks and of the end.
#[test]
fn what_is_behind_side_outputs_keeps_its_state() {
    let seen: [Seen<Ids>; 4] = Default::default();
    let make = |[main, a, b, c]: &[Seen<Ids>; 4]| {
        let sides = EitherStage::new(first(a, "a"), EitherStage::new(first(b, "b"), EitherStage::new(first(c, "c"), Discard)));
        let process = KeyedProcess::new(Watch, ByKey).with_side(SideStages::of(sides));
        Chained::new::<Columns>(OperatorContext::single("op"), process, main.clone())
    };
    let rows = |seen: &[Seen<Ids>; 4]| seen.each_ref().map(Seen::take);
    let mut stage = make(&seen);
    [0, 1, 2].into_iter().for_each(|id| stage.push(columns(row(7, 0, id))).unwrap());
    assert_eq!(rows(&seen), [vec![(7, vec![0])], vec![(7, vec![0, 1])], vec![(7, vec![0, 1, 2])], vec![]]);
    let mut builder = SnapshotBuilder::new(1);
    stage.snapshot(&mut builder).unwrap();
    let mut restored = RestoredState::new();
    for operator in builder.into_operators() {
        let uid = operator.uid.clone();
        for state in operator.states {
            let StateParts::Keyed(groups) = state.parts else { panic!("only state by key") };
            for group in groups {
                let mut bytes = Vec::new();
                group.part.encode(&mut bytes).unwrap();
                restored.add_group(&uid, &state.name, &state.schema, group.group, bytes);
            }
        }
    }
    let again: [Seen<Ids>; 4] = Default::default();
    let mut stage = make(&again);
    stage.restore(&restored).unwrap();
    [3, 4, 5].into_iter().for_each(|id| stage.push(columns(row(7, 0, id))).unwrap());
    stage.push(columns(row(8, 0, 4))).unwrap();
    stage.watermark(Watermark::MAX).unwrap();
    stage.finish().unwrap();
    // The first of key 7 came before, at both sides; its timer has not.
    let timer = vec![(7, vec![0, 1, 2, 3, 4, 5])];
    assert_eq!(rows(&again), [vec![(7, vec![0, 1, 2, 3])], vec![(8, vec![4])], vec![], timer]);
    assert_eq!(again.each_ref().map(|seen| seen.watermarks().last().copied()), [Some(i64::MAX); 4]);
}
