//! What a task waits for: between two steps, and while its consumers have no room.

use std::task::Poll;
use std::time::Duration;

use super::{Progress, Task};
use crate::error::{JobError, JobResult};
use crate::exchange::GateEvent;
use crate::seam::{self, now_micros, until};
use crate::source::ReaderStatus;
use crate::task::TaskMessage;

/// What a step of a task is about.
pub(super) enum Event {
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
pub(super) enum Blocked {
    /// Everything is sent, and the chain takes more.
    Room(JobResult<()>),
    Cancelled,
    Message(Option<TaskMessage>),
    /// The barriers of this checkpoint have come, and have overtaken the rows before them.
    Overtaken(u64),
}

impl Task {
    /// Waits until everything is sent, or for what cannot wait so long.
    pub(super) async fn blocked(&mut self) -> Blocked {
        let (sender, chain, gate) = (&self.sender, &mut self.chain, &mut self.gate);
        let room = async {
            if sender.send_all().await.is_err() {
                return Blocked::Cancelled;
            }
            Blocked::Room(std::future::poll_fn(|cx| chain.poll_ready(cx)).await)
        };
        let overtaken = std::future::poll_fn(|cx| match gate {
            Some(gate) => gate.poll_overtaken(cx),
            None => Poll::Pending,
        });
        tokio::select! {
            biased;
            blocked = room => blocked,
            _ = self.cancel.wait_for(|&cancelled| cancelled) => Blocked::Cancelled,
            message = self.messages.recv() => Blocked::Message(message),
            checkpoint = overtaken => Blocked::Overtaken(checkpoint),
        }
    }

    /// Waits for the next step: first of all what the coordinator says, then what is due, then input.
    pub(super) async fn next_event(&mut self, progress: &Progress) -> Event {
        let clock_due = if progress.ended { None } else { self.chain.next_processing_time() };
        let flush_due = if progress.ended { None } else { progress.flush_at };
        let publish_due = progress.unpublished.then(|| progress.clock.next());
        let reads = !progress.ended && !progress.paused && !progress.waiting_for_split;
        let ended = progress.ended;
        let mut gate = self.gate.as_mut();
        let chain = &mut self.chain;
        let mut clock_told = false;
        let mut input = std::pin::pin!(std::future::poll_fn(|cx| {
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
        }));
        if seam::input_first()
            && let Poll::Ready(event) = std::future::poll_fn(|cx| Poll::Ready(input.as_mut().poll(cx))).await
        {
            return event;
        }
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
