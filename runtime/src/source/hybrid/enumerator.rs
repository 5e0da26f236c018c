//! The coordinator's half of a hybrid source: knows the stage, switches, and leads readers to where they belong.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ended::Ended;
use super::event::{FromReader, ToReader};
use super::reader::is_split;
use super::split::HybridSplit;
use super::stages::Stages;
use super::summary::Summary;
use super::switch::{StageEnd, Switch, decoded, encoded, put_time, time};
use crate::bytes::{Reader, put_bytes, put_str, put_u32};
use crate::error::{JobError, JobResult};
use crate::seam::now_micros;
use crate::source::{
    Call, EnumeratorAction, EnumeratorContext, ErasedEnumerator, Reaction, SourceContext, Split, SplitEnumerator,
};
use crate::state::State;
use crate::value::Timestamp;

/// The layout of a snapshot.
const VERSION: u32 = 1;

/// What the work of a stage has brought, with the number of the stage: what an earlier stage still looks for is of no use.
type Found = (u32, JobResult<Box<dyn Any + Send>>);

type Context = EnumeratorContext<HybridSplit, Found>;

/// Enumerates one stage after the other.
pub struct HybridEnumerator<L: Stages> {
    stages: Arc<L>,
    context: SourceContext,
    stage: u32,
    ends: Switch<L::Summary>,
    /// When the splits of the stage were looked for.
    start_time: Timestamp,
    /// What is known of the rows of the stage so far.
    summary: L::Summary,
    inner: Box<dyn ErasedEnumerator>,
    /// The enumerators of stages that have yet to hear of the checkpoint that holds their end.
    ended: Vec<Ended<Box<dyn ErasedEnumerator>>>,
    /// The stage that each reader has been switched to. A reader that is not here has not said that it is there.
    readers: BTreeMap<u32, u32>,
    /// Readers that have read the stage.
    finished: BTreeSet<u32>,
    /// Splits of earlier stages that came back: some reader is led through these stages again.
    older: BTreeMap<u32, Vec<HybridSplit>>,
}

impl<L: Stages> std::fmt::Debug for HybridEnumerator<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stage = self.stages.name(self.stage as usize);
        f.debug_struct("HybridEnumerator").field("stage", &stage).field("finished", &self.finished).finish_non_exhaustive()
    }
}

impl<L: Stages> HybridEnumerator<L> {
    /// At the first stage. Its splits are not found yet.
    pub(super) fn start(stages: Arc<L>, context: &SourceContext) -> JobResult<Self> {
        let ends = Switch::default();
        let inner = open(&*stages, 0, &ends, context, None)?;
        Ok(Self::at(stages, context, 0, ends, inner))
    }

    fn at(
        stages: Arc<L>,
        context: &SourceContext,
        stage: u32,
        ends: Switch<L::Summary>,
        inner: Box<dyn ErasedEnumerator>,
    ) -> Self {
        HybridEnumerator {
            stages,
            context: context.clone(),
            stage,
            ends,
            start_time: Timestamp(now_micros()),
            summary: L::Summary::default(),
            inner,
            ended: Vec::new(),
            readers: BTreeMap::new(),
            finished: BTreeSet::new(),
            older: BTreeMap::new(),
        }
    }

    /// At the stage that a checkpoint was taken in. Earlier stages are not made again.
    pub(super) fn restore(stages: Arc<L>, context: &SourceContext, bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        if input.u32()? != VERSION {
            return Err(JobError::new("the checkpoint has a hybrid source in a form that this version does not know"));
        }
        let schema = input.str()?;
        if schema != L::Summary::schema() {
            return Err(JobError::new(format!(
                "the stages of the source ask for other ends of earlier stages ({}) than when the checkpoint was taken ({schema}), and \
                 what was not asked for is not known of rows already read\n  start from the beginning with --fresh",
                L::Summary::schema()
            )));
        }
        let mut names = Vec::new();
        for _ in 0..input.u32()? {
            names.push(input.str()?);
        }
        let stage = input.u32()?;
        let known: Vec<_> = (0..L::COUNT).map(|stage| stages.name(stage)).collect();
        // Stages behind the one that runs may have changed; what was read must still be what it was.
        if names.len() <= stage as usize || names.get(..=stage as usize) != known.get(..=stage as usize) {
            return Err(JobError::new(format!(
                "the checkpoint was taken in stage {} of {}; the source now has the stages {}\n  stages up to the one that runs must \
                 keep their names and order; or start from the beginning with --fresh",
                names.get(stage as usize).unwrap_or(&"?"),
                names.join(", "),
                known.join(", ")
            )));
        }
        let ends = Switch::decode(&mut input)?;
        let start_time = time(&mut input)?;
        let summary = decoded(input.bytes()?)?;
        let mut older = BTreeMap::<u32, Vec<HybridSplit>>::new();
        for _ in 0..input.u32()? {
            let split = HybridSplit::decode(input.bytes()?)?;
            older.entry(split.stage).or_default().push(split);
        }
        let inner = open(&*stages, stage, &ends, context, Some(input.bytes()?))?;
        Ok(HybridEnumerator { start_time, summary, older, ..Self::at(stages, context, stage, ends, inner) })
    }

    fn is_last(&self) -> bool {
        self.stage as usize + 1 == L::COUNT
    }

    fn in_stage(&self, error: JobError) -> JobError {
        error.context(format_args!("stage {}", self.stages.name(self.stage as usize)))
    }

    /// Has the enumerator of the stage act, and passes on what it wants.
    fn inner(
        &mut self,
        context: &mut Context,
        act: impl FnOnce(&mut dyn ErasedEnumerator) -> JobResult<Reaction>,
    ) -> JobResult<()> {
        let stage = self.stage;
        let Reaction { actions, calls } = act(self.inner.as_mut()).map_err(|error| self.in_stage(error))?;
        for action in actions {
            match action {
                EnumeratorAction::Assign(subtask, bytes) => {
                    let id = self.stages.split_id(stage as usize, &bytes)?;
                    context.assign(subtask, HybridSplit::of_stage(stage, id, bytes));
                }
                EnumeratorAction::NoMoreSplits(subtask) if self.is_last() => context.no_more_splits(subtask),
                EnumeratorAction::NoMoreSplits(subtask) | EnumeratorAction::NoMoreSplitsForNow(subtask) => {
                    context.no_more_splits_for_now(subtask);
                }
                EnumeratorAction::Event(subtask, event) => {
                    context.send_event(subtask, ToReader::Inner { stage, event }.encode());
                }
            }
        }
        for Call { after, work } in calls {
            context.call(after, move || Ok((stage, work())));
        }
        Ok(())
    }

    /// Leads a reader to the earliest stage that has splits for it, or to the one that runs. Stages without splits for it are
    /// not visited.
    fn lead(&mut self, subtask: u32, context: &mut Context) -> JobResult<()> {
        let (stage, splits) = self.older.pop_first().unwrap_or((self.stage, Vec::new()));
        self.readers.insert(subtask, stage);
        let mut ends = Vec::new();
        self.ends.encode(stage as usize, &mut ends);
        context.send_event(subtask, ToReader::Switch { stage, ends }.encode());
        if stage == self.stage {
            return self.inner(context, |inner| inner.reader_added(subtask));
        }
        splits.into_iter().for_each(|split| context.assign(subtask, split));
        context.no_more_splits_for_now(subtask);
        Ok(())
    }

    /// The next stage, when every reader has read this one.
    fn switch_if_done(&mut self, context: &mut Context) -> JobResult<()> {
        let all = self.context.parallelism.max(1) as usize;
        if self.is_last() || self.finished.len() < all || self.inner.unassigned() > 0 || !self.older.is_empty() {
            return Ok(());
        }
        self.ends.push(StageEnd {
            name: self.stages.name(self.stage as usize).to_owned(),
            start_time: self.start_time,
            end_time: Timestamp(now_micros()),
            summary: std::mem::take(&mut self.summary),
        });
        self.stage += 1;
        self.finished.clear();
        let next = open(&*self.stages, self.stage, &self.ends, &self.context, None)?;
        self.ended.push(Ended::new(std::mem::replace(&mut self.inner, next)));
        self.start_time = Timestamp(now_micros());
        self.inner(context, |inner| inner.start())?;
        let readers: Vec<_> = self.readers.keys().copied().collect();
        readers.into_iter().try_for_each(|subtask| self.lead(subtask, context))
    }

    fn reader_finished(&mut self, subtask: u32, stage: u32, summary: &[u8], context: &mut Context) -> JobResult<()> {
        if self.readers.get(&subtask) != Some(&stage) {
            // Said before it was switched or reset.
            return Ok(());
        }
        if stage < self.stage {
            return self.lead(subtask, context);
        }
        self.summary.merge(&decoded(summary)?);
        self.finished.insert(subtask);
        self.switch_if_done(context)
    }
}

fn open<L: Stages>(
    stages: &L,
    stage: u32,
    ends: &Switch<L::Summary>,
    context: &SourceContext,
    restored: Option<&[u8]>,
) -> JobResult<Box<dyn ErasedEnumerator>> {
    let index = stage as usize;
    let in_stage = |error: JobError| error.context(format_args!("stage {}", stages.name(index)));
    let source = stages.source(index, ends).map_err(in_stage)?;
    if index + 1 < L::COUNT && !source.bounded() {
        return Err(in_stage(JobError::new(format!("it never ends, so that `{}` would never begin", stages.name(index + 1)))));
    }
    source.enumerator(context, restored).map_err(in_stage)
}

impl<L: Stages> SplitEnumerator<HybridSplit> for HybridEnumerator<L> {
    type Found = Found;

    fn start(&mut self, context: &mut Context) -> JobResult<()> {
        self.inner(context, |inner| inner.start())
    }

    fn found(&mut self, found: JobResult<Found>, context: &mut Context) -> JobResult<()> {
        match found {
            Ok((stage, found)) if stage == self.stage => self.inner(context, |inner| inner.found(found)),
            // Of a stage that has ended since.
            Ok(_) => Ok(()),
            Err(error) => self.inner(context, |inner| inner.found(Err(error))),
        }
    }

    fn reader_added(&mut self, subtask: u32, context: &mut Context) -> JobResult<()> {
        // A reader that starts again has finished nothing, whatever it said before.
        self.finished.remove(&subtask);
        self.lead(subtask, context)
    }

    fn request(&mut self, subtask: u32, context: &mut Context) -> JobResult<()> {
        // A reader in an earlier stage has all that there is for it.
        if self.readers.get(&subtask) != Some(&self.stage) {
            return Ok(());
        }
        self.inner(context, |inner| inner.request(subtask))
    }

    fn add_splits_back(&mut self, splits: Vec<HybridSplit>, context: &mut Context) -> JobResult<()> {
        let mut current = Vec::new();
        for split in splits {
            if split.stage > self.stage {
                return Err(JobError::new("a split of a stage that has not begun came back"));
            } else if split.stage == self.stage {
                if is_split(&split) {
                    current.push(split.bytes);
                } else {
                    self.summary.merge(&decoded(&split.bytes)?);
                }
            } else if is_split(&split) {
                self.older.entry(split.stage).or_default().push(split);
            }
        }
        self.inner(context, |inner| inner.add_splits_back(&current))
    }

    fn source_event(&mut self, subtask: u32, event: &[u8], context: &mut Context) -> JobResult<()> {
        match FromReader::decode(event)? {
            FromReader::Finished { stage, summary } => self.reader_finished(subtask, stage, &summary, context),
            FromReader::Inner { stage, event } if stage == self.stage => {
                self.inner(context, |inner| inner.source_event(subtask, &event))
            }
            FromReader::Inner { .. } => Ok(()),
        }
    }

    fn event_before(&mut self, subtask: u32, event: &[u8], context: &mut Context) -> JobResult<()> {
        match FromReader::decode(event)? {
            // The reader begins anew, and will say so again. What it has seen is in its own part of the checkpoint.
            FromReader::Finished { .. } => Ok(()),
            FromReader::Inner { stage, event } if stage == self.stage => {
                self.inner(context, |inner| inner.event_before(subtask, &event))
            }
            FromReader::Inner { .. } => Ok(()),
        }
    }

    fn unassigned(&self) -> usize {
        self.inner.unassigned() + self.older.values().map(Vec::len).sum::<usize>()
    }

    fn holds_watermark(&self) -> bool {
        !self.older.is_empty() || self.inner.holds_watermark()
    }

    fn snapshot(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u32(&mut out, VERSION);
        put_str(&mut out, &L::Summary::schema());
        put_u32(&mut out, u32::try_from(L::COUNT).unwrap_or(u32::MAX));
        (0..L::COUNT).for_each(|stage| put_str(&mut out, self.stages.name(stage)));
        put_u32(&mut out, self.stage);
        self.ends.encode(self.ends.len(), &mut out);
        put_time(&mut out, self.start_time);
        put_bytes(&mut out, &encoded(&self.summary));
        let older: Vec<_> = self.older.values().flatten().collect();
        put_u32(&mut out, u32::try_from(older.len()).unwrap_or(u32::MAX));
        older.iter().for_each(|split| put_bytes(&mut out, &split.encode()));
        put_bytes(&mut out, &self.inner.snapshot());
        out
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        for ended in &mut self.ended {
            ended.part.checkpoint_complete(checkpoint)?;
        }
        self.ended.retain_mut(|ended| !ended.is_done(checkpoint));
        self.inner.checkpoint_complete(checkpoint)
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        self.inner.checkpoint_aborted(checkpoint)
    }
}
