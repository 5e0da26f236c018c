//! The sink of the connector `stdout`.

use std::collections::BTreeSet;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::Mutex;

use crate::error::{JobError, JobResult};
use crate::formats::{Encoder, Format};
use crate::options::Options;
use crate::record::Record;
use crate::sink::{Sink, SinkContext, SinkWriter};

/// Sinks whose header is out.
static HEADERS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Prints rows of type `T` in the format `F`.
#[derive(Clone, Debug)]
pub struct StdoutSink<T, F> {
    format: F,
    row: PhantomData<fn(T)>,
}

impl<T: Record, F: Format> StdoutSink<T, F> {
    /// See the connector's options.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        Ok(StdoutSink { format: crate::connectors::format_of(options)?, row: PhantomData })
    }
}

impl<T: Record, F: Format> Sink<T> for StdoutSink<T, F> {
    type Writer = StdoutWriter<F::Encoder<T>>;

    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer> {
        Ok(StdoutWriter { encoder: self.format.encoder()?, buffer: Vec::new(), uid: context.uid.clone() })
    }
}

/// The writer of one subtask.
#[derive(Debug)]
pub struct StdoutWriter<E> {
    encoder: E,
    buffer: Vec<u8>,
    uid: String,
}

impl<T, E: Encoder<T>> SinkWriter<T> for StdoutWriter<E> {
    #[inline]
    fn write(&mut self, row: T) -> JobResult<()> {
        self.encoder.encode(&row, &mut self.buffer);
        Ok(())
    }

    fn end_of_batch(&mut self) -> JobResult<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let mut headers = HEADERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut out = std::io::stdout().lock();
        let mut header = Vec::new();
        if headers.insert(self.uid.clone()) {
            Encoder::<T>::header(&mut self.encoder, &mut header);
        }
        let written = out.write_all(&header).and_then(|()| out.write_all(&self.buffer)).and_then(|()| out.flush());
        self.buffer.clear();
        written.map_err(|error| JobError::io("cannot write to standard output", &error).permanent())
    }

    fn prepare_commit(&mut self, _checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        SinkWriter::<T>::end_of_batch(self)?;
        Ok(Vec::new())
    }
}
