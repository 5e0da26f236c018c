//! Runs an operator as the engine would: several subtasks, rows routed by key, snapshots taken and restored.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use millstream_runtime::checkpoint::{
    Cursor, DataFile, Held, Layout, Part, StateEntry, StoredGroup, StoredState, encode_entries,
};
use millstream_runtime::operator::*;
use millstream_runtime::operators::Aggregation;
use millstream_runtime::record::Change;
use millstream_runtime::state::{KeyGroups, State, hash_bytes};
use millstream_runtime::time::{Watermark, WindowBounds};
use millstream_runtime::value::{EvalError, Timestamp};
use millstream_runtime::{ErrorPolicy, JobError};

/// A row: its key, its time, and a number that tells it from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub key: i64,
    pub time: i64,
    pub id: i64,
}

impl State for Row {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.key, self.time, self.id).encode(out);
    }
    fn decode(input: &mut millstream_runtime::state::StateReader<'_>) -> Result<Self, millstream_runtime::state::StateError> {
        let (key, time, id) = State::decode(input)?;
        Ok(Row { key, time, id })
    }
    fn schema() -> String {
        "row{key:int64,time:int64,id:int64}".into()
    }
}

pub fn row(key: i64, time: i64, id: i64) -> Row {
    Row { key, time, id }
}

/// Something that comes in.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<T> {
    Row(T),
    Watermark(i64),
    Clock(i64),
    EndOfBatch,
}

/// Rows that are routed by key.
pub trait Keyed: Clone + Debug + Send + 'static {
    fn key(&self) -> i64;
}

impl Keyed for Row {
    fn key(&self) -> i64 {
        self.key
    }
}

impl Keyed for Change<Row> {
    fn key(&self) -> i64 {
        self.row.key
    }
}

/// Collects what an operator emits, and the watermarks between.
#[derive(Debug)]
pub struct Seen<T>(Arc<Mutex<(Vec<T>, Vec<i64>)>>);

impl<T> Clone for Seen<T> {
    fn clone(&self) -> Self {
        Seen(self.0.clone())
    }
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Seen(Arc::new(Mutex::new((Vec::new(), Vec::new()))))
    }
}

impl<T> Seen<T> {
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.0.lock().unwrap().0)
    }
    pub fn watermarks(&self) -> Vec<i64> {
        self.0.lock().unwrap().1.clone()
    }
}

impl<T: Send> Stage<T> for Seen<T> {
    fn push(&mut self, row: T) -> Result<(), JobError> {
        self.0.lock().unwrap().0.push(row);
        Ok(())
    }
    fn end_of_batch(&mut self) -> Result<(), JobError> {
        Ok(())
    }
    fn flush(&mut self) -> Result<(), JobError> {
        Ok(())
    }
    fn watermark(&mut self, watermark: Watermark) -> Result<(), JobError> {
        self.0.lock().unwrap().1.push(watermark.0);
        Ok(())
    }
    fn processing_time(&mut self, _now: i64) -> Result<(), JobError> {
        Ok(())
    }
    fn next_processing_time(&self) -> Option<i64> {
        None
    }
    fn finish(&mut self) -> Result<(), JobError> {
        Ok(())
    }
    fn snapshot(&mut self, _snapshot: &mut SnapshotBuilder) -> Result<(), JobError> {
        Ok(())
    }
    fn restore(&mut self, _state: &RestoredState) -> Result<(), JobError> {
        Ok(())
    }
    fn checkpoint_complete(&mut self, _checkpoint: u64) -> Result<(), JobError> {
        Ok(())
    }
    fn checkpoint_aborted(&mut self, _checkpoint: u64) -> Result<(), JobError> {
        Ok(())
    }
    fn report(&self, _reports: &mut Vec<OperatorReport>) {}
}

pub const MAX_PARALLELISM: u32 = 8;

pub fn context(subtask: u32, parallelism: u32, on_error: ErrorPolicy) -> OperatorContext {
    OperatorContext { subtask, parallelism, max_parallelism: MAX_PARALLELISM, on_error, ..OperatorContext::single("op") }
}

/// Where keyed state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Memory,
    /// With no memory at all: whatever is not asked for just now is on disk.
    #[cfg(feature = "disk")]
    Disk,
}

impl Backend {
    /// Keyed state goes there.
    pub fn of(self, context: OperatorContext) -> OperatorContext {
        match self {
            Backend::Memory => context,
            #[cfg(feature = "disk")]
            Backend::Disk => OperatorContext { disk: Some(disk()), ..context },
        }
    }
}

/// One disk for all: they keep out of each other's way as operators of one job do.
#[cfg(feature = "disk")]
fn disk() -> Arc<millstream_runtime::state::Disk> {
    static DISK: std::sync::OnceLock<Arc<millstream_runtime::state::Disk>> = std::sync::OnceLock::new();
    let open = || millstream_runtime::state::Disk::open(env!("CARGO_TARGET_TMPDIR").as_ref(), 0).unwrap();
    DISK.get_or_init(|| Arc::new(open())).clone()
}

/// Where the exchange sends a key.
pub fn subtask_of(key: i64, parallelism: u32) -> u32 {
    let mut bytes = Vec::new();
    key.encode(&mut bytes);
    let groups = KeyGroups::new(MAX_PARALLELISM);
    groups.subtask(groups.of_hash(hash_bytes(&bytes)), parallelism)
}

/// An operator at some parallelism.
pub struct Job<In: Keyed, O: Operator<In>> {
    subtasks: Vec<Chained<O, Seen<O::Out>>>,
    seen: Seen<O::Out>,
    row: std::marker::PhantomData<In>,
}

impl<In: Keyed, O: Operator<In>> Job<In, O>
where
    O::Out: Debug + Send,
{
    pub fn new(parallelism: u32, make: impl Fn() -> O) -> Self {
        Self::with_policy(parallelism, ErrorPolicy::Fail, make)
    }

    pub fn with_policy(parallelism: u32, on_error: ErrorPolicy, make: impl Fn() -> O) -> Self {
        Self::on(Backend::Memory, parallelism, on_error, make)
    }

    pub fn on(backend: Backend, parallelism: u32, on_error: ErrorPolicy, make: impl Fn() -> O) -> Self {
        let seen = Seen::default();
        let chain = |subtask| Chained::new(backend.of(context(subtask, parallelism, on_error)), make(), seen.clone());
        Job { subtasks: (0..parallelism).map(chain).collect(), seen, row: std::marker::PhantomData }
    }

    pub fn feed(&mut self, events: &[Event<In>]) {
        let parallelism = self.subtasks.len() as u32;
        for event in events {
            match event {
                Event::Row(row) => {
                    let subtask = subtask_of(row.key(), parallelism);
                    self.subtasks[subtask as usize].push(row.clone()).unwrap();
                }
                Event::Watermark(time) => self.subtasks.iter_mut().for_each(|s| s.watermark(Watermark(*time)).unwrap()),
                Event::Clock(now) => self.subtasks.iter_mut().for_each(|s| s.processing_time(*now).unwrap()),
                Event::EndOfBatch => self.subtasks.iter_mut().for_each(|s| s.end_of_batch().unwrap()),
            }
        }
    }

    pub fn finish(&mut self) {
        self.feed(&[Event::Watermark(i64::MAX)]);
        self.subtasks.iter_mut().for_each(|subtask| subtask.finish().unwrap());
    }

    /// What has come out since the last call, in order.
    pub fn take(&mut self) -> Vec<O::Out> {
        self.seen.take()
    }

    /// The watermarks that went on.
    pub fn watermarks(&self) -> Vec<i64> {
        self.seen.watermarks()
    }

    pub fn next_processing_time(&self) -> Option<i64> {
        self.subtasks.iter().filter_map(Stage::next_processing_time).min()
    }

    pub fn reports(&self) -> Vec<OperatorReport> {
        let mut reports = Vec::new();
        self.subtasks.iter().for_each(|subtask| subtask.report(&mut reports));
        reports
    }

    pub fn late(&self) -> u64 {
        self.reports().iter().map(|report| report.late).sum()
    }

    /// Not encoded yet, as when the engine's writer has not come to it.
    pub fn snapshot(&mut self) -> Vec<OperatorSnapshot> {
        self.snapshot_by(|| SnapshotBuilder::new(1))
    }

    /// The same in pieces: what has changed since the last one; 0: everything.
    pub fn pieces(&mut self, checkpoint: u64, since: u64) -> Vec<OperatorSnapshot> {
        self.snapshot_by(|| SnapshotBuilder::in_pieces(checkpoint, since))
    }

    fn snapshot_by(&mut self, builder: impl Fn() -> SnapshotBuilder) -> Vec<OperatorSnapshot> {
        let mut all = Vec::new();
        for subtask in &mut self.subtasks {
            let mut builder = builder();
            subtask.snapshot(&mut builder).unwrap();
            all.extend(builder.into_operators());
        }
        all
    }

    pub fn restore(&mut self, snapshot: &[(String, String, u16, Vec<u8>)]) {
        self.try_restore(snapshot).unwrap();
    }

    /// From this checkpoint, of which and of those before it these are the pieces.
    pub fn restore_pieces(&mut self, checkpoint: u64, entries: &[StateEntry]) {
        let bytes = encode_entries(entries);
        let mut state = StoredState::default();
        state.add(&DataFile::of("0000.state".into(), &bytes), &bytes, &Held::in_memory(bytes.clone())).unwrap();
        let groups = state.finish(checkpoint).unwrap().groups;
        let parallelism = self.subtasks.len() as u32;
        for (number, subtask) in self.subtasks.iter_mut().enumerate() {
            let range = KeyGroups::new(MAX_PARALLELISM).range(number as u32, parallelism);
            let mut restored = RestoredState::new();
            for StoredGroup { uid, state, schema, group, bytes } in groups.iter().filter(|of| range.contains(of.group)).cloned() {
                if let Some(bytes) = bytes.read().unwrap() {
                    check_layout(&schema, &bytes);
                }
                restored.add_stored(&uid, &state, &schema, group, bytes);
            }
            subtask.restore(&restored).unwrap();
        }
    }

    pub fn try_restore(&mut self, snapshot: &[(String, String, u16, Vec<u8>)]) -> Result<(), JobError> {
        let parallelism = self.subtasks.len() as u32;
        for (number, subtask) in self.subtasks.iter_mut().enumerate() {
            let range = KeyGroups::new(MAX_PARALLELISM).range(number as u32, parallelism);
            let mut restored = RestoredState::new();
            for (state, schema, group, bytes) in snapshot.iter().filter(|(_, _, group, _)| range.contains(*group)) {
                restored.add_group("op", state, schema, *group, bytes.clone());
            }
            subtask.restore(&restored)?;
        }
        Ok(())
    }
}

/// Writes a snapshot: (state, schema, key group, bytes).
pub fn encode(snapshot: Vec<OperatorSnapshot>) -> Vec<(String, String, u16, Vec<u8>)> {
    let mut all = Vec::new();
    for state in snapshot.into_iter().flat_map(|operator| operator.states) {
        let StateParts::Keyed(parts) = state.parts else { panic!("list state") };
        for part in parts {
            let mut bytes = Vec::new();
            part.part.encode(&mut bytes).unwrap();
            check_layout(&state.schema, &bytes);
            all.push((state.name.clone(), state.schema.clone(), part.group, bytes));
        }
    }
    all
}

/// Writes a checkpoint in pieces.
pub fn encode_pieces(snapshot: Vec<OperatorSnapshot>) -> Vec<StateEntry> {
    let mut entries = Vec::new();
    for state in snapshot.into_iter().flat_map(|operator| operator.states) {
        let StateParts::Pieces(parts) = state.parts else { panic!("no pieces") };
        for part in parts {
            let mut bytes = Vec::new();
            part.part.encode(&mut bytes).unwrap();
            let (state, schema) = (state.name.clone(), state.schema.clone());
            entries.push(StateEntry { uid: "op".into(), state, schema, subtask: 0, part: Part::Piece(part.group, bytes) });
        }
    }
    entries
}

/// Whoever reads a checkpoint without the types, to show or to convert it, walks by the schema.
fn check_layout(schema: &str, bytes: &[u8]) {
    let layout = Layout::parse(schema).unwrap_or_else(|| panic!("no schema: {schema}"));
    let mut cursor = Cursor::new(bytes);
    cursor.skip(&layout).unwrap_or_else(|_| panic!("{schema} is not what is stored: {bytes:?}"));
    assert_eq!(cursor.rest, [0; 0], "{schema} is not all that is stored");
}

/// The order between keys does not count.
pub fn sorted<T: Debug>(rows: Vec<T>) -> Vec<String> {
    let mut rows: Vec<String> = rows.into_iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}

/// Runs everything in one subtask.
pub fn run<In: Keyed, O: Operator<In>>(make: impl Fn() -> O, events: &[Event<In>]) -> Vec<O::Out>
where
    O::Out: Debug + Send,
{
    let mut job = Job::new(1, make);
    job.feed(events);
    job.finish();
    job.take()
}

/// Which rows a group has: (key, from, to, ids).
pub type Group = (i64, i64, i64, Vec<i64>);

/// Collects ids. Rows with id 13 fail.
pub struct Collect;

impl Aggregation for Collect {
    type In = Row;
    type Key = i64;
    type Acc = Vec<i64>;
    type Out = Group;

    fn key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.key)
    }
    fn time(&self, row: &Row) -> Result<Timestamp, EvalError> {
        Ok(Timestamp(row.time))
    }
    fn add(&self, acc: &mut Vec<i64>, row: &Row) -> Result<(), EvalError> {
        if row.id == 13 {
            return Err(EvalError::new("unlucky"));
        }
        acc.push(row.id);
        Ok(())
    }
    fn retract(&self, acc: &mut Vec<i64>, row: &Row) -> Result<(), EvalError> {
        if let Some(index) = acc.iter().position(|id| *id == row.id) {
            acc.remove(index);
        }
        Ok(())
    }
    fn merge(&self, acc: &mut Vec<i64>, other: &Vec<i64>) -> Result<(), EvalError> {
        acc.extend(other);
        Ok(())
    }
    fn output(&self, key: &i64, window: WindowBounds, acc: &Vec<i64>) -> Result<Group, EvalError> {
        if acc.contains(&666) {
            return Err(EvalError::new("no value"));
        }
        let mut ids = acc.clone();
        ids.sort();
        Ok((*key, window.start.0, window.end.0, ids))
    }
}

/// How often a property is tried; `PROPTEST_CASES` says otherwise.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(cases);
    proptest::test_runner::Config { cases, failure_persistence: None, ..Default::default() }
}
