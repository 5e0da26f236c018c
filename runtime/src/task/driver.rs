//! The loop of a task.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::message::{Ack, Decline, TaskId, TaskMessage, TaskReport};
use super::status::{PublishClock, StatusSnapshot, TaskStatus};
use super::times::{Doing, waiting};
use crate::chain::{Chain, ChainReport};
use crate::checkpoint::StateEntry;
use crate::coordinator::{IN_FLIGHT, entries_of, take_staged};
use crate::error::{JobError, JobResult};
use crate::exchange::{Element, Gate, GateEvent, Outbox, OutboxHandle};
use crate::operator::{RestoredState, SnapshotBuilder};
use crate::seam::{self, Instant, Point, now_micros};
use crate::source::ReaderStatus;
use crate::time::Watermark;

/// A subtask of a chain, ready to run.
pub(crate) struct Task {
    pub id: TaskId,
    /// Under which what was on its way to the task is stored.
    pub uid: Arc<str>,
    pub chain: Box<dyn Chain>,
    /// None: a source.
    pub gate: Option<Gate>,
    pub outbox: OutboxHandle,
    pub sender: Outbox,
    pub messages: mpsc::UnboundedReceiver<TaskMessage>,
    pub reports: mpsc::UnboundedSender<(TaskId, TaskReport)>,
    pub cancel: watch::Receiver<bool>,
    /// How long a partial batch may wait; None: until it is full.
    pub buffer_timeout: Option<Duration>,
    pub status: Arc<TaskStatus>,
    pub restored: RestoredState,
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

enum Event {
    Cancelled,
    /// None: the coordinator needs this task no more.
    Message(Option<TaskMessage>),
    FlushDue,
    ClockDue,
    PublishDue,
    Input(GateEvent),
    Source(JobResult<ReaderStatus>),
    /// Operators have done something beside the rows.
    Background(JobResult<()>),
}

/// What comes up while a task waits for its consumers.
enum Blocked {
    /// Everything is sent, and the chain takes more.
    Room(JobResult<()>),
    Cancelled,
    Message(Option<TaskMessage>),
    /// The barriers of this checkpoint have come, and have overtaken the rows before them.
    Overtaken(u64),
}

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
    /// The checkpoint that the task has made a part for last.
    part: u64,
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
            encoding: None,
        };
        self.status.times.enter(Doing::Busy);
        self.chain.restore(&std::mem::take(&mut self.restored))?;
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

    /// Barriers that are to overtake rows come at once, unless those before are busy: for a moment nothing else is begun, since a
    /// batch can take long.
    async fn overtaken_soon(&mut self, progress: &mut Progress) -> Option<u64> {
        let gate = self.gate.as_mut().filter(|gate| gate.is_overtaking() && !progress.patience.is_zero())?;
        let started = Instant::now();
        let overtaken = tokio::time::timeout(progress.patience, std::future::poll_fn(|cx| gate.poll_overtaken(cx))).await;
        progress.patience = progress.patience.saturating_sub(started.elapsed());
        if overtaken.is_err() {
            progress.patience = Duration::ZERO;
        }
        overtaken.ok()
    }

    async fn blocked(&mut self) -> Blocked {
        let (sender, chain, gate) = (&self.sender, &mut self.chain, &mut self.gate);
        let room = async {
            if sender.send_all().await.is_err() {
                return Blocked::Cancelled;
            }
            Blocked::Room(std::future::poll_fn(|cx| chain.poll_ready(cx)).await)
        };
        let overtaken = std::future::poll_fn(|cx| match gate {
            Some(gate) => gate.poll_overtaken(cx),
            None => std::task::Poll::Pending,
        });
        tokio::select! {
            biased;
            blocked = room => blocked,
            _ = self.cancel.wait_for(|&cancelled| cancelled) => Blocked::Cancelled,
            message = self.messages.recv() => Blocked::Message(message),
            checkpoint = overtaken => Blocked::Overtaken(checkpoint),
        }
    }

    async fn next_event(&mut self, progress: &Progress) -> Event {
        let clock_due = if progress.ended { None } else { self.chain.next_processing_time() };
        let flush_due = if progress.ended { None } else { progress.flush_at };
        let publish_due = progress.unpublished.then(|| progress.clock.next());
        let reads = !progress.ended && !progress.paused && !progress.waiting_for_split;
        let ended = progress.ended;
        let mut gate = self.gate.as_mut();
        let chain = &mut self.chain;
        let mut clock_told = false;
        let input = std::future::poll_fn(|cx| {
            if !ended && let Poll::Ready(done) = chain.poll_background(cx) {
                return Poll::Ready(Event::Background(done));
            }
            match &mut gate {
                Some(gate) => gate.poll_next(cx).map(Event::Input),
                None if reads => {
                    if !std::mem::replace(&mut clock_told, true)
                        && let Err(error) = chain.processing_time(now_micros())
                    {
                        return Poll::Ready(Event::Source(Err(error)));
                    }
                    match chain.source() {
                        Some(source) => source.poll(cx).map(Event::Source),
                        None => Poll::Ready(Event::Source(Err(JobError::new("a chain without input is no source")))),
                    }
                }
                None => Poll::Pending,
            }
        });
        tokio::select! {
            biased;
            _ = self.cancel.wait_for(|&cancelled| cancelled) => Event::Cancelled,
            message = self.messages.recv() => Event::Message(message),
            () = until(flush_due) => Event::FlushDue,
            () = until_micros(clock_due) => Event::ClockDue,
            event = input => event,
            () = until(publish_due) => Event::PublishDue,
        }
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
                self.report(TaskReport::SourceEvent(event));
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

    async fn take_checkpoint(&mut self, checkpoint: u64, progress: &mut Progress) -> Result<(), TaskFailure> {
        if checkpoint <= progress.taken {
            return Ok(());
        }
        progress.taken = checkpoint;
        progress.flush_at = None;
        // The checkpoint holds only if everything before it has arrived.
        self.settle().await?;
        if !progress.ended {
            self.outbox.put_all(|| Element::Barrier(checkpoint));
        }
        seam::reach(Point::Barrier).await?;
        let mut snapshot = SnapshotBuilder::new(checkpoint);
        let chain = &mut self.chain;
        seam::in_place(|| chain.snapshot(&mut snapshot))?;
        seam::reach(Point::Snapshot).await?;
        if let Some(gate) = &self.gate {
            let batches = seam::in_place(|| gate.in_flight(checkpoint))?;
            if !batches.is_empty() {
                let own = snapshot.operator(&self.uid);
                for (input, schema, bytes) in batches {
                    own.list(&format!("{IN_FLIGHT}{input}"), schema, vec![bytes]);
                }
            }
        }
        // What was sent before the last checkpoint is counted when the job has ended.
        self.publish(progress);
        let (id, reports, finished, watermark) = (self.id, self.reports.clone(), progress.ended, progress.watermark);
        let previous = std::mem::replace(&mut progress.part, checkpoint);
        let before = progress.encoding.take();
        progress.encoding = Some(tokio::spawn(async move {
            // Parts leave in the order of their checkpoints: what sinks have staged for one that was given up belongs to the next.
            if let Some(before) = before {
                let _ = before.await;
            }
            let encoded = encode(snapshot, id.subtask).await;
            // Messages inside of a process may be late; they are never lost.
            let _ = seam::reach(Point::Acknowledge).await;
            let report = match encoded {
                Ok(entries) => TaskReport::Ack(Ack { checkpoint, previous, finished, watermark, entries }),
                Err((reason, staged)) => TaskReport::Decline(Decline { checkpoint, previous, reason, staged }),
            };
            let _ = reports.send((id, report));
        }));
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
        let _ = self.reports.send((self.id, report));
    }
}

/// Encodes what was taken, on another thread. If that panics: why, and what sinks have staged, which needs no encoding.
async fn encode(snapshot: SnapshotBuilder, subtask: u32) -> Result<Vec<StateEntry>, (String, Vec<StateEntry>)> {
    let mut operators = snapshot.into_operators();
    let staged = take_staged(&mut operators, subtask);
    if let Err(error) = seam::reach(Point::Encode).await {
        return Err((error.to_string(), staged));
    }
    match seam::blocking(move || entries_of(operators, subtask)).await {
        Ok(mut entries) => {
            entries.extend(staged);
            Ok(entries)
        }
        Err(reason) => Err((format!("encoding its state panicked: {reason}"), staged)),
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Sleeps until the clock has come to a time, or for a second: the clock may jump ahead while the task sleeps.
async fn until_micros(at: Option<i64>) {
    match at {
        Some(at) => {
            let wait = u64::try_from(at.saturating_sub(now_micros())).unwrap_or(0).min(CLOCK_CHECKED);
            tokio::time::sleep(Duration::from_micros(wait)).await;
        }
        None => std::future::pending().await,
    }
}

/// How long a task goes without a look at the clock while somebody waits for it. Microseconds.
const CLOCK_CHECKED: u64 = 1_000_000;
