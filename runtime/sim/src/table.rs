//! Where rows end up: a table outside of the process, written in two phases. It refuses what a sink must never see.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use millstream::sink::{CommitRequest, Committer, RetryPolicy, Sink, SinkContext, SinkStart, SinkWriter};
use millstream::{JobError, JobResult};
use millstream_runtime::sim::World;
use tokio::time::Sleep;

use crate::world::SimWorld;

/// What outlives processes.
#[derive(Default)]
pub(crate) struct Table {
    /// Written, by committable, and not visible.
    staged: BTreeMap<String, (u64, Vec<String>)>,
    /// How often something was staged.
    stagings: u64,
    /// By checkpoint, then in the order in which they were staged: within a checkpoint a commit that has to wait comes behind others.
    visible: BTreeMap<(u64, u64), Vec<String>>,
    committed: BTreeSet<String>,
    /// The run whose rows these are.
    run: String,
    /// How often a run has begun.
    pub begun: u32,
    /// How many rows there are when a run is done.
    pub whole: usize,
    /// Whether what is visible may be taken back: the process was told to begin anew, or to go on from an earlier checkpoint.
    pub told: Option<Told>,
    /// What a sink must never be asked for, and was.
    pub wrongs: Vec<String>,
}

/// What a process was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// `--fresh`. It holds until the job has begun, in this process or a later one: the checkpoints are gone.
    Anew,
    /// `--from` this checkpoint.
    From(u64),
}

impl Table {
    /// A run begins: it replaces what the one before has left.
    fn begin(&mut self) {
        let rows = self.visible.values().map(Vec::len).sum::<usize>();
        if rows > 0 && rows != self.whole && self.told != Some(Told::Anew) {
            self.wrongs.push(format!("the job begins anew, and {rows} of {} rows of the run before are committed", self.whole));
        }
        self.told = None;
        self.begun += 1;
        self.visible.clear();
        self.committed.clear();
    }

    /// The job goes on from a checkpoint.
    fn go_on_from(&mut self, checkpoint: u64) {
        self.told = self.told.filter(|told| *told != Told::Anew);
        let later = self.visible.split_off(&(checkpoint + 1, 0));
        let Some(((number, _), _)) = later.first_key_value() else { return };
        if self.told != Some(Told::From(checkpoint)) {
            self.wrongs.push(format!("the job goes on from checkpoint {checkpoint}, and {number} was committed"));
        }
    }

    /// All visible rows, those of earlier checkpoints first.
    pub(crate) fn rows(&self) -> Vec<String> {
        self.visible.values().flatten().cloned().collect()
    }

    pub(crate) fn staged(&self) -> Vec<String> {
        self.staged.keys().cloned().collect()
    }
}

/// Writes rows as their debug text to the table of this name.
pub(crate) struct TableSink(pub Arc<SimWorld>, pub &'static str);

impl<T: Debug + Send + 'static> Sink<T> for TableSink {
    type Writer = TableWriter;

    fn writer(&self, context: &SinkContext) -> JobResult<TableWriter> {
        let (world, name, run) = (self.0.clone(), self.1, context.run.clone());
        Ok(TableWriter { world, name, run, subtask: context.subtask, rows: Vec::new(), busy: None })
    }

    fn committer(&self, context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        Ok(Some(Box::new(TableCommitter { world: self.0.clone(), name: self.1, run: context.run.clone() })))
    }
}

pub(crate) struct TableWriter {
    world: Arc<SimWorld>,
    name: &'static str,
    run: String,
    subtask: u32,
    rows: Vec<String>,
    /// It takes no rows for a while.
    busy: Option<Pin<Box<Sleep>>>,
}

impl<T: Debug + Send> SinkWriter<T> for TableWriter {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        if self.busy.is_none() && self.world.below(4) == 0 {
            self.busy = Some(Box::pin(tokio::time::sleep(self.world.moment(200_000))));
        }
        if let Some(busy) = &mut self.busy {
            ready!(busy.as_mut().poll(context));
            self.busy = None;
        }
        Poll::Ready(Ok(()))
    }

    fn write(&mut self, row: T) -> JobResult<()> {
        self.rows.push(format!("{row:?}"));
        Ok(())
    }

    fn prepare_commit(&mut self, checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        if self.rows.is_empty() {
            return Ok(Vec::new());
        }
        if self.world.unlucky("staging fails", 10) {
            return Err(JobError::transient("simulated failure of staging"));
        }
        let id = format!("{}-{checkpoint}-{}-{:04x}", self.run, self.subtask, self.world.random() & 0xffff);
        let rows = std::mem::take(&mut self.rows);
        self.world.log(&format!("stage {id} for {}, {} rows", self.name, rows.len()));
        self.world.table(self.name, |table| {
            table.stagings += 1;
            table.staged.insert(id.clone(), (table.stagings, rows));
        })?;
        Ok(vec![id.into_bytes()])
    }
}

struct TableCommitter {
    world: Arc<SimWorld>,
    name: &'static str,
    run: String,
}

fn id_of(committable: &[u8]) -> String {
    String::from_utf8_lossy(committable).into_owned()
}

impl Committer for TableCommitter {
    fn start(&mut self, _start: &SinkStart) -> JobResult<()> {
        if self.world.unlucky("the table cannot be reached", 10) {
            return Err(JobError::transient("simulated failure of the table"));
        }
        self.world.table(self.name, |table| table.run.clone_from(&self.run))
    }

    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()> {
        for request in requests {
            let (id, checkpoint) = (id_of(request.committable()), request.checkpoint());
            if self.world.unlucky("the process dies in a commit", 5) {
                self.world.freeze();
            }
            if self.world.unlucky(&format!("{id} cannot be committed yet"), 30) {
                request.retry_later("simulated");
                continue;
            }
            if self.world.unlucky(&format!("committing {id} fails"), 10) {
                return Err(JobError::transient("simulated failure of a commit"));
            }
            let complete = self.world.is_complete(checkpoint);
            let known = self.world.table(self.name, |table| {
                if !complete {
                    table.wrongs.push(format!("{id} is committed before checkpoint {checkpoint} is complete"));
                }
                if table.committed.contains(&id) {
                    return true;
                }
                if !id.starts_with(&table.run) {
                    table.wrongs.push(format!("{id} is committed in the run {}", table.run));
                }
                match table.staged.remove(&id) {
                    Some((staging, rows)) => {
                        table.visible.insert((checkpoint, staging), rows);
                        table.committed.insert(id.clone());
                    }
                    None => table.wrongs.push(format!("{id} of checkpoint {checkpoint} was discarded before it was committed")),
                }
                false
            })?;
            self.world.log(&format!("commit {id} of checkpoint {checkpoint}{}", if known { " again" } else { "" }));
            if known {
                request.already_committed();
            }
            if self.world.unlucky(&format!("the answer to commit {id} is lost"), 10) {
                return Err(JobError::transient("simulated loss of an answer"));
            }
        }
        Ok(())
    }

    fn discard_unknown(&mut self, start: &SinkStart, _waiting: &[Vec<u8>]) -> JobResult<()> {
        let restored = match start {
            SinkStart::Fresh => {
                self.world.log(&format!("{} begins anew", self.name));
                self.world.table(self.name, Table::begin)?;
                0
            }
            SinkStart::Resumed { checkpoint } => *checkpoint,
        };
        self.world.log(&format!("{} starts behind checkpoint {restored}", self.name));
        self.world.table(self.name, |table| {
            table.staged.clear();
            table.go_on_from(restored);
        })?;
        self.world.back_to(restored);
        Ok(())
    }

    fn retry(&self) -> RetryPolicy {
        RetryPolicy { retries: 20, ..RetryPolicy::default() }
    }
}
