//! Combines the watermarks of many channels into one: the minimum over those that take part.
//!
//! An idle channel does not take part. When it speaks again it takes part only once it has caught up with what was
//! given out. A channel that has ended (or reached the end of time) is finished, which is not idle: it holds nothing back,
//! and it never pushes the others forward.

use super::element::{END_OF_TIME, START_OF_TIME};

/// What the valve gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValveOutput {
    /// The combined watermark has moved to here.
    Watermark(i64),
    /// No channel is active any more.
    Idle,
    /// One is again.
    Active,
}

#[derive(Clone, Copy, Debug)]
struct Channel {
    watermark: i64,
    active: bool,
    /// Takes part in the minimum.
    aligned: bool,
}

/// The combined event time of several channels.
#[derive(Clone, Debug)]
pub struct Valve {
    channels: Vec<Channel>,
    last: i64,
    active: bool,
}

impl Valve {
    /// A valve over so many channels, all active, without a watermark.
    pub fn new(channels: usize) -> Self {
        let channel = Channel { watermark: START_OF_TIME, active: true, aligned: true };
        Valve { channels: vec![channel; channels], last: START_OF_TIME, active: true }
    }

    /// The watermark that was given out last.
    pub fn watermark(&self) -> i64 {
        self.last
    }

    /// Nothing before this is given out: a restored checkpoint had come so far.
    pub fn restore(&mut self, watermark: i64) {
        self.last = self.last.max(watermark);
    }

    /// A channel's watermark. Idle channels have no say; a watermark never goes back.
    pub fn watermark_of(&mut self, channel: usize, watermark: i64, out: &mut Vec<ValveOutput>) {
        let state = &mut self.channels[channel];
        if watermark == END_OF_TIME {
            self.finished(channel, out);
            return;
        }
        if !state.active || watermark <= state.watermark {
            return;
        }
        state.watermark = watermark;
        if !state.aligned && watermark >= self.last {
            state.aligned = true;
        }
        self.advance(out);
    }

    /// A channel has nothing to say for now.
    pub fn idle(&mut self, channel: usize, out: &mut Vec<ValveOutput>) {
        let state = &mut self.channels[channel];
        if !state.active || state.watermark == END_OF_TIME {
            return;
        }
        state.active = false;
        state.aligned = false;
        self.without_one(out);
    }

    /// A channel speaks again.
    pub fn active(&mut self, channel: usize, out: &mut Vec<ValveOutput>) {
        let last = self.last;
        let state = &mut self.channels[channel];
        if state.active || state.watermark == END_OF_TIME {
            return;
        }
        state.active = true;
        state.aligned = state.watermark >= last;
        if !self.active {
            self.active = true;
            out.push(ValveOutput::Active);
        }
        self.advance(out);
    }

    /// A channel has ended.
    pub fn finished(&mut self, channel: usize, out: &mut Vec<ValveOutput>) {
        let state = &mut self.channels[channel];
        if state.watermark == END_OF_TIME {
            return;
        }
        *state = Channel { watermark: END_OF_TIME, active: false, aligned: false };
        self.without_one(out);
    }

    /// One channel takes part no more.
    fn without_one(&mut self, out: &mut Vec<ValveOutput>) {
        let unfinished = || self.channels.iter().filter(|channel| channel.watermark != END_OF_TIME);
        if unfinished().next().is_none() {
            self.give(END_OF_TIME, out);
        } else if unfinished().any(|channel| channel.active) {
            self.advance(out);
        } else if self.active {
            // Nobody is left to hold anything back: go as far as any of the silent ones had come.
            let ahead = unfinished().map(|channel| channel.watermark).max().unwrap_or(START_OF_TIME);
            self.give(ahead, out);
            self.active = false;
            out.push(ValveOutput::Idle);
        }
    }

    fn advance(&mut self, out: &mut Vec<ValveOutput>) {
        let aligned = self.channels.iter().filter(|channel| channel.aligned).map(|channel| channel.watermark).min();
        if let Some(watermark) = aligned {
            self.give(watermark, out);
        }
    }

    fn give(&mut self, watermark: i64, out: &mut Vec<ValveOutput>) {
        if watermark > self.last {
            self.last = watermark;
            out.push(ValveOutput::Watermark(watermark));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ValveOutput::{Active, Idle, Watermark};
    use super::*;

    fn out(act: impl FnOnce(&mut Vec<ValveOutput>)) -> Vec<ValveOutput> {
        let mut out = Vec::new();
        act(&mut out);
        out
    }

    #[test]
    fn the_slowest_channel_decides() {
        let mut valve = Valve::new(2);
        assert_eq!(out(|o| valve.watermark_of(0, 10, o)), []);
        assert_eq!(out(|o| valve.watermark_of(1, 5, o)), [Watermark(5)]);
        assert_eq!(out(|o| valve.watermark_of(1, 4, o)), [], "a watermark never goes back");
        assert_eq!(out(|o| valve.watermark_of(1, 20, o)), [Watermark(10)]);
    }

    #[test]
    fn an_idle_channel_holds_nothing_back_and_has_no_say() {
        let mut valve = Valve::new(2);
        valve.watermark_of(0, 10, &mut Vec::new());
        assert_eq!(out(|o| valve.idle(1, o)), [Watermark(10)]);
        assert_eq!(out(|o| valve.watermark_of(1, 30, o)), [], "watermarks of idle channels are ignored");
    }

    #[test]
    fn a_resumed_channel_takes_part_once_it_has_caught_up() {
        let mut valve = Valve::new(2);
        valve.idle(1, &mut Vec::new());
        assert_eq!(out(|o| valve.watermark_of(0, 10, o)), [Watermark(10)]);
        assert_eq!(out(|o| valve.active(1, o)), []);
        assert_eq!(out(|o| valve.watermark_of(1, 3, o)), []);
        assert_eq!(out(|o| valve.watermark_of(0, 15, o)), [Watermark(15)], "a laggard does not hold the rest back");
        assert_eq!(out(|o| valve.watermark_of(1, 15, o)), []);
        assert_eq!(out(|o| valve.watermark_of(0, 20, o)), [], "it takes part now");
        assert_eq!(out(|o| valve.watermark_of(1, 18, o)), [Watermark(18)]);
    }

    #[test]
    fn when_the_last_active_channel_falls_silent_the_furthest_decides() {
        let mut valve = Valve::new(2);
        valve.watermark_of(0, 10, &mut Vec::new());
        valve.watermark_of(1, 5, &mut Vec::new());
        assert_eq!(out(|o| valve.idle(0, o)), []);
        assert_eq!(out(|o| valve.idle(1, o)), [Watermark(10), Idle]);
        assert_eq!(out(|o| valve.active(0, o)), [Active]);
        assert_eq!(out(|o| valve.watermark_of(0, 12, o)), [Watermark(12)]);
    }

    #[test]
    fn finished_is_not_idle() {
        let mut valve = Valve::new(3);
        valve.watermark_of(0, 10, &mut Vec::new());
        valve.watermark_of(1, 20, &mut Vec::new());
        assert_eq!(out(|o| valve.idle(2, o)), [Watermark(10)]);
        assert_eq!(out(|o| valve.watermark_of(0, END_OF_TIME, o)), [Watermark(20)]);
        assert_eq!(out(|o| valve.finished(0, o)), [], "the end after the end of time changes nothing");
        assert_eq!(out(|o| valve.finished(1, o)), [Idle], "the silent one may still speak: time does not end");
        assert_eq!(out(|o| valve.active(2, o)), [Active]);
        assert_eq!(out(|o| valve.watermark_of(2, 25, o)), [Watermark(25)]);
        assert_eq!(out(|o| valve.finished(2, o)), [Watermark(END_OF_TIME)]);
    }
}
