//! Where the rows of a tested source end up: a sink in memory that keeps every committed row, exactly once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use millstream::sink::{CommitRequest, Committer, Sink, SinkContext, SinkStart, SinkWriter};
use millstream::{JobError, JobResult};

use crate::faults::Faults;

/// Rows between two pauses of a paced writer.
const PACED: u64 = 64;

/// Outlives the jobs that write to it.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// By checkpoint and writer.
    committed: Mutex<BTreeMap<(u64, u32), Vec<String>>>,
    /// Rows that writers were given, committed or not.
    seen: AtomicU64,
    /// Microseconds that a writer pauses after so many rows: a job that takes long enough to be stopped in the middle.
    pace: AtomicU64,
    pub(crate) faults: Faults,
}

impl Ledger {
    pub(crate) fn pace(&self, pause: Duration) {
        self.pace.store(u64::try_from(pause.as_micros()).unwrap_or(u64::MAX), SeqCst);
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen.load(SeqCst)
    }

    pub(crate) fn forget_seen(&self) {
        self.seen.store(0, SeqCst);
    }

    /// All rows, in no order.
    pub(crate) fn rows(&self) -> Vec<String> {
        self.committed().values().flatten().cloned().collect()
    }

    fn committed(&self) -> MutexGuard<'_, BTreeMap<(u64, u32), Vec<String>>> {
        self.committed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes rows as their debug text.
#[derive(Debug)]
pub(crate) struct LedgerSink(pub Arc<Ledger>);

impl<T: std::fmt::Debug> Sink<T> for LedgerSink {
    type Writer = LedgerWriter;

    fn writer(&self, _context: &SinkContext) -> JobResult<LedgerWriter> {
        Ok(LedgerWriter { ledger: self.0.clone(), rows: Vec::new(), batch: 0 })
    }

    fn committer(&self, _context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        Ok(Some(Box::new(LedgerCommitter(self.0.clone()))))
    }
}

#[derive(Debug)]
pub(crate) struct LedgerWriter {
    ledger: Arc<Ledger>,
    rows: Vec<String>,
    batch: u64,
}

impl<T: std::fmt::Debug> SinkWriter<T> for LedgerWriter {
    fn write(&mut self, row: T) -> JobResult<()> {
        self.ledger.faults.row()?;
        self.rows.push(format!("{row:?}"));
        self.batch += 1;
        let pace = self.ledger.pace.load(SeqCst);
        if pace > 0 && self.batch.is_multiple_of(PACED) {
            std::thread::sleep(Duration::from_micros(pace));
        }
        Ok(())
    }

    fn end_of_batch(&mut self) -> JobResult<()> {
        self.ledger.seen.fetch_add(std::mem::take(&mut self.batch), SeqCst);
        Ok(())
    }

    fn prepare_commit(&mut self, _checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        if self.rows.is_empty() {
            return Ok(Vec::new());
        }
        // Debug text has no line ends.
        Ok(vec![std::mem::take(&mut self.rows).join("\n").into_bytes()])
    }
}

struct LedgerCommitter(Arc<Ledger>);

impl Committer for LedgerCommitter {
    fn start(&mut self, _start: &SinkStart) -> JobResult<()> {
        Ok(())
    }

    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()> {
        for request in requests {
            let text = std::str::from_utf8(request.committable()).map_err(|error| JobError::new(error.to_string()))?;
            let rows = text.lines().map(str::to_owned).collect();
            self.0.committed().insert((request.checkpoint(), request.subtask()), rows);
        }
        Ok(())
    }

    fn discard_unknown(&mut self, start: &SinkStart, _waiting: &[Vec<u8>]) -> JobResult<()> {
        let restored = match start {
            SinkStart::Fresh => 0,
            SinkStart::Resumed { checkpoint } => *checkpoint,
        };
        self.0.committed().retain(|(checkpoint, _), _| *checkpoint <= restored);
        Ok(())
    }
}
