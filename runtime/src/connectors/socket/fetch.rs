//! Connects to a server, cuts what it sends into records, and connects again when the connection ends.

use std::io::{ErrorKind, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::source::SocketSplit;
use crate::connectors::file::Chunk;
use crate::error::{JobError, JobResult};
use crate::formats::{Framer, Framing};
use crate::notice::notice;
use crate::source::Split;
use crate::source::fetch::{Fetched, SplitFetcher};

/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a read waits for bytes.
const PATIENCE: Duration = Duration::from_millis(100);

/// The first wait after a failed attempt; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(50);

const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Bytes that are read at once.
const READ: usize = 64 * 1024;

/// A longer record is taken for something that is no text.
const LONGEST_RECORD: usize = 64 * 1024 * 1024;

/// Reads from one server.
#[derive(Debug)]
pub(crate) struct SocketFetcher {
    name: String,
    framing: Framing,
    has_header: bool,
    give_up_after: Duration,
    /// The server, which is also the id of the split.
    address: Option<Arc<str>>,
    connection: Option<Connection>,
    paused: bool,
    /// Bytes of earlier connections: positions in messages count from the start of the job.
    position: u64,
    retry: Retry,
}

/// An open connection.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    framer: Framer,
    /// Read and not yet handed over; starts with a record.
    carry: Vec<u8>,
    header: Option<Vec<u8>>,
    needs_header: bool,
}

/// When to try again, and until when.
#[derive(Debug)]
struct Retry {
    wait: Duration,
    next: Instant,
    /// Since when there is no connection; None: there is one.
    since: Option<Instant>,
    attempts: u32,
}

impl SocketFetcher {
    pub(crate) fn new(name: &str, framing: Framing, has_header: bool, give_up_after: Duration) -> Self {
        let now = Instant::now();
        SocketFetcher {
            name: name.to_owned(),
            framing,
            has_header,
            give_up_after,
            address: None,
            connection: None,
            paused: false,
            position: 0,
            retry: Retry { wait: FIRST_WAIT, next: now, since: None, attempts: 0 },
        }
    }

    /// Tries to connect, if it is time to. Gives how long to wait otherwise.
    fn connect(&mut self, address: &str) -> JobResult<Option<Duration>> {
        let now = Instant::now();
        if now < self.retry.next {
            return Ok(Some((self.retry.next - now).min(PATIENCE)));
        }
        match open(address) {
            Ok(stream) => {
                if self.retry.attempts > 0 {
                    notice(&format!("{}: connected to `{address}`", self.name));
                }
                self.connection = Some(Connection {
                    stream,
                    framer: Framer::new(self.framing),
                    carry: Vec::new(),
                    header: None,
                    needs_header: self.has_header,
                });
                Ok(None)
            }
            Err(error) => self.lost(address, &format!("cannot connect to `{address}`: {error}")).map(Some),
        }
    }

    /// There is no connection: says so once, and when too much time has passed that is an error. Gives how long to wait.
    fn lost(&mut self, address: &str, why: &str) -> JobResult<Duration> {
        let now = Instant::now();
        self.connection = None;
        self.retry.attempts += 1;
        let since = *self.retry.since.get_or_insert(now);
        if now - since >= self.give_up_after {
            let (seconds, attempts) = (self.give_up_after.as_secs_f32(), self.retry.attempts);
            return Err(JobError::transient(format!(
                "{why}\n  {attempts} attempts within {seconds:.0} s (`give_up_after`); is a server listening on `{address}`?"
            )));
        }
        if self.retry.attempts == 1 {
            notice(&format!("{}: {why}; trying again for {:.0} s", self.name, self.give_up_after.as_secs_f32()));
        }
        let wait = self.retry.wait;
        self.retry.wait = (wait * 2).min(LONGEST_WAIT);
        self.retry.next = now + wait;
        Ok(wait.min(PATIENCE))
    }
}

fn open(address: &str) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl SplitFetcher for SocketFetcher {
    type Split = SocketSplit;
    type Chunk = Chunk;

    fn add(&mut self, split: SocketSplit) -> JobResult<()> {
        self.address = Some(split.id().into());
        Ok(())
    }

    fn fetch(&mut self) -> JobResult<Fetched<Chunk>> {
        let Some(id) = self.address.clone() else { return Ok(Fetched::Nothing(PATIENCE)) };
        if self.paused {
            // The server is not read from: what it sends waits in the connection.
            return Ok(Fetched::Nothing(PATIENCE));
        }
        let address: &str = &id;
        if self.connection.is_none()
            && let Some(wait) = self.connect(address)?
        {
            return Ok(Fetched::Nothing(wait));
        }
        let Some(connection) = &mut self.connection else { return Ok(Fetched::Nothing(PATIENCE)) };
        let before = connection.carry.len();
        connection.carry.resize(before + READ, 0);
        let read = connection.stream.read(&mut connection.carry[before..]);
        connection.carry.truncate(before + read.as_ref().copied().unwrap_or(0));
        let ended = match &read {
            Ok(0) => Some(format!("`{address}` has closed the connection")),
            Ok(_) => None,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {
                return Ok(Fetched::Nothing(Duration::ZERO));
            }
            Err(error) => Some(format!("the connection to `{address}` is lost: {error}")),
        };
        // What was closed in good order ends with a whole record; what broke off does not.
        let chunk = connection.records(self.position, matches!(read, Ok(0)));
        if connection.carry.len() > LONGEST_RECORD {
            return Err(JobError::new(format!(
                "`{address}`: a record is longer than 64 MB; does it send text of this format, with a line break behind each record?"
            )));
        }
        self.position = chunk.base + chunk.bytes.len() as u64;
        if matches!(read, Ok(1..)) {
            self.retry = Retry { wait: FIRST_WAIT, next: Instant::now(), since: None, attempts: 0 };
        }
        if let Some(why) = ended {
            let cut = if connection.carry.is_empty() || matches!(read, Ok(0)) { "" } else { ", in the middle of a record" };
            self.lost(address, &format!("{why}{cut}"))?;
        }
        Ok(if chunk.records.is_empty() { Fetched::Nothing(Duration::ZERO) } else { Fetched::Chunk(id, chunk) })
    }

    fn set_paused(&mut self, _split: &str, paused: bool) {
        self.paused = paused;
    }
}

impl Connection {
    /// The whole records that are there. `closed`: nothing follows, so that a record without its line break is whole.
    fn records(&mut self, base: u64, closed: bool) -> Chunk {
        let bytes = std::mem::take(&mut self.carry);
        let mut chunk = Chunk { base, ..Chunk::default() };
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            let Some(frame) = self.framer.next(rest).or_else(|| if closed { self.framer.rest(rest) } else { None }) else {
                break;
            };
            if std::mem::take(&mut self.needs_header) {
                self.header = Some(bytes[at..at + frame.length].to_vec());
            } else {
                let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
                chunk.records.push((place(at), place(frame.length)));
            }
            at += frame.consumed;
        }
        self.carry.extend_from_slice(&bytes[at..]);
        if !chunk.records.is_empty() {
            chunk.header = self.header.clone();
        }
        chunk.bytes = bytes;
        chunk.bytes.truncate(at);
        chunk
    }
}
