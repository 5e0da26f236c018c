//! The input of a task: all its channels as one sequence of events, barriers aligned, watermarks combined.
//!
//! After a barrier a channel is blocked until the barrier has come through every other channel; a channel that has ended
//! counts as aligned. A newer barrier gives the older checkpoint up. At least once, no channel is blocked: what follows a barrier is in
//! the checkpoint where it comes before the last of the barriers, and is read again after a failure.
//!
//! When a checkpoint is to overtake rows, the gate takes over what waits in the channels, up to the barrier of each, without handing it
//! on. As soon as it has all barriers the checkpoint is taken: what was taken over and not handed on is part of it.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use tokio::sync::mpsc::Receiver;

use super::element::{Batch, Element};
use super::in_flight::BatchCodec;
use super::valve::{Valve, ValveOutput};
use crate::error::{JobError, JobResult};
use crate::graph::CheckpointMode;

/// Elements that a gate takes over from one channel at most, to find the barrier behind them.
const MOST_WAITING: usize = 256;

/// What the gate gives to the task.
#[derive(Debug)]
pub enum GateEvent {
    /// Rows of one of the task's inputs.
    Batch {
        /// Which input.
        input: usize,
        /// The rows.
        batch: Batch,
    },
    /// The combined watermark has moved.
    Watermark(i64),
    /// All channels are idle.
    Idle,
    /// One speaks again.
    Active,
    /// The barrier has come through all channels.
    Barrier(u64),
    /// All channels have ended. Nothing follows.
    End,
    /// A producer is gone without an end: the attempt is being torn down.
    Disconnected,
}

#[derive(Debug)]
struct Channel {
    input: usize,
    receiver: Receiver<Element>,
    state: ChannelState,
    /// The newest barrier that has come through, where barriers block nothing.
    seen: u64,
    /// What was taken over from the channel and comes before what is still in it. None: the producer is gone.
    waiting: VecDeque<Option<Element>>,
    /// None: its rows cannot be stored.
    codec: Option<BatchCodec>,
}

impl Channel {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Element>> {
        match self.waiting.pop_front() {
            Some(element) => Poll::Ready(element),
            None => self.receiver.poll_recv(cx),
        }
    }

    /// Whether all rows are there that come before this barrier, or the end.
    fn has_all_before(&self, id: u64) -> bool {
        let is_last = |element: &Option<Element>| match element {
            Some(Element::Barrier(barrier)) => *barrier >= id,
            Some(Element::End) | None => true,
            Some(_) => false,
        };
        self.waiting.iter().any(is_last)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChannelState {
    Open,
    /// Its barrier has come; others' have not.
    Blocked,
    Ended,
}

/// The channels of one task.
#[derive(Debug)]
pub struct Gate {
    channels: Vec<Channel>,
    valve: Valve,
    valve_out: Vec<ValveOutput>,
    ready: VecDeque<GateEvent>,
    /// Where the next poll starts, so that no channel starves.
    next: usize,
    /// The checkpoint that is being aligned.
    aligning: Option<u64>,
    /// The newest checkpoint that was aligned or given up.
    last: u64,
    /// The checkpoint whose barriers overtake rows, until it is taken.
    overtaking: Option<u64>,
    /// The last one whose barriers did.
    overtaken: u64,
    mode: CheckpointMode,
    ended: bool,
}

impl Gate {
    /// A gate over channels, each with the number of the input that it belongs to.
    pub fn new(channels: Vec<(usize, Receiver<Element>)>) -> Self {
        let channel = |(input, receiver)| Channel {
            input,
            receiver,
            state: ChannelState::Open,
            seen: 0,
            waiting: VecDeque::new(),
            codec: None,
        };
        let channels: Vec<_> = channels.into_iter().map(channel).collect();
        Gate {
            valve: Valve::new(channels.len()),
            channels,
            valve_out: Vec::new(),
            ready: VecDeque::new(),
            next: 0,
            aligning: None,
            last: 0,
            overtaking: None,
            overtaken: 0,
            mode: CheckpointMode::ExactlyOnce,
            ended: false,
        }
    }

    /// Whether barriers block the channels that they have come through.
    #[must_use]
    pub fn in_mode(self, mode: CheckpointMode) -> Self {
        Gate { mode, ..self }
    }

    /// How the rows of each input are stored when barriers overtake them. Where one input has none, no rows of any are overtaken.
    #[must_use]
    pub fn with_codecs(mut self, codec: impl Fn(usize) -> Option<BatchCodec>) -> Self {
        for channel in &mut self.channels {
            channel.codec = codec(channel.input);
        }
        self
    }

    /// Rows that were on their way when the restored checkpoint was taken: they come before all others.
    pub fn restore_in_flight(&mut self, batches: Vec<(usize, Batch)>) {
        self.ready.extend(batches.into_iter().map(|(input, batch)| GateEvent::Batch { input, batch }));
    }

    /// The barriers of this checkpoint overtake the rows that wait before them.
    pub fn overtake(&mut self, checkpoint: u64) {
        let can = self.mode == CheckpointMode::ExactlyOnce && self.channels.iter().all(|channel| channel.codec.is_some());
        if can && checkpoint > self.last && !self.ended {
            self.overtaking = Some(checkpoint);
        }
    }

    /// Whether a checkpoint is to overtake rows, and not all of its barriers have come.
    pub fn is_overtaking(&self) -> bool {
        self.overtaking.is_some()
    }

    /// The checkpoint that is to overtake rows, once all its barriers have come.
    pub fn poll_overtaken(&mut self, cx: &mut Context<'_>) -> Poll<u64> {
        let Some(id) = self.overtaking.filter(|_| !self.ended) else { return Poll::Pending };
        if self.aligning.is_some_and(|aligning| aligning < id) {
            self.aligning = None;
            self.unblock();
        }
        let mut all = true;
        for channel in self.channels.iter_mut().filter(|channel| channel.state == ChannelState::Open) {
            while !channel.has_all_before(id) {
                let Poll::Ready(element) = (match channel.waiting.len() {
                    0..MOST_WAITING => channel.receiver.poll_recv(cx),
                    _ => Poll::Pending,
                }) else {
                    all = false;
                    break;
                };
                channel.waiting.push_back(element);
            }
        }
        if !all {
            return Poll::Pending;
        }
        self.overtaking = None;
        if self.channels.iter().flat_map(|channel| &channel.waiting).any(|element| match element {
            // This one was given up on the way here.
            Some(Element::Barrier(barrier)) => *barrier > id,
            None => true,
            Some(_) => false,
        }) {
            return Poll::Pending;
        }
        for channel in &mut self.channels {
            channel.waiting.retain(|element| !matches!(element, Some(Element::Barrier(_))));
        }
        self.aligning = None;
        self.unblock();
        self.last = id;
        self.overtaken = id;
        Poll::Ready(id)
    }

    /// The rows that the barriers of this checkpoint have overtaken, encoded, by input and schema. Before anything else is taken
    /// from the gate.
    pub(crate) fn in_flight(&self, checkpoint: u64) -> JobResult<Vec<(usize, String, Vec<u8>)>> {
        if self.overtaken != checkpoint {
            return Ok(Vec::new());
        }
        let ready = self.ready.iter().filter_map(|event| match event {
            GateEvent::Batch { input, batch } => Some((*input, batch)),
            _ => None,
        });
        let waiting = self.channels.iter().flat_map(|channel| {
            channel.waiting.iter().filter_map(|element| match element {
                Some(Element::Batch(batch)) => Some((channel.input, batch)),
                _ => None,
            })
        });
        let mut encoded = Vec::new();
        for (input, batch) in ready.chain(waiting) {
            let codec = self.channels.iter().find(|channel| channel.input == input).and_then(|channel| channel.codec);
            let codec = codec.ok_or_else(|| JobError::new(format!("rows of input {input} cannot be stored")))?;
            encoded.push((input, codec.schema(), codec.encode(batch)?));
        }
        Ok(encoded)
    }

    /// The combined watermark.
    pub fn watermark(&self) -> i64 {
        self.valve.watermark()
    }

    /// Event time starts here, not at the beginning: a restored checkpoint had come so far.
    pub fn restore_watermark(&mut self, watermark: i64) {
        self.valve.restore(watermark);
    }

    /// This checkpoint is given up: its barriers, those that have come and those that will, mean nothing.
    pub fn abort(&mut self, checkpoint: u64) {
        self.last = self.last.max(checkpoint);
        self.overtaking = self.overtaking.filter(|&overtaking| overtaking > checkpoint);
        if self.aligning.is_some_and(|aligning| aligning <= checkpoint) {
            self.aligning = None;
            self.unblock();
        }
    }

    /// The next event.
    pub async fn next(&mut self) -> GateEvent {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next event, if there is one.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<GateEvent> {
        if let Poll::Ready(checkpoint) = self.poll_overtaken(cx) {
            return Poll::Ready(GateEvent::Barrier(checkpoint));
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(event);
            }
            if self.ended {
                return Poll::Pending;
            }
            let mut progress = false;
            for step in 0..self.channels.len() {
                let index = (self.next + step) % self.channels.len();
                let channel = &mut self.channels[index];
                if channel.state != ChannelState::Open {
                    continue;
                }
                if let Poll::Ready(element) = channel.poll(cx) {
                    self.next = index + 1;
                    self.take(index, element);
                    progress = true;
                    break;
                }
            }
            if !progress {
                return Poll::Pending;
            }
        }
    }

    fn take(&mut self, index: usize, element: Option<Element>) {
        match element {
            Some(Element::Batch(batch)) => {
                let input = self.channels[index].input;
                self.ready.push_back(GateEvent::Batch { input, batch });
            }
            Some(Element::Watermark(time)) => self.through_valve(|valve, out| valve.watermark_of(index, time, out)),
            Some(Element::Idle) => self.through_valve(|valve, out| valve.idle(index, out)),
            Some(Element::Active) => self.through_valve(|valve, out| valve.active(index, out)),
            Some(Element::Barrier(id)) => self.barrier(index, id),
            Some(Element::End) => self.end(index),
            None => {
                self.ended = true;
                self.ready.push_back(GateEvent::Disconnected);
            }
        }
    }

    fn through_valve(&mut self, act: impl FnOnce(&mut Valve, &mut Vec<ValveOutput>)) {
        act(&mut self.valve, &mut self.valve_out);
        self.ready.extend(self.valve_out.drain(..).map(|output| match output {
            ValveOutput::Watermark(time) => GateEvent::Watermark(time),
            ValveOutput::Idle => GateEvent::Idle,
            ValveOutput::Active => GateEvent::Active,
        }));
    }

    fn barrier(&mut self, index: usize, id: u64) {
        if id <= self.last || self.aligning.is_some_and(|aligning| id < aligning) {
            return;
        }
        if self.mode == CheckpointMode::AtLeastOnce {
            self.channels[index].seen = self.channels[index].seen.max(id);
            self.complete_seen();
            return;
        }
        if self.aligning.is_some_and(|aligning| id > aligning) {
            self.unblock();
        }
        self.aligning = Some(id);
        self.channels[index].state = ChannelState::Blocked;
        self.complete_alignment();
    }

    fn end(&mut self, index: usize) {
        self.channels[index].state = ChannelState::Ended;
        self.channels[index].receiver.close();
        self.through_valve(|valve, out| valve.finished(index, out));
        match self.mode {
            CheckpointMode::ExactlyOnce => self.complete_alignment(),
            CheckpointMode::AtLeastOnce => self.complete_seen(),
        }
        if self.channels.iter().all(|channel| channel.state == ChannelState::Ended) {
            self.ended = true;
            self.ready.push_back(GateEvent::End);
        }
    }

    /// Gives out the newest barrier that has come through all channels; older ones with it.
    fn complete_seen(&mut self) {
        let open = self.channels.iter().filter(|channel| channel.state != ChannelState::Ended);
        if let Some(id) = open.map(|channel| channel.seen).min().filter(|&id| id > self.last) {
            self.last = id;
            self.ready.push_back(GateEvent::Barrier(id));
        }
    }

    fn complete_alignment(&mut self) {
        let Some(id) = self.aligning else { return };
        if self.channels.iter().any(|channel| channel.state == ChannelState::Open) {
            return;
        }
        self.aligning = None;
        self.last = id;
        self.unblock();
        self.ready.push_back(GateEvent::Barrier(id));
    }

    fn unblock(&mut self) {
        for channel in &mut self.channels {
            if channel.state == ChannelState::Blocked {
                channel.state = ChannelState::Open;
            }
        }
    }
}

#[cfg(test)]
mod tests;
