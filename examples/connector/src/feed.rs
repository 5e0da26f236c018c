//! Two connectors for a small web service: `poll` reads the partitions of its log, `batch` writes to its table, each row once.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` | how many partitions the log has |
//! | `GET /0?after=7&rows=100&wait=5000` | the rows of partition 0 behind the first 7, a line each; where there are none, it waits so many ms for some |
//! | `PUT /staged/ID` | keeps the rows of the body, which nobody sees |
//! | `POST /commit/ID?checkpoint=3` | shows the rows that were kept under `ID`; a second time it changes nothing |
//! | `POST /discard?after=3` | forgets what is kept, but for the ids in the body, and what was committed by later checkpoints |
//! | `GET /table` | the rows that can be seen |

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::marker::PhantomData;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use millstream::formats::{Decoder, Encoder};
use millstream::operator::ErrorRow;
use millstream::prelude::*;
use millstream::sink::{CommitRequest, Committer, Sink, SinkContext, SinkStart, SinkWriter};
use millstream::source::fetch::{Emitter, Fetched, FetchingReader, SplitFetcher};
use millstream::source::{ReaderContext, Source, SourceContext, SourceOutput, Split, StaticEnumerator};

/// A fetcher looks up from its work at least so often.
const GLANCE: std::time::Duration = std::time::Duration::from_millis(100);
/// How long the service may take where it need not wait for rows.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Asks a web service for new rows, and waits there until it has some (long polling).
///
/// Each partition of its log is a split. Rows are read on from where the last checkpoint was.
#[derive(Clone, Debug, Connector)]
#[flow(replayable)]
pub struct Poll {
    /// Address of the service: `http://example.org:9000`.
    pub url: String,
    /// How long the service may wait for rows before it says that there are none.
    #[flow(default = "30s")]
    pub wait: Duration,
    /// Rows per answer, at most.
    #[flow(default = 1000)]
    pub rows: u32,
    /// Ends a partition when it has no more rows, instead of waiting for new ones.
    #[flow(default = false)]
    pub drain: bool,
}

impl SourceConnector for Poll {
    type Source<T: Record, F: Format> = PollSource<T, F>;

    fn source<T: Record, F: Format>(self, format: F) -> JobResult<PollSource<T, F>> {
        Ok(PollSource { options: self, format, row: PhantomData })
    }
}

/// The source that `poll` makes.
#[derive(Clone, Debug)]
pub struct PollSource<T, F> {
    options: Poll,
    format: F,
    row: PhantomData<fn() -> T>,
}

/// A split: a partition of the log, and how many of its rows have been emitted.
#[derive(Clone, Debug)]
pub struct Partition {
    number: u32,
    position: u64,
}

impl Split for Partition {
    fn id(&self) -> String {
        self.number.to_string()
    }

    fn encode(&self) -> Vec<u8> {
        format!("{} {}", self.number, self.position).into_bytes()
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let text = std::str::from_utf8(bytes).ok().and_then(|text| text.split_once(' '));
        let parsed = text.and_then(|(number, position)| Some((number.parse().ok()?, position.parse().ok()?)));
        let (number, position) = parsed.ok_or_else(|| JobError::new("the split of a partition is damaged"))?;
        Ok(Partition { number, position })
    }
}

impl<T: Record, F: Format> Source for PollSource<T, F> {
    type Row = T;
    type Split = Partition;
    type Enumerator = StaticEnumerator<Partition>;
    type Reader = FetchingReader<RowEmitter<T, F>>;

    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Self::Enumerator> {
        // Nobody is ever through with a partition: each reader gets its share of them at the start.
        if let Some(bytes) = restored {
            return Ok(StaticEnumerator::restore(bytes)?.dealt(context.parallelism));
        }
        let answer = ask(&self.options.url, "GET", "/", "")?;
        let count: u32 = answer
            .trim()
            .parse()
            .map_err(|_| JobError::new(format!("`{}` does not say how many partitions it has: {answer:?}", self.options.url)))?;
        Ok(StaticEnumerator::new((0..count).map(|number| Partition { number, position: 0 })).dealt(context.parallelism))
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader> {
        let options = self.options.clone();
        let poller = move || Ok(Poller { options: options.clone(), split: None, asked: None, paused: false });
        Ok(FetchingReader::start_each(&context.name, poller, RowEmitter { format: self.format.clone(), row: PhantomData }))
    }

    fn bounded(&self) -> bool {
        self.options.drain
    }
}

/// The blocking half: asks for the rows of one partition, on a thread of its own.
struct Poller {
    options: Poll,
    split: Option<(Arc<str>, Partition)>,
    /// The request that is on its way.
    asked: Option<Exchange>,
    paused: bool,
}

/// Rows as lines, and where the next one to be emitted begins.
pub struct Lines {
    text: String,
    next: usize,
}

impl SplitFetcher for Poller {
    type Split = Partition;
    type Chunk = Lines;

    fn add(&mut self, split: Partition) -> JobResult<()> {
        self.split = Some((split.id().into(), split));
        Ok(())
    }

    fn fetch(&mut self) -> JobResult<Fetched<Lines>> {
        let Some((id, partition)) = self.split.as_mut().filter(|_| !self.paused) else {
            return Ok(Fetched::Nothing(GLANCE));
        };
        let Poll { url, wait, rows, drain } = &self.options;
        let exchange = match &mut self.asked {
            Some(exchange) => exchange,
            none => {
                let wait = if *drain { 0 } else { wait.0 / 1000 };
                let path = format!("/{id}?after={}&rows={rows}&wait={wait}", partition.position);
                none.insert(Exchange::begin(url, "GET", &path, "").map_err(|error| failed(url, &error))?)
            }
        };
        let Some(answer) = exchange.glance().map_err(|error| failed(url, &error))? else {
            return Ok(Fetched::Nothing(std::time::Duration::ZERO));
        };
        self.asked = None;
        let text = answer.rows(url)?;
        if text.is_empty() {
            return Ok(if *drain { Fetched::End(id.clone()) } else { Fetched::Nothing(std::time::Duration::ZERO) });
        }
        partition.position += text.lines().count() as u64;
        Ok(Fetched::Chunk(id.clone(), Lines { text, next: 0 }))
    }

    fn set_paused(&mut self, _split: &str, paused: bool) {
        self.paused = paused;
    }
}

/// The half on the task: makes rows of lines, and moves the partition's position along.
#[derive(Debug)]
pub struct RowEmitter<T, F> {
    format: F,
    row: PhantomData<fn() -> T>,
}

impl<T: Record, F: Format> Emitter for RowEmitter<T, F> {
    type Row = T;
    type Split = Partition;
    type Chunk = Lines;
    type State = F::Decoder<T>;

    fn begin(&mut self, _split: &Partition) -> JobResult<F::Decoder<T>> {
        self.format.decoder(None)
    }

    fn emit(
        &mut self,
        decoder: &mut F::Decoder<T>,
        chunk: &mut Lines,
        split: &mut Partition,
        limit: usize,
        out: &mut impl SourceOutput<T>,
    ) -> JobResult<bool> {
        let begin = chunk.next;
        for line in chunk.text[begin..].split_inclusive('\n').take(limit) {
            chunk.next += line.len();
            let record = line.trim_end().as_bytes();
            let here = || ErrorRow { position: i64::try_from(split.position).ok(), ..ErrorRow::default() }.with_raw(record);
            match decoder.decode(record) {
                Ok(Some(row)) => out.emit_record(row, here)?,
                Ok(None) => {}
                Err(error) => {
                    let message = || format!("partition {} row {}: {error}", split.number, split.position);
                    out.reject_record(error.reason(), message, || ErrorRow { error: error.to_string().into(), ..here() })?;
                }
            }
            split.position += 1;
        }
        out.bytes_read((chunk.next - begin) as u64);
        Ok(chunk.next == chunk.text.len())
    }
}

/// Sends rows to the table of a web service, each once.
///
/// Rows are kept there until the checkpoint that they belong to is complete; then all of them can be seen.
#[derive(Clone, Debug, Connector)]
#[flow(exactly_once)]
pub struct Batch {
    /// Address of the service: `http://example.org:9000`.
    pub url: String,
    /// Rows per request, at most.
    #[flow(default = 500)]
    pub rows: u32,
}

impl SinkConnector for Batch {
    type Sink<T: Record, F: Format> = BatchSink<T, F>;

    fn sink<T: Record, F: Format>(self, format: F) -> JobResult<BatchSink<T, F>> {
        Ok(BatchSink { options: self, format, row: PhantomData })
    }
}

/// The sink that `batch` makes.
#[derive(Clone, Debug)]
pub struct BatchSink<T, F> {
    options: Batch,
    format: F,
    row: PhantomData<fn(T)>,
}

impl<T: Record, F: Format> Sink<T> for BatchSink<T, F> {
    type Writer = BatchWriter<F::Encoder<T>>;

    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer> {
        Ok(BatchWriter { batches: Batches::new(&self.options, context), encoder: self.format.encoder()? })
    }

    fn committer(&self, _context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        Ok(Some(self.options.committer()))
    }
}

impl Batch {
    /// Shows what was staged.
    pub fn committer(&self) -> Box<dyn Committer> {
        Box::new(BatchCommitter { url: self.url.clone() })
    }
}

/// Makes lines of rows.
#[derive(Debug)]
pub struct BatchWriter<E> {
    batches: Batches,
    encoder: E,
}

impl<T, E: Encoder<T>> SinkWriter<T> for BatchWriter<E> {
    fn write(&mut self, row: T) -> JobResult<()> {
        self.encoder.encode(&row, self.batches.next());
        Ok(())
    }

    fn prepare_commit(&mut self, _checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        self.batches.stage()
    }
}

/// Collects the lines of a checkpoint, and stages them when it comes.
#[derive(Debug)]
pub struct Batches {
    options: Batch,
    /// A random number: no other writer, of this attempt or of one before, has the same ids.
    writer: u64,
    batches: Vec<Vec<u8>>,
    /// In the last of them.
    rows: u32,
    sent: u64,
}

impl Batches {
    /// Those of one writer.
    pub fn new(options: &Batch, context: &SinkContext) -> Self {
        let writer = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), (&context.uid, context.subtask));
        Batches { options: options.clone(), writer, batches: Vec::new(), rows: 0, sent: 0 }
    }

    /// Where the next line goes.
    pub fn next(&mut self) -> &mut Vec<u8> {
        if self.batches.is_empty() || self.rows >= self.options.rows {
            self.batches.push(Vec::new());
            self.rows = 0;
        }
        self.rows += 1;
        let last = self.batches.len() - 1;
        &mut self.batches[last]
    }

    /// Sends all of them, and gives their ids.
    pub fn stage(&mut self) -> JobResult<Vec<Vec<u8>>> {
        let mut staged = Vec::new();
        for batch in std::mem::take(&mut self.batches) {
            let id = format!("{:016x}-{}", self.writer, self.sent);
            self.sent += 1;
            ask(&self.options.url, "PUT", &format!("/staged/{id}"), &String::from_utf8_lossy(&batch))?;
            staged.push(id.into_bytes());
        }
        Ok(staged)
    }
}

struct BatchCommitter {
    url: String,
}

impl Committer for BatchCommitter {
    fn start(&mut self, start: &SinkStart) -> JobResult<()> {
        if *start == SinkStart::Fresh && !ask(&self.url, "GET", "/table", "")?.is_empty() {
            return Err(JobError::new(format!("the table of `{}` has rows already", self.url)));
        }
        Ok(())
    }

    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()> {
        for request in requests {
            let id = String::from_utf8_lossy(request.committable()).into_owned();
            let path = format!("/commit/{id}?checkpoint={}", request.checkpoint());
            match ask(&self.url, "POST", &path, "").as_deref() {
                Ok("known") => request.already_committed(),
                Ok(_) => {}
                Err(error) => request.retry_later(error.to_string()),
            }
        }
        Ok(())
    }

    fn discard_unknown(&mut self, start: &SinkStart, waiting: &[Vec<u8>]) -> JobResult<()> {
        let after = match start {
            SinkStart::Fresh => 0,
            SinkStart::Resumed { checkpoint } => *checkpoint,
        };
        let waiting: Vec<_> = waiting.iter().map(|id| String::from_utf8_lossy(id)).collect();
        ask(&self.url, "POST", &format!("/discard?after={after}"), &waiting.join("\n")).map(drop)
    }
}

/// Asks the service, and waits for its answer.
pub fn ask(url: &str, method: &str, path: &str, body: &str) -> JobResult<String> {
    let begun = Instant::now();
    let mut exchange = Exchange::begin(url, method, path, body).map_err(|error| failed(url, &error))?;
    while begun.elapsed() < PATIENCE {
        if let Some(answer) = exchange.glance().map_err(|error| failed(url, &error))? {
            return answer.rows(url);
        }
    }
    Err(JobError::transient(format!("`{url}` does not answer `{method} {path}`")))
}

fn failed(url: &str, error: &io::Error) -> JobError {
    match error.kind() {
        ErrorKind::InvalidInput => JobError::new(format!("`{url}` is no address of a service: {error}")),
        // The job's restart strategy says how often it is tried again.
        _ => JobError::transient(format!("the service at `{url}` fails: {error}")),
    }
}

/// One request on a connection of its own: as little of HTTP as this service needs.
struct Exchange {
    stream: TcpStream,
    received: Vec<u8>,
}

struct Answer {
    status: u16,
    body: String,
}

impl Answer {
    fn rows(self, url: &str) -> JobResult<String> {
        match self.status {
            200 => Ok(self.body),
            status => Err(JobError::transient(format!("`{url}` answers {status}: {}", self.body.trim()))),
        }
    }
}

impl Exchange {
    fn begin(url: &str, method: &str, path: &str, body: &str) -> io::Result<Exchange> {
        let host = url.strip_prefix("http://").map(|host| host.trim_end_matches('/'));
        let host = host.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "it begins with http://"))?;
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(GLANCE))?;
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes())?;
        Ok(Exchange { stream, received: Vec::new() })
    }

    /// The answer, if it has come; waits a moment for more of it.
    fn glance(&mut self) -> io::Result<Option<Answer>> {
        let mut buffer = [0; 16 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "it closes the connection in the middle of an answer")),
            Ok(count) => self.received.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        let Some(end) = self.received.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
        let head = String::from_utf8_lossy(&self.received[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).and_then(|text| text.trim().parse().ok());
        let body = &self.received[end + 4..];
        let length: usize = length.unwrap_or(0);
        if body.len() < length {
            return Ok(None);
        }
        Ok(Some(Answer { status, body: String::from_utf8_lossy(&body[..length]).into_owned() }))
    }
}
