//! The source of the connector `socket`: one split, the connection, which the first reader gets.

use std::marker::PhantomData;
use std::time::Duration;

use super::fetch::SocketFetcher;
use crate::bytes::{Reader, put_str};
use crate::connectors::emitter::{RecordEmitter, RecordSplit};
use crate::connectors::format_of;
use crate::error::{JobError, JobResult};
use crate::formats::Format;
use crate::options::Options;
use crate::record::Record;
use crate::source::fetch::FetchingReader;
use crate::source::{ReaderContext, Source, SourceContext, Split, StaticEnumerator};

/// Reads rows of type `T` in the format `F` from a TCP server.
#[derive(Clone, Debug)]
pub struct SocketSource<T, F> {
    address: String,
    give_up_after: Duration,
    rate: Option<u64>,
    format: F,
    row: PhantomData<fn() -> T>,
}

impl<T: Record, F: Format> SocketSource<T, F> {
    /// See the connector's options.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        let address = options.required_text("address")?.trim().to_owned();
        let port = address.rsplit_once(':').and_then(|(host, port)| port.parse::<u16>().ok().filter(|_| !host.is_empty()));
        if port.is_none() {
            return Err(JobError::new(format!("`{address}` is no address: write host and port, such as `127.0.0.1:9000`")));
        }
        Ok(SocketSource {
            address,
            give_up_after: options.every("give_up_after")?.unwrap_or(Duration::from_secs(300)),
            rate: options.unsigned("rate")?,
            format: format_of(options)?,
            row: PhantomData,
        })
    }
}

impl<T: Record, F: Format> Source for SocketSource<T, F> {
    type Row = T;
    type Split = SocketSplit;
    type Enumerator = StaticEnumerator<SocketSplit>;
    type Reader = FetchingReader<RecordEmitter<T, F, SocketSplit>>;

    fn enumerator(&self, _context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Self::Enumerator> {
        match restored {
            Some(bytes) => StaticEnumerator::restore(bytes),
            None => Ok(StaticEnumerator::new([SocketSplit { address: self.address.clone() }])),
        }
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader> {
        let emitter = RecordEmitter::new(self.format.clone(), self.rate, context.throttle.clone());
        let fetcher = SocketFetcher::new(&context.name, self.format.framing(), self.format.has_header(), self.give_up_after);
        FetchingReader::start(&context.name, fetcher, emitter)
    }

    fn bounded(&self) -> bool {
        false
    }
}

/// A server. It has no position: nothing that it sent can be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketSplit {
    /// Host and port.
    pub(super) address: String,
}

impl Split for SocketSplit {
    fn id(&self) -> String {
        self.address.clone()
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_str(&mut out, &self.address);
        out
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        Ok(SocketSplit { address: Reader::new(bytes).str()?.to_owned() })
    }
}

impl RecordSplit for SocketSplit {
    fn origin(&self) -> &str {
        &self.address
    }

    fn advance(&mut self, _position: u64) {}

    fn line_at(&self, _position: u64) -> Option<u64> {
        None
    }
}
