//! The loop of a task.

mod checkpoint;
mod events;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::message::{TaskId, TaskMessage, TaskReport};
use super::status::{PublishClock, StatusSnapshot, TaskStatus};
use super::times::{Doing, waiting};
use crate::chain::{Chain, ChainReport};
use crate::coordinator::Asked;
use crate::error::{JobError, JobResult};
use crate::exchange::{Element, Gate, GateEvent, Outbox, OutboxHandle};
use crate::operator::RestoredState;
use crate::seam::{self, Instant, now_micros};
use crate::source::ReaderStatus;
use crate::time::Watermark;
use events::{Blocked, Event};

/// A subtask of a chain, ready to run.
pub(crate) struct Task {
    pub id: TaskId,
    /// Of its region.
    pub attempt: u32,
    /// Under which what was on its way to the task is stored.
    pub uid: Arc<str>,
    pub chain: Box<dyn Chain>,
    /// None: a source.
    pub gate: Option<Gate>,
    pub outbox: OutboxHandle,
    pub sender: Outbox,
    pub messages: mpsc::UnboundedReceiver<TaskMessage>,
    pub reports: mpsc::UnboundedSender<(TaskId, u32, TaskReport)>,
    pub cancel: watch::Receiver<bool>,
    /// How long a partial batch may wait; None: until it is full.
    pub buffer_timeout: Option<Duration>,
    pub status: Arc<TaskStatus>,
    /// What is to be handed over of keyed state.
    pub asked: Arc<Asked>,
    pub restored: RestoredState,
    /// Its checkpoint, which the coordinator knows the pieces of; 0: there is none.
    pub since: u64,
    /// Where event time was at the restored checkpoint.
    pub watermark: i64,
    /// The input had ended at the restored checkpoint: nothing is left to do.
    pub finished: bool,
}

/// Why a task ended before its time.
#[derive(Debug)]
pub(crate) enum TaskFailure {
    /// Others failed, or the job stops.
    Cancelled,
    Failed(JobError),
}

impl From<JobError> for TaskFailure {
    fn from(error: JobError) -> Self {
        TaskFailure::Failed(error)
    }
}

/// How long a task waits at first for barriers that are to overtake rows before it goes on with its input, and how long at most.
const PATIENCE: Duration = Duration::from_millis(100);
const MOST_PATIENCE: Duration = Duration::from_secs(1);

/// What the loop keeps track of.
struct Progress {
    ended: bool,
    /// A source that has asked for a split and has had no answer: it does not ask again.
    split_asked_for: bool,
    /// A source with nothing to read: it is polled again when the coordinator has something to say.
    waiting_for_split: bool,
    /// A source that has sent the barrier of the last checkpoint.
    paused: bool,
    /// The newest checkpoint that the coordinator asked for, and the newest taken.
    triggered: u64,
    taken: u64,
    watermark: i64,
    flush_at: Option<Instant>,
    clock: PublishClock,
    /// There is something new to publish.
    unpublished: bool,
    /// How long the task may still wait for barriers that are to overtake rows.
    patience: Duration,
    /// The checkpoint that the task has made a part for last; 0: none yet.
    part: u64,
    /// The same, or the one that was restored: changes are counted from there.
    since: u64,
    /// That part, while it is being encoded.
    encoding: Option<JoinHandle<()>>,
}

impl Task {
    /// Runs until the coordinator lets go of the task, or a failure.
    pub(crate) async fn run(mut self) -> Result<(), TaskFailure> {
        let mut progress = Progress {
            ended: false,
            split_asked_for: false,
            waiting_for_split: false,
            paused: false,
            triggered: 0,
            taken: 0,
            watermark: self.watermark,
            flush_at: None,
            clock: PublishClock::new(),
            unpublished: false,
            patience: Duration::ZERO,
            part: 0,
            since: self.since,
            encoding: None,
        };
        self.status.times.enter(Doing::Busy);
        // Key groups are read here, and may go on to the disk.
        let (chain, restored) = (&mut self.chain, std::mem::take(&mut self.restored));
        seam::in_place(move || chain.restore(&restored))?;
        self.report(TaskReport::Restored);
        if self.finished {
            self.end(&mut progress).await?;
        } else if self.watermark > i64::MIN {
            if let Some(gate) = &mut self.gate {
                gate.restore_watermark(self.watermark);
            }
            self.chain.watermark(Watermark(self.watermark))?;
        }
        let status = self.status.clone();
        loop {
            self.send(&mut progress).await?;
            if let Some(checkpoint) = self.overtaken_soon(&mut progress).await {
                self.take_checkpoint(checkpoint, &mut progress).await?;
                continue;
            }
            let event = waiting(&status.times, Doing::Idle, self.next_event(&progress)).await;
            let input = matches!(event, Event::Input(_) | Event::Source(_) | Event::Background(_));
            match event {
                Event::Cancelled => return Err(TaskFailure::Cancelled),
                Event::Message(None) => return Ok(()),
                Event::Message(Some(message)) => self.message(message, &mut progress).await?,
                Event::FlushDue => {
                    progress.flush_at = None;
                    self.chain.flush()?;
                }
                Event::ClockDue => self.chain.processing_time(now_micros())?,
                Event::PublishDue => self.publish(&mut progress),
                Event::Input(event) => {
                    let overtaking = self.gate.as_ref().is_some_and(Gate::is_overtaking).then(Instant::now);
                    self.input(event, &mut progress).await?;
                    // It may wait as long as it works: where a batch takes long, waiting for a barrier costs less than another one.
                    let worked = overtaking.map_or(Duration::ZERO, |started| started.elapsed());
                    progress.patience = (progress.patience + worked).min(MOST_PATIENCE);
                }
                Event::Source(status) => self.source_status(status?, &mut progress).await?,
                Event::Background(done) => done?,
            }
            if input {
                self.after_input(&mut progress);
                tokio::task::yield_now().await;
            }
        }
    }

    /// Sends what the last step put out. Backpressure waits here, and hears what the coordinator says: between two steps the operators
    /// stand at one place, so that a checkpoint can be taken before everything is sent.
    async fn send(&mut self, progress: &mut Progress) -> Result<(), TaskFailure> {
        let before = self.gate.is_none().then(Instant::now);
        let status = self.status.clone();
        loop {
            match waiting(&status.times, Doing::Backpressured, self.blocked()).await {
                Blocked::Cancelled | Blocked::Message(None) => return Err(TaskFailure::Cancelled),
                Blocked::Room(ready) => {
                    ready?;
                    break;
                }
                Blocked::Message(Some(message)) => self.message(message, progress).await?,
                Blocked::Overtaken(checkpoint) => self.take_checkpoint(checkpoint, progress).await?,
            }
        }
        if let (Some(before), Some(source)) = (before, self.chain.source()) {
            source.not_counted(before.elapsed());
        }
        if progress.ended && progress.triggered > progress.taken {
            self.take_checkpoint(progress.triggered, progress).await?;
        }
        Ok(())
    }

    async fn message(&mut self, message: TaskMessage, progress: &mut Progress) -> Result<(), TaskFailure> {
        match message {
            // Behind its end a source has nothing more to say: its consumers are gone.
            TaskMessage::AddSplits(_)
            | TaskMessage::NoMoreSplits
            | TaskMessage::HoldWatermark(_)
            | TaskMessage::Align(_)
            | TaskMessage::SourceEvent(_)
                if progress.ended => {}
            TaskMessage::AddSplits(splits) => {
                progress.split_asked_for = false;
                progress.waiting_for_split = false;
                self.with_source(|source| source.add_splits(&splits))?;
            }
            TaskMessage::NoMoreSplits => {
                progress.split_asked_for = false;
                progress.waiting_for_split = false;
                self.with_source(|source| {
                    source.no_more_splits();
                    Ok(())
                })?;
            }
            TaskMessage::HoldWatermark(hold) => self.with_source(|source| source.hold_watermark(hold))?,
            TaskMessage::Align(limit) => self.with_source(|source| source.align(limit))?,
            TaskMessage::SourceEvent(event) => {
                progress.waiting_for_split = false;
                self.with_source(|source| source.source_event(&event))?;
            }
            TaskMessage::Trigger { checkpoint, pause } => {
                progress.triggered = checkpoint;
                progress.paused |= pause;
                if self.gate.is_none() && !progress.ended {
                    self.take_checkpoint(checkpoint, progress).await?;
                }
            }
            TaskMessage::Resume => progress.paused = false,
            TaskMessage::Drain => {
                if self.gate.is_none() && !progress.ended {
                    self.chain.watermark(Watermark::MAX)?;
                    progress.watermark = Watermark::MAX.0;
                    self.end(progress).await?;
                }
            }
            TaskMessage::Complete(checkpoint) => self.chain.checkpoint_complete(checkpoint)?,
            TaskMessage::Overtake(checkpoint) => {
                if let Some(gate) = &mut self.gate {
                    gate.overtake(checkpoint);
                    progress.patience = PATIENCE;
                }
            }
            TaskMessage::Abort(checkpoint) => {
                progress.taken = progress.taken.max(checkpoint);
                if let Some(gate) = &mut self.gate {
                    gate.abort(checkpoint);
                }
                self.chain.checkpoint_aborted(checkpoint)?;
            }
        }
        if !progress.ended
            && let Some(source) = self.chain.source()
        {
            progress.watermark = source.watermark().0;
        }
        Ok(())
    }

    fn with_source(&mut self, act: impl FnOnce(&mut dyn crate::chain::SourceTask) -> JobResult<()>) -> JobResult<()> {
        match self.chain.source() {
            Some(source) => act(source),
            None => Ok(()),
        }
    }

    async fn input(&mut self, event: GateEvent, progress: &mut Progress) -> Result<(), TaskFailure> {
        match event {
            GateEvent::Batch { input, batch } => {
                self.chain.processing_time(now_micros())?;
                self.chain.batch(input, batch)?;
            }
            GateEvent::Watermark(time) => {
                progress.watermark = time;
                if !self.finished {
                    self.chain.processing_time(now_micros())?;
                    self.chain.watermark(Watermark(time))?;
                }
            }
            GateEvent::Idle => {
                // What still waits comes before it: behind it nobody would hear of its watermark.
                self.settle().await?;
                self.outbox.put_all(|| Element::Idle);
            }
            GateEvent::Active => self.outbox.put_all(|| Element::Active),
            GateEvent::Barrier(checkpoint) => self.take_checkpoint(checkpoint, progress).await?,
            GateEvent::End => self.end(progress).await?,
            GateEvent::Disconnected => return Err(TaskFailure::Cancelled),
        }
        Ok(())
    }

    async fn source_status(&mut self, status: ReaderStatus, progress: &mut Progress) -> Result<(), TaskFailure> {
        if let Some(source) = self.chain.source() {
            progress.watermark = source.watermark().0;
            for event in source.take_events() {
                self.report(TaskReport::SourceEvent { taken: progress.taken, event });
            }
        }
        match status {
            ReaderStatus::More => {}
            ReaderStatus::NeedsSplit => {
                progress.waiting_for_split = true;
                if !std::mem::replace(&mut progress.split_asked_for, true) {
                    self.report(TaskReport::NeedsSplit);
                }
            }
            ReaderStatus::End => {
                self.chain.watermark(Watermark::MAX)?;
                progress.watermark = Watermark::MAX.0;
                self.end(progress).await?;
            }
        }
        Ok(())
    }

    /// The input has ended. `finished`: so it had at the restored checkpoint, and the operators know.
    async fn end(&mut self, progress: &mut Progress) -> Result<(), TaskFailure> {
        if progress.ended {
            return Ok(());
        }
        if !self.finished {
            self.settle().await?;
            self.chain.processing_time(now_micros())?;
            self.chain.finish()?;
        }
        self.chain.flush()?;
        progress.ended = true;
        self.outbox.put_all(|| Element::End);
        self.publish(progress);
        self.report(TaskReport::Ended);
        Ok(())
    }

    /// Waits until sinks that send in the background have sent, and lookups have their answers.
    async fn settle(&mut self) -> Result<(), TaskFailure> {
        self.chain.flush()?;
        let chain = &mut self.chain;
        tokio::select! {
            biased;
            flushed = std::future::poll_fn(|cx| chain.poll_flush(cx)) => Ok(flushed?),
            _ = self.cancel.wait_for(|&cancelled| cancelled) => Err(TaskFailure::Cancelled),
        }
    }

    fn after_input(&mut self, progress: &mut Progress) {
        let now = Instant::now();
        if progress.flush_at.is_none() {
            progress.flush_at = self.buffer_timeout.map(|timeout| now + timeout);
        }
        progress.unpublished = true;
        if progress.clock.is_due(now) {
            self.publish(progress);
        }
    }

    fn publish(&self, progress: &mut Progress) {
        progress.unpublished = false;
        let mut report = ChainReport::default();
        self.chain.report(&mut report);
        self.status.publish(StatusSnapshot { report, watermark: progress.watermark, ended: progress.ended });
    }

    fn report(&self, report: TaskReport) {
        let _ = self.reports.send((self.id, self.attempt, report));
    }
}
