//! What readers tell their enumerator counts once: also if it is on its way when a checkpoint is taken, behind the part of the
//! enumerator and before that of the reader.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use millstream::source::{
    EnumeratorContext, ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader, Split, SplitEnumerator,
};
use millstream::{BuildChain, BuildSource, ChainSpec, CheckpointConfig, Job, JobEnd, JobHandle, Restart, RunOptions};

use super::job::{Setup, job, output, wait_for};

/// Splits, each of which is given out when the one before it is told to be read.
const PARTS: u64 = 3;

#[derive(Clone, Debug, PartialEq, Record)]
struct Row {
    part: i64,
}

/// What the test and the source show each other.
#[derive(Debug, Default)]
struct Shared {
    /// The reader has read the first split and waits with the news for the enumerator's snapshot.
    at_end: AtomicBool,
    snapshots: AtomicU32,
    /// It does not wait any more.
    free: AtomicBool,
}

#[derive(Clone, Debug)]
struct Part(u64);

impl Split for Part {
    fn id(&self) -> String {
        self.0.to_string()
    }

    fn encode(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        bytes.try_into().map(|bytes| Part(u64::from_le_bytes(bytes))).map_err(|_| JobError::new("not a split"))
    }
}

struct Told(Arc<Shared>);

impl Source for Told {
    type Row = Row;
    type Split = Part;
    type Enumerator = Teller;
    type Reader = ToldReader;

    fn enumerator(&self, _context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Teller> {
        let read = restored.map_or(Ok(0), |bytes| Part::decode(bytes).map(|part| part.0))?;
        Ok(Teller { shared: self.0.clone(), read, given: restored.is_some(), back: None, waits: false })
    }

    fn reader(&self, _context: &ReaderContext) -> JobResult<ToldReader> {
        Ok(ToldReader { shared: self.0.clone(), part: None, no_more: false })
    }

    fn bounded(&self) -> bool {
        true
    }
}

struct Teller {
    shared: Arc<Shared>,
    /// So many splits are read.
    read: u64,
    /// The next one has been given out; at a restore it comes back, or the news that it is read does.
    given: bool,
    back: Option<Part>,
    waits: bool,
}

impl Teller {
    fn serve(&mut self, context: &mut EnumeratorContext<Part>) {
        if !self.waits {
        } else if self.read == PARTS {
            self.waits = false;
            context.no_more_splits(0);
        } else if let Some(part) = self.back.take().or_else(|| (!self.given).then_some(Part(self.read))) {
            (self.waits, self.given) = (false, true);
            context.assign(0, part);
        }
    }
}

impl SplitEnumerator<Part> for Teller {
    type Found = ();

    fn start(&mut self, _context: &mut EnumeratorContext<Part>) -> JobResult<()> {
        Ok(())
    }

    fn request(&mut self, _subtask: u32, context: &mut EnumeratorContext<Part>) -> JobResult<()> {
        self.waits = true;
        self.serve(context);
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<Part>, context: &mut EnumeratorContext<Part>) -> JobResult<()> {
        self.back = splits.into_iter().next();
        self.serve(context);
        Ok(())
    }

    fn source_event(&mut self, _subtask: u32, event: &[u8], context: &mut EnumeratorContext<Part>) -> JobResult<()> {
        let part = Part::decode(event)?.0;
        if part != self.read {
            return Err(JobError::new(format!("split {part} is read twice")));
        }
        (self.read, self.given) = (part + 1, false);
        self.serve(context);
        Ok(())
    }

    fn unassigned(&self) -> usize {
        usize::from(self.back.is_some())
    }

    fn snapshot(&self) -> Vec<u8> {
        self.shared.snapshots.fetch_add(1, SeqCst);
        Part(self.read).encode()
    }
}

struct ToldReader {
    shared: Arc<Shared>,
    part: Option<Part>,
    no_more: bool,
}

impl SourceReader for ToldReader {
    type Row = Row;
    type Split = Part;

    fn add_splits(&mut self, splits: Vec<Part>) -> JobResult<()> {
        self.part = splits.into_iter().next();
        Ok(())
    }

    fn no_more_splits(&mut self) {
        self.no_more = true;
    }

    fn poll(&mut self, _context: &mut Context<'_>, out: &mut impl SourceOutput<Row>) -> Poll<JobResult<ReaderStatus>> {
        let Some(part) = self.part.take() else {
            return Poll::Ready(Ok(if self.no_more { ReaderStatus::End } else { ReaderStatus::NeedsSplit }));
        };
        out.select_split(&part.id());
        out.emit(Row { part: i64::try_from(part.0).unwrap() })?;
        out.split_finished(&part.id());
        if !self.shared.free.swap(true, SeqCst) {
            let (before, deadline) = (self.shared.snapshots.load(SeqCst), Instant::now() + Duration::from_secs(60));
            self.shared.at_end.store(true, SeqCst);
            while self.shared.snapshots.load(SeqCst) == before && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        out.send_event(part.encode());
        Poll::Ready(Ok(ReaderStatus::More))
    }

    fn snapshot(&self) -> Vec<Part> {
        self.part.iter().cloned().collect()
    }
}

fn told() -> Job {
    let chain = ChainSpec {
        name: "rows",
        uids: &["rows/source/0", "sink/rows/file"],
        parallelism: Some(1),
        slot_group: "default",
        inputs: Vec::new(),
        build: BuildChain::new(|cx| {
            let options = Options::new().with("path", cx.params().get::<String>("output")?);
            let sink = cx.sink("sink/rows/file", "rows into file", <FileSink<Row, JsonFormat>>::from_options(&options)?)?;
            let config =
                SourceConfig { watermark: None::<fn(&Row) -> Result<Option<Timestamp>, EvalError>>, on_error: ErrorPolicy::Fail };
            let source = Told(cx.params().extension::<Shared>()?);
            cx.source("rows/source/0", "rows", source, config, sink)
        }),
        source: Some(BuildSource::new(|params| Ok(erase_source(Told(params.extension::<Shared>()?))))),
    };
    let block = CheckpointConfig::new(3_600_000_000, |_| Ok("unused".to_owned()));
    Job { checkpoint: Some(block), restart: Restart::None, chains: vec![chain], ..job() }
}

#[test]
fn what_a_reader_has_told_is_in_the_checkpoint_that_has_its_position() {
    let setup = Setup::new(1, 1);
    let shared = Arc::new(Shared::default());
    let options = || {
        let options = RunOptions::new().param("input", "unused").param("output", setup.path("out"));
        options.checkpoints(setup.path("checkpoints")).extension(shared.clone())
    };
    let handle = JobHandle::start(told(), options()).unwrap();
    wait_for("the end of the first split", || shared.at_end.load(SeqCst));
    // The enumerator's part comes first; then the reader tells it that the split is read, and takes its own part behind that.
    let taken = handle.checkpoint();
    if handle.kill() == Ok(JobEnd::Killed) {
        taken.unwrap();
        let mut handle = JobHandle::start(told(), options()).unwrap();
        assert_eq!(handle.wait_for(Duration::from_secs(60)), Some(Ok(JobEnd::Finished)), "it waits for the lost message");
    }
    assert_eq!(output(&setup.out()), ["{\"part\":0}", "{\"part\":1}", "{\"part\":2}"]);
}
