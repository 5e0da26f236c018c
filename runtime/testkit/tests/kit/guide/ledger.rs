//! A sink of tables: the journal of what happens to their rows. Who reads it knows which rows stand.

use millstream::formats::{Encoder, Format};
use millstream::prelude::*;
use millstream::sink::{Committer, Sink, SinkContext, SinkWriter};

use super::journal::{Journal, JournalWriter};

/// Writes down what happens to the rows of a table, each change once: `+KEY`, a tab and the row; `-KEY` where it goes away.
#[derive(Clone, Debug, Connector)]
#[flow(exactly_once, keyed)]
pub struct Ledger {
    /// The file of the journal.
    pub path: String,
}

impl TableSinkConnector for Ledger {
    type Sink<T: Record, F: Format> = LedgerSink<F>;

    fn table_sink<T: Record, F: Format>(self, format: F, key: TableKey) -> JobResult<LedgerSink<F>> {
        Ok(LedgerSink { journal: Journal { path: self.path.into() }, format, key })
    }
}

/// The sink that `ledger` makes.
#[derive(Clone, Debug)]
pub struct LedgerSink<F> {
    journal: Journal,
    format: F,
    key: TableKey,
}

impl<T: Record, F: Format> Sink<Change<T>> for LedgerSink<F> {
    type Writer = LedgerWriter<F::Encoder<T>>;

    fn writer(&self, _context: &SinkContext) -> JobResult<Self::Writer> {
        Ok(LedgerWriter { journal: JournalWriter::default(), encoder: self.format.encoder()?, key: self.key.clone() })
    }

    fn committer(&self, context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        Sink::<String>::committer(&self.journal, context)
    }
}

/// Makes lines of changes.
#[derive(Debug)]
pub struct LedgerWriter<E> {
    journal: JournalWriter,
    encoder: E,
    key: TableKey,
}

impl<T: Record, E: Encoder<T>> SinkWriter<Change<T>> for LedgerWriter<E> {
    fn write(&mut self, change: Change<T>) -> JobResult<()> {
        let key: Vec<_> = self.key.of(&change.row).map(|value| value.unwrap_or_default()).collect();
        let key = key.join(",");
        match change.kind {
            ChangeKind::Insert | ChangeKind::UpdateAfter => {
                let mut row = Vec::new();
                self.encoder.encode(&change.row, &mut row);
                self.journal.write(format!("+{key}\t{}", String::from_utf8_lossy(&row).trim_end()))
            }
            ChangeKind::Delete => self.journal.write(format!("-{key}")),
            // The new row comes behind it, and replaces the old one.
            ChangeKind::UpdateBefore => Ok(()),
        }
    }

    fn prepare_commit(&mut self, checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        SinkWriter::<String>::prepare_commit(&mut self.journal, checkpoint)
    }
}
