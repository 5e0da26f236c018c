//! A connector for tables, for the same service: `mirror` keeps a table there as the one of the pipeline.
//!
//! It stages lines as `batch` does: `+KEY`, a tab and the row for a row that is new or replaces another; `-KEY` for one that is gone.

use std::marker::PhantomData;

use millstream::formats::Encoder;
use millstream::prelude::*;
use millstream::sink::{Committer, Sink, SinkContext, SinkWriter};

use super::feed::{Batch, Batches};

/// Keeps the table of a web service as the pipeline's: rows come, change and go there as they do here.
///
/// Changes are kept there until the checkpoint that they belong to is complete; then all of them can be seen.
#[derive(Clone, Debug, Connector)]
#[flow(exactly_once, keyed)]
pub struct Mirror {
    /// Address of the service: `http://example.org:9000`.
    pub url: String,
    /// Changes per request, at most.
    #[flow(default = 500)]
    pub rows: u32,
}

impl TableSinkConnector for Mirror {
    type Sink<T: Record, F: Format> = MirrorSink<T, F>;

    fn table_sink<T: Record, F: Format>(self, format: F, key: TableKey) -> JobResult<MirrorSink<T, F>> {
        Ok(MirrorSink { options: Batch { url: self.url, rows: self.rows }, format, key, row: PhantomData })
    }
}

/// The sink that `mirror` makes.
#[derive(Clone, Debug)]
pub struct MirrorSink<T, F> {
    options: Batch,
    format: F,
    key: TableKey,
    row: PhantomData<fn(T)>,
}

impl<T: Record, F: Format> Sink<Change<T>> for MirrorSink<T, F> {
    type Writer = MirrorWriter<F::Encoder<T>>;

    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer> {
        let batches = Batches::new(&self.options, context);
        Ok(MirrorWriter { batches, encoder: self.format.encoder()?, key: self.key.clone() })
    }

    fn committer(&self, _context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        Ok(Some(self.options.committer()))
    }
}

/// Makes lines of changes.
#[derive(Debug)]
pub struct MirrorWriter<E> {
    batches: Batches,
    encoder: E,
    key: TableKey,
}

impl<T: Record, E: Encoder<T>> SinkWriter<Change<T>> for MirrorWriter<E> {
    fn write(&mut self, change: Change<T>) -> JobResult<()> {
        // The service knows rows by their key: the new row replaces the old one.
        if change.kind == ChangeKind::UpdateBefore {
            return Ok(());
        }
        let lines = self.batches.next();
        lines.push(if change.kind.adds() { b'+' } else { b'-' });
        for (index, value) in self.key.of(&change.row).enumerate() {
            if index > 0 {
                lines.push(b',');
            }
            lines.extend_from_slice(value.unwrap_or_default().as_bytes());
        }
        match change.kind.adds() {
            true => {
                lines.push(b'\t');
                self.encoder.encode(&change.row, lines);
            }
            false => lines.push(b'\n'),
        }
        Ok(())
    }

    fn prepare_commit(&mut self, _checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        self.batches.stage()
    }
}
