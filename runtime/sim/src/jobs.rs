//! The jobs that are simulated.

use std::sync::Arc;

use millstream::codegen::*;
use millstream::operators::{Aggregation, Joining, UnboundedJoin, WindowAggregate};
use millstream::time::{Tumbling, WindowBounds};
use millstream::{
    BuildChain, BuildSource, ChainSpec, CheckpointConfig, ExchangeKind, Folder, InputSpec, Job, Restart, StateConfig,
};

use crate::check::Check;
use crate::source::{Numbers, Row, STEP, Size};
use crate::table::TableSink;
use crate::world::SimWorld;

/// Rows per window and split.
const WINDOW: i64 = 10;

/// What the job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rows go from the source to the sink in one chain.
    Rows,
    /// Rows go by key to windows that count them, and from there to the sink.
    Windows,
    /// The same for rows of two sources, one of which is at its end long before the other, and takes the long way round.
    Union,
    /// Windows as above, and rows of another source that go to another sink: two regions.
    Apart,
    /// Rows of one source, in turn, meet those of another, which come to every subtask.
    Joined,
}

/// What the builders need.
pub(crate) struct Setting {
    pub world: Arc<SimWorld>,
    pub size: Size,
    /// For state on disk.
    pub folder: String,
}

#[derive(Clone, Debug, PartialEq, Record)]
struct Count {
    key: i64,
    start: Timestamp,
    rows: i64,
}

#[derive(Clone, Debug, PartialEq, Record)]
struct Pair {
    split: i64,
    number: i64,
    few_split: i64,
    few_number: i64,
}

impl Pair {
    fn of(row: &Row, few: &Row) -> Self {
        Pair { split: row.split, number: row.number, few_split: few.split, few_number: few.number }
    }
}

impl Kind {
    pub(crate) fn job(self, checkpoint: CheckpointConfig, state: StateConfig) -> Job {
        let chain = |name,
                     uids,
                     inputs,
                     build: fn(&mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>>,
                     source: Option<fn(&ParamValues) -> JobResult<Box<dyn ErasedSource>>>| ChainSpec {
            name,
            uids,
            parallelism: None,
            slot_group: "default",
            inputs,
            build: BuildChain::new(build),
            source: source.map(BuildSource::new),
        };
        let input = |from, edge, exchange| InputSpec { from, edge, exchange };
        let chains = match self {
            Kind::Rows => vec![chain("rows", &["rows/source/0", "sink/rows/table"], vec![], rows as _, Some(source as _))],
            Kind::Windows | Kind::Apart => {
                let mut chains = vec![
                    chain("rows", &["rows/source/0"], vec![], by_key as _, Some(source as _)),
                    chain(
                        "counts",
                        &["counts/check/0", "counts/aggregate/0", "sink/counts/table"],
                        vec![input(0, 0, ExchangeKind::Hash)],
                        counts as _,
                        None,
                    ),
                ];
                if self == Kind::Apart {
                    let uids = &["few/source/0", "sink/few/table"];
                    chains.insert(1, chain("few", uids, vec![], few_rows as _, Some(few_erased as _)));
                }
                chains
            }
            Kind::Union => vec![
                chain("rows", &["rows/source/0"], vec![], by_key as _, Some(source as _)),
                chain("few", &["few/source/0"], vec![], in_turn as _, Some(few_erased as _)),
                chain("relay", &["relay/check/0"], vec![input(1, 1, ExchangeKind::Rebalance)], relay as _, None),
                chain(
                    "counts",
                    &["counts/check/0", "counts/aggregate/0", "sink/counts/table"],
                    vec![input(0, 0, ExchangeKind::Hash), input(2, 2, ExchangeKind::Hash)],
                    counts as _,
                    None,
                ),
            ],
            Kind::Joined => vec![
                chain("rows", &["rows/source/0"], vec![], spread as _, Some(source as _)),
                chain("few", &["few/source/0"], vec![], to_all as _, Some(few_erased as _)),
                chain(
                    "pairs",
                    &["pairs/join/0", "sink/pairs/table"],
                    vec![input(0, 0, ExchangeKind::Rebalance), input(1, 1, ExchangeKind::Broadcast)],
                    pairs as _,
                    None,
                ),
            ],
        };
        Job {
            name: "simulated",
            doc: "",
            fingerprint: 1,
            parallelism: 1,
            max_parallelism: 128,
            buffer_timeout_micros: 5000,
            checkpoint: Some(checkpoint),
            restart: Restart::Fixed { attempts: 1000, delay_micros: 1000 },
            state,
            on_error: ErrorPolicy::Fail,
            params: &[],
            kept_by: Vec::new(),
            chains,
        }
    }

    /// All rows that have to be there in the end, by table.
    pub(crate) fn expected(self, size: Size) -> Vec<(&'static str, Vec<String>)> {
        match self {
            Kind::Rows => vec![("rows", all_rows(size))],
            Kind::Windows => vec![("counts", all_counts(&[size]))],
            Kind::Union => vec![("counts", all_counts(&[size, size.few()]))],
            Kind::Apart => vec![("counts", all_counts(&[size])), ("few", all_rows(size.few()))],
            Kind::Joined => vec![("pairs", all_pairs(size))],
        }
    }
}

fn each_row(size: Size) -> impl Iterator<Item = Row> {
    let row = |split, number| Row { split, number, at: Timestamp(number * STEP) };
    (0..size.splits).flat_map(move |split| (0..size.rows).map(move |number| row(split, number)))
}

fn all_rows(size: Size) -> Vec<String> {
    let mut rows: Vec<_> = each_row(size).map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}

fn all_pairs(size: Size) -> Vec<String> {
    let partners = |row: &Row| {
        let key = row.number % KEYS;
        each_row(size.few()).filter(move |few| few.number % KEYS == key)
    };
    let pairs = each_row(size).flat_map(|row| partners(&row).map(move |few| format!("{:?}", Pair::of(&row, &few))));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    pairs
}

fn all_counts(sizes: &[Size]) -> Vec<String> {
    let mut counts = std::collections::BTreeMap::<(i64, i64), i64>::new();
    for number in sizes.iter().flat_map(|size| (0..size.splits).flat_map(move |_| 0..size.rows)) {
        *counts.entry((number % KEYS, number / WINDOW)).or_default() += 1;
    }
    let count = |((key, window), rows): ((i64, i64), i64)| Count { key, start: Timestamp(window * WINDOW * STEP), rows };
    let mut rows: Vec<_> = counts.into_iter().map(|entry| format!("{:?}", count(entry))).collect();
    rows.sort();
    rows
}

const KEYS: i64 = 7;

/// State on disk, with so much memory: then checkpoints hold what has changed.
pub(crate) fn on_disk(memory: u64) -> StateConfig {
    StateConfig::Disk { path: Folder::Of(|params| Ok(params.extension::<Setting>()?.folder.clone())), memory }
}

fn numbers(params: &ParamValues) -> JobResult<Numbers> {
    let setting = params.extension::<Setting>()?;
    Ok(Numbers { world: setting.world.clone(), size: setting.size })
}

fn few(params: &ParamValues) -> JobResult<Numbers> {
    let numbers = numbers(params)?;
    Ok(Numbers { size: numbers.size.few(), ..numbers })
}

fn few_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(few(params)?))
}

fn source(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(numbers(params)?))
}

fn table(cx: &ChainBuilder<'_>, name: &'static str) -> JobResult<TableSink> {
    Ok(TableSink(cx.params().extension::<Setting>()?.world.clone(), name))
}

/// Every row of a split is newer than the one before it.
fn config() -> SourceConfig<impl Fn(&Row) -> Result<Option<Timestamp>, EvalError> + Send + 'static> {
    SourceConfig { watermark: Some(|row: &Row| Ok(Some(row.at))), on_error: ErrorPolicy::Fail }
}

fn rows(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let table = table(cx, "rows")?;
    let sink = cx.sink("sink/rows/table", "rows into table", table)?;
    let source = numbers(cx.params())?;
    cx.source("rows/source/0", "rows", source, config(), sink)
}

fn few_rows(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let table = table(cx, "few")?;
    let sink = cx.sink("sink/few/table", "few into table", table)?;
    let source = few(cx.params())?;
    cx.source("few/source/0", "few", source, config(), sink)
}

fn by_key(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    cx.in_flight::<Row>(0);
    let out = cx.hash(0, |row: &Row| Ok(row.number % KEYS))?;
    let source = numbers(cx.params())?;
    cx.source("rows/source/0", "rows", source, config(), out)
}

fn in_turn(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    cx.in_flight::<Row>(1);
    let out = cx.rebalance(1)?;
    let source = few(cx.params())?;
    cx.source("few/source/0", "few", source, config(), out)
}

fn relay(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    cx.in_flight::<Row>(2);
    let out = cx.hash(2, |row: &Row| Ok(row.number % KEYS))?;
    let checked = cx.operator("relay/check/0", "relay: check", Check::new(), out)?;
    cx.input::<Row, _>(checked)
}

fn counts(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let table = table(cx, "counts")?;
    let sink = cx.sink("sink/counts/table", "counts into table", table)?;
    let window = WindowAggregate::new(Tumbling::new(WINDOW * STEP, 0), Counts);
    let counts = cx.operator("counts/aggregate/0", "counts: aggregate", window, sink)?;
    let checked = cx.operator("counts/check/0", "counts: check", Check::new(), counts)?;
    cx.input::<Row, _>(checked)
}

fn spread(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    cx.in_flight::<Row>(0);
    let out = cx.rebalance(0)?;
    let source = numbers(cx.params())?;
    cx.source("rows/source/0", "rows", source, config(), out)
}

fn to_all(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    cx.in_flight::<Row>(1);
    let out = cx.broadcast(1)?;
    let source = few(cx.params())?;
    cx.source("few/source/0", "few", source, config(), out)
}

fn pairs(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let table = table(cx, "pairs")?;
    let sink = cx.sink("sink/pairs/table", "pairs into table", table)?;
    let join = UnboundedJoin::<_, OverRows, OverRows, OverRows>::new(JoinKind::Inner, Pairs).broadcast();
    let pairs = cx.operator("pairs/join/0", "pairs: join", join, sink)?;
    cx.two_inputs::<Row, Row, _>(&[Side::Left, Side::Right], pairs)
}

struct Pairs;

impl Joining for Pairs {
    type Left = Row;
    type Right = Row;
    type Key = i64;
    type Out = Pair;

    fn left_key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.number % KEYS)
    }

    fn right_key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.number % KEYS)
    }

    fn both(&self, left: &Row, right: &Row, _window: WindowBounds) -> Option<Pair> {
        Some(Pair::of(left, right))
    }
}

struct Counts;

impl Aggregation for Counts {
    type In = Row;
    type Key = i64;
    type Acc = i64;
    type Out = Count;

    fn key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.number % KEYS)
    }

    fn time(&self, row: &Row) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }

    fn add(&self, acc: &mut i64, _row: &Row) -> Result<(), EvalError> {
        *acc += 1;
        Ok(())
    }

    fn output(&self, key: &i64, window: WindowBounds, acc: &i64) -> Result<Count, EvalError> {
        Ok(Count { key: *key, start: window.start, rows: *acc })
    }
}
