//! Rust of the user's own that panics at work, wherever that is: the message has its file and line, and the job's restart strategy decides.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{assert_success, build, fresh_folder};

/// All rows below a folder, as they are written, in order.
fn rows(folder: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    for file in std::fs::read_dir(folder).into_iter().flatten().map(|file| file.expect("a file").path()) {
        if file.extension().is_some_and(|extension| extension == "json") {
            rows.extend(std::fs::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned));
        }
    }
    rows.sort_by_key(|row| (row.len(), row.clone()));
    rows
}

const PANICS: &str = r#"job panics { checkpoint: every 50ms to "checkpoints", restart: fixed(2, 10ms), parallelism: 1 }

use rust "panics.rs"

source rows: Row from file { path: "rows.jsonl", format: json }

stream by_function = rows | select { id, y: by_function(id) }
stream by_async = rows | select { id, y: by_async(id) }
stream by_operator = rows | process by id ByOperator
stream by_aggregate = rows | @ttl(never) aggregate by id { id, y: by_aggregate(id) } | final

sink by_function into file { path: "out/by_function", format: json }
sink by_async into file { path: "out/by_async", format: json }
sink by_operator into file { path: "out/by_operator", format: json }
sink by_aggregate into file { path: "out/by_aggregate", format: json }
sink rows into by_sink {}

record Number { id: int64 }
source numbers: Number from numbers {}
stream by_source = numbers | select { id, y: id }
sink by_source into file { path: "out/by_source", format: json }
"#;

const PANICS_RS: &str = r#"use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millstream::formats::Decoder;
use millstream::prelude::*;
use millstream::sink::{CommitRequest, Committer, Sink, SinkContext, SinkStart, SinkWriter};
use millstream::source::fetch::{Emitter, Fetched, FetchingReader, SplitFetcher};
use millstream::source::{
    EnumeratorContext, ReaderContext, Source, SourceContext, SourceOutput, Split, SplitEnumerator, StaticEnumerator,
};

#[derive(Clone, Debug, Record)]
pub struct Row {
    pub id: i64,
}

#[derive(Clone, Debug, Record)]
pub struct Answer {
    pub id: i64,
    pub y: i64,
}

static DONE: AtomicBool = AtomicBool::new(false);

/// Whether it is somebody's turn to panic: once in this process, or always.
fn is_turn(who: &str) -> bool {
    let var = |name| std::env::var(name).unwrap_or_default();
    var("WHO") == who && (var("ALWAYS") == "yes" || !DONE.swap(true, Ordering::SeqCst))
}

#[function]
pub fn by_function(id: i64) -> i64 {
    if is_turn("function") {
        panic!("the function gave up"); // function
    }
    id
}

#[function]
pub async fn by_async(id: i64) -> i64 {
    sleep(Duration(1_000)).await;
    if is_turn("async") {
        panic!("the async function gave up"); // async
    }
    id
}

pub struct ByOperator;

#[operator]
impl Process for ByOperator {
    type Input = Row;
    type Output = Answer;

    fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if is_turn("operator") {
            let empty: Vec<i64> = Vec::new();
            let index = usize::try_from(row.id.abs()).unwrap_or_default();
            cx.emit(Answer { id: row.id, y: empty[index] }); // operator
        }
        cx.emit(Answer { id: row.id, y: row.id });
        Ok(())
    }
}

#[derive(Clone, Debug, Default, State)]
pub struct ByAggregate {
    total: i64,
}

#[aggregate]
impl Accumulator for ByAggregate {
    type Input = i64;
    type Output = i64;

    fn add(&mut self, value: i64) -> Result<(), EvalError> {
        if is_turn("aggregate") {
            panic!("the aggregate gave up"); // aggregate
        }
        self.total += value;
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        self.total += other.total;
        Ok(())
    }

    fn finish(&self) -> Result<Option<i64>, EvalError> {
        Ok(Some(self.total))
    }
}

/// Takes rows and keeps none.
#[derive(Connector)]
pub struct BySink {}

impl SinkConnector for BySink {
    type Sink<T: Record, F: Format> = Nowhere;

    fn sink<T: Record, F: Format>(self, _: F) -> JobResult<Nowhere> {
        Ok(Nowhere)
    }
}

pub struct Nowhere;

impl<T: Record> Sink<T> for Nowhere {
    type Writer = Nowhere;

    fn writer(&self, _: &SinkContext) -> JobResult<Nowhere> {
        Ok(Nowhere)
    }

    fn committer(&self, _: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        if is_turn("making") {
            panic!("there is no committer"); // making
        }
        Ok(Some(Box::new(Nowhere)))
    }
}

impl Committer for Nowhere {
    fn start(&mut self, _: &SinkStart) -> JobResult<()> {
        if is_turn("start") {
            panic!("the committer could not start"); // start
        }
        Ok(())
    }

    fn discard_unknown(&mut self, _: &SinkStart, _: &[Vec<u8>]) -> JobResult<()> {
        if is_turn("discard") {
            panic!("the committer could not clean up"); // discard
        }
        Ok(())
    }

    fn finish(&mut self) -> JobResult<()> {
        if is_turn("finish") {
            panic!("the committer could not finish"); // finish
        }
        Ok(())
    }

    fn commit(&mut self, _: &mut [CommitRequest]) -> JobResult<()> {
        if is_turn("committer") {
            panic!("the committer gave up"); // committer
        }
        Ok(())
    }
}

impl<T: Record> SinkWriter<T> for Nowhere {
    fn write(&mut self, _: T) -> JobResult<()> {
        if is_turn("sink") {
            panic!("the sink gave up"); // sink
        }
        Ok(())
    }

    fn prepare_commit(&mut self, _: u64) -> JobResult<Vec<Vec<u8>>> {
        if is_turn("stage") {
            panic!("the writer could not stage"); // stage
        }
        Ok(vec![vec![1]])
    }
}

/// The numbers from 1 to 50.
#[derive(Clone, Connector)]
#[flow(replayable, bounded)]
pub struct Numbers {}

impl SourceConnector for Numbers {
    type Source<T: Record, F: Format> = NumberSource<T, F>;

    fn source<T: Record, F: Format>(self, format: F) -> JobResult<NumberSource<T, F>> {
        if is_turn("source") {
            panic!("there is no source"); // source
        }
        Ok(NumberSource { format, row: PhantomData })
    }
}

pub struct NumberSource<T, F> {
    format: F,
    row: PhantomData<fn() -> T>,
}

/// So many of them have been emitted.
#[derive(Clone, Debug)]
pub struct Behind(u64);

impl Split for Behind {
    fn id(&self) -> String {
        "all".to_owned()
    }

    fn encode(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let bytes = bytes.try_into().map_err(|_| JobError::new("eight bytes"))?;
        Ok(Behind(u64::from_le_bytes(bytes)))
    }
}

impl<T: Record, F: Format> Source for NumberSource<T, F> {
    type Row = T;
    type Split = Behind;
    type Enumerator = Deals;
    type Reader = FetchingReader<Rows<T, F>>;

    fn enumerator(&self, _: &SourceContext, restored: Option<&[u8]>) -> JobResult<Deals> {
        Ok(Deals(match restored {
            Some(bytes) => StaticEnumerator::restore(bytes)?,
            None => StaticEnumerator::new([Behind(0)]),
        }))
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader> {
        FetchingReader::start(&context.name, Fetches(None), Rows { format: self.format.clone(), row: PhantomData })
    }

    fn bounded(&self) -> bool {
        true
    }
}

pub struct Deals(StaticEnumerator<Behind>);

impl SplitEnumerator<Behind> for Deals {
    type Found = ();

    fn start(&mut self, context: &mut EnumeratorContext<Behind>) -> JobResult<()> {
        self.0.start(context)
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<Behind>) -> JobResult<()> {
        if is_turn("enumerator") {
            panic!("the enumerator gave up"); // enumerator
        }
        self.0.request(subtask, context)
    }

    fn add_splits_back(&mut self, splits: Vec<Behind>, context: &mut EnumeratorContext<Behind>) -> JobResult<()> {
        self.0.add_splits_back(splits, context)
    }

    fn unassigned(&self) -> usize {
        if is_turn("unassigned") {
            panic!("the enumerator cannot count"); // unassigned
        }
        SplitEnumerator::unassigned(&self.0)
    }

    fn snapshot(&self) -> Vec<u8> {
        if is_turn("snapshot") {
            panic!("the enumerator keeps nothing"); // snapshot
        }
        self.0.snapshot()
    }
}

pub struct Fetches(Option<Behind>);

impl SplitFetcher for Fetches {
    type Split = Behind;
    type Chunk = u64;

    fn add(&mut self, split: Behind) -> JobResult<()> {
        self.0 = Some(split);
        Ok(())
    }

    fn fetch(&mut self) -> JobResult<Fetched<u64>> {
        let Some(split) = &mut self.0 else { return Ok(Fetched::Nothing(std::time::Duration::from_millis(10))) };
        if split.0 == 50 {
            self.0 = None;
            return Ok(Fetched::End(Arc::from("all")));
        }
        if split.0 == 25 && is_turn("fetcher") {
            panic!("the fetcher gave up"); // fetcher
        }
        split.0 += 1;
        Ok(Fetched::Chunk(Arc::from("all"), split.0))
    }

    fn set_paused(&mut self, _: &str, _: bool) {}
}

pub struct Rows<T, F> {
    format: F,
    row: PhantomData<fn() -> T>,
}

impl<T: Record, F: Format> Emitter for Rows<T, F> {
    type Row = T;
    type Split = Behind;
    type Chunk = u64;
    type State = F::Decoder<T>;

    fn begin(&mut self, _: &Behind) -> JobResult<F::Decoder<T>> {
        self.format.decoder(None)
    }

    fn emit(
        &mut self,
        decoder: &mut F::Decoder<T>,
        number: &mut u64,
        split: &mut Behind,
        _: usize,
        out: &mut impl SourceOutput<T>,
    ) -> JobResult<bool> {
        if *number == 30 && is_turn("reader") {
            panic!("the reader gave up"); // reader
        }
        let row = decoder.decode(format!("{{\"id\":{number}}}").as_bytes());
        if let Some(row) = row.map_err(|error| JobError::new(error.to_string()))? {
            out.emit(row)?;
        }
        split.0 = *number;
        Ok(true)
    }
}
"#;

#[test]
fn a_panic_has_its_line_and_restarts_the_job_whoever_panics() {
    let folder = fresh_folder("panics");
    let flow = folder.join("panics.flow");
    std::fs::write(&flow, PANICS).expect("written");
    std::fs::write(folder.join("panics.rs"), PANICS_RS).expect("written");
    std::fs::write(folder.join("rows.jsonl"), (1..=50).map(|id| format!("{{\"id\":{id}}}\n")).collect::<String>())
        .expect("written");
    let binary = build(&flow, &folder);
    let run = |who: &str, always: &str| -> (Output, String) {
        for gone in ["out", "checkpoints"] {
            let _ = std::fs::remove_dir_all(folder.join(gone));
        }
        let output =
            Command::new(&binary).current_dir(&folder).env("WHO", who).env("ALWAYS", always).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, said)
    };
    let expected: Vec<String> = (1..=50).map(|id| format!("{{\"id\":{id},\"y\":{id}}}")).collect();
    let in_tasks = ["function", "async", "operator", "aggregate", "sink", "stage", "fetcher", "reader"];
    // On threads of the coordinator.
    let beside = ["source", "making", "start", "discard", "committer", "finish", "enumerator", "unassigned", "snapshot"];
    for who in in_tasks.into_iter().chain(beside) {
        let (output, said) = run(who, "no");
        assert_success(&output, who);
        let line = 1 + PANICS_RS.lines().position(|line| line.ends_with(&format!("// {who}"))).expect("it is there");
        let place = format!("panics.rs:{line}:");
        // Of the whole job, or of the region that it is in: `attempt 1 failed`, `failed in its attempt 1`.
        let told = said.lines().find(|line| line.contains("attempt 1") && line.contains("failed")).unwrap_or_default();
        assert!(told.contains("panicked") && told.contains(&place), "{who} at {place}: {said}");
        for name in ["by_function", "by_async", "by_operator", "by_aggregate", "by_source"] {
            assert_eq!(rows(&folder.join("out").join(name)), expected, "{who}: {name}");
        }
        // Two restarts, and no third.
        let (output, said) = run(who, "yes");
        assert!(!output.status.success() && said.contains(&place), "{who}: {said}");
        assert!(said.contains("attempt 3") && !said.contains("attempt 4"), "{who}: {said}");
    }
}
