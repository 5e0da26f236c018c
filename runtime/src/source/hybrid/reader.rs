//! The task's half of a hybrid source: the reader of the stage that runs, and splits of stages to come.

use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::ended::Ended;
use super::event::{FromReader, ToReader};
use super::output::StageOutput;
use super::split::{HybridSplit, Kind, parts_of_id};
use super::stages::{StageReader, Stages};
use super::switch::{Switch, encoded};
use crate::bytes::Reader;
use crate::error::JobResult;
use crate::source::{ReaderContext, ReaderStatus, SourceOutput, SourceReader};

/// Reads the stages as the enumerator has it.
pub struct HybridReader<L: Stages> {
    stages: Arc<L>,
    context: ReaderContext,
    running: Option<Running<L>>,
    /// The readers of stages that have yet to hear of the checkpoint that holds their end.
    ended: Vec<Ended<L::Reader>>,
    /// Splits of stages that it has not been switched to: kept, and in every snapshot.
    waiting: Vec<HybridSplit>,
    id: String,
}

struct Running<L: Stages> {
    stage: u32,
    reader: L::Reader,
    summary: L::Summary,
    /// Splits that it has and has not read to their end.
    splits: usize,
    /// It has said that it has read this stage.
    finished: bool,
}

impl<L: Stages> std::fmt::Debug for HybridReader<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stage = self.running.as_ref().map(|running| running.stage);
        f.debug_struct("HybridReader").field("stage", &stage).field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl<L: Stages> HybridReader<L> {
    pub(super) fn new(stages: Arc<L>, context: &ReaderContext) -> Self {
        HybridReader {
            stages,
            context: context.clone(),
            running: None,
            ended: Vec::new(),
            waiting: Vec::new(),
            id: String::new(),
        }
    }

    fn running(&mut self, stage: u32) -> Option<&mut Running<L>> {
        self.running.as_mut().filter(|running| running.stage == stage)
    }

    fn is_last(stage: u32) -> bool {
        stage as usize + 1 == L::COUNT
    }

    /// Makes its half of a stage and gives it the splits that have waited for it.
    fn switch(&mut self, stage: u32, ends: &[u8]) -> JobResult<()> {
        let ends = Switch::<L::Summary>::decode(&mut Reader::new(ends))?;
        let name = self.stages.name(stage as usize);
        let reader = self.stages.reader(stage as usize, &ends, &self.context);
        let mut running: Running<L> = Running {
            stage,
            reader: reader.map_err(|error| error.context(format_args!("stage {name}")))?,
            summary: L::Summary::default(),
            splits: 0,
            finished: false,
        };
        running.reader.start()?;
        let (own, others): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(|split| split.stage == stage);
        self.waiting = others;
        running.splits = own.len();
        if !own.is_empty() {
            running.reader.add_splits(&own.into_iter().map(|split| split.bytes).collect::<Vec<_>>())?;
        }
        self.ended.extend(self.running.replace(running).map(|before| Ended::new(before.reader)));
        Ok(())
    }
}

impl<L: Stages> SourceReader for HybridReader<L> {
    type Row = L::Row;
    type Split = HybridSplit;

    fn add_splits(&mut self, splits: Vec<HybridSplit>) -> JobResult<()> {
        for split in splits {
            match self.running(split.stage) {
                Some(running) => {
                    running.splits += 1;
                    running.reader.add_splits(&[split.bytes])?;
                }
                None => self.waiting.push(split),
            }
        }
        Ok(())
    }

    fn no_more_splits(&mut self) {
        // Of the stage that runs: what was said of an earlier one came before the switch.
        if let Some(running) = &mut self.running {
            running.reader.no_more_splits();
        }
    }

    fn source_event(&mut self, event: &[u8]) -> JobResult<()> {
        match ToReader::decode(event)? {
            ToReader::Switch { stage, ends } => self.switch(stage, &ends)?,
            ToReader::Inner { stage, event } => {
                if let Some(running) = self.running(stage) {
                    running.reader.source_event(&event)?;
                }
            }
        }
        Ok(())
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<L::Row>) -> Poll<JobResult<ReaderStatus>> {
        let Some(running) = &mut self.running else { return Poll::Pending };
        if running.finished {
            // Between two stages. Not idle: what comes next may be as old as what was read last.
            return Poll::Pending;
        }
        let mut output = StageOutput {
            stage: running.stage,
            summary: &mut running.summary,
            splits: &mut running.splits,
            out,
            id: &mut self.id,
            row: PhantomData,
        };
        let status = ready!(running.reader.poll(context, &mut output))?;
        if status != ReaderStatus::End || Self::is_last(running.stage) {
            return Poll::Ready(Ok(status));
        }
        running.finished = true;
        out.send_event(FromReader::Finished { stage: running.stage, summary: encoded(&running.summary) }.encode());
        Poll::Ready(Ok(ReaderStatus::More))
    }

    fn snapshot(&self) -> Vec<HybridSplit> {
        let mut splits = self.waiting.clone();
        let Some(running) = &self.running else { return splits };
        let own = running.reader.snapshot().into_iter();
        splits.extend(own.map(|(id, bytes)| HybridSplit::of_stage(running.stage, id, bytes)));
        // Also after it was reported: a checkpoint that began before may have missed the report.
        let summary = encoded(&running.summary);
        if !summary.is_empty() && !Self::is_last(running.stage) {
            splits.push(HybridSplit::seen(running.stage, summary));
        }
        splits
    }

    fn snapshot_taken(&mut self, checkpoint: u64) {
        for ended in &mut self.ended {
            ended.taken(checkpoint);
            ended.part.snapshot_taken(checkpoint);
        }
        if let Some(running) = &mut self.running {
            running.reader.snapshot_taken(checkpoint);
        }
    }

    fn holds_watermark(&self) -> bool {
        let Some(running) = &self.running else { return true };
        // Without a split in a stage that others follow: there will be one, in this stage or a later one. A reader that were idle
        // for that time would be left out by its consumers, and its next rows would be late.
        let between = running.splits == 0 && !Self::is_last(running.stage);
        between || running.reader.holds_watermark()
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        for ended in &mut self.ended {
            ended.part.checkpoint_complete(checkpoint)?;
        }
        self.ended.retain_mut(|ended| !ended.is_done(checkpoint));
        match &mut self.running {
            Some(running) => running.reader.checkpoint_complete(checkpoint),
            None => Ok(()),
        }
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        for ended in &mut self.ended {
            ended.part.checkpoint_aborted(checkpoint)?;
        }
        match &mut self.running {
            Some(running) => running.reader.checkpoint_aborted(checkpoint),
            None => Ok(()),
        }
    }

    fn set_paused(&mut self, split: &str, paused: bool) -> bool {
        let Some((stage, inner)) = parts_of_id(split) else { return false };
        self.running(stage).is_some_and(|running| running.reader.set_paused(inner, paused))
    }
}

/// Splits that are to be read, without what was seen.
pub(super) fn is_split(split: &HybridSplit) -> bool {
    split.kind == Kind::Split
}
