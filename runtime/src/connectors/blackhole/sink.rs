//! The sink of the connector `blackhole`.

use std::marker::PhantomData;

use crate::error::JobResult;
use crate::options::Options;
use crate::sink::{Sink, SinkContext, SinkWriter};

/// Takes rows and forgets them. The rows are counted like those of every sink.
#[derive(Clone, Copy, Debug)]
pub struct BlackholeSink<T> {
    row: PhantomData<fn(T)>,
}

impl<T> BlackholeSink<T> {
    /// Takes no options.
    pub fn from_options(_options: &Options) -> JobResult<Self> {
        Ok(BlackholeSink { row: PhantomData })
    }
}

impl<T: Send + 'static> Sink<T> for BlackholeSink<T> {
    type Writer = Forget;

    fn writer(&self, _context: &SinkContext) -> JobResult<Forget> {
        Ok(Forget)
    }
}

/// The writer.
#[derive(Clone, Copy, Debug)]
pub struct Forget;

impl<T> SinkWriter<T> for Forget {
    #[inline]
    fn write(&mut self, row: T) -> JobResult<()> {
        // Not optimised away: what computes the row is what is measured.
        std::hint::black_box(&row);
        Ok(())
    }
}
