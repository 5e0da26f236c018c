//! What part of its time each task spends on what, over the last while.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::task::Spent;

/// Parts of the time, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Share {
    pub busy: f64,
    pub idle: f64,
    pub backpressured: f64,
}

/// How much backpressure that is, in the words of Flink's web page.
pub(crate) fn pressure_word(share: f64) -> &'static str {
    match share {
        share if share <= 0.10 => "OK",
        share if share <= 0.5 => "LOW",
        _ => "HIGH",
    }
}

/// A sliding window over the times of all tasks.
#[derive(Debug)]
pub(crate) struct Rates {
    every: Duration,
    length: Duration,
    /// Oldest first; all with the same tasks.
    samples: VecDeque<(Instant, Vec<Spent>)>,
}

impl Rates {
    /// A window of this length, which moves in steps of `every`.
    pub(crate) fn new(every: Duration, length: Duration) -> Self {
        Rates { every, length, samples: VecDeque::new() }
    }

    /// Takes the times up to `now`, and gives the share of each task since the window's begin.
    pub(crate) fn update(&mut self, now: Instant, spent: Vec<Spent>) -> Vec<Share> {
        // Other tasks: another attempt.
        if self.samples.back().is_some_and(|(_, last)| last.len() != spent.len() || shrunk(last, &spent)) {
            self.samples.clear();
        }
        while self.samples.len() > 1 && self.samples.get(1).is_some_and(|(at, _)| now.duration_since(*at) >= self.length) {
            self.samples.pop_front();
        }
        let shares = match self.samples.front() {
            Some((_, first)) => spent.iter().zip(first).map(|(now, then)| share(*now, *then)).collect(),
            None => spent.iter().map(|now| share(*now, Spent::default())).collect(),
        };
        if self.samples.back().is_none_or(|(at, _)| now.duration_since(*at) >= self.every) {
            self.samples.push_back((now, spent));
        }
        shares
    }
}

fn total(spent: &Spent) -> u64 {
    spent.busy + spent.idle + spent.backpressured
}

fn shrunk(before: &[Spent], after: &[Spent]) -> bool {
    before.iter().zip(after).any(|(before, after)| total(after) < total(before))
}

#[allow(clippy::cast_precision_loss)]
fn share(now: Spent, then: Spent) -> Share {
    let part = |now: u64, then: u64| now.saturating_sub(then) as f64;
    let whole = part(total(&now), total(&then)).max(1.0);
    Share {
        busy: part(now.busy, then.busy) / whole,
        idle: part(now.idle, then.idle) / whole,
        backpressured: part(now.backpressured, then.backpressured) / whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_last_minute() {
        let mut rates = Rates::new(Duration::from_secs(5), Duration::from_secs(60));
        let start = Instant::now();
        let mut spent = Spent::default();
        let mut last = Vec::new();
        for second in 1..=200_u64 {
            // Busy for 100 s, then backpressured.
            *if second <= 100 { &mut spent.busy } else { &mut spent.backpressured } += 1_000_000;
            last = rates.update(start + Duration::from_secs(second), vec![spent]);
            let expected = if second <= 100 { 1.0 } else { 1.0 - ((second - 100) as f64 / 60.0).min(1.0) };
            assert!((last[0].busy - expected).abs() < 0.1, "second {second}: {last:?}");
        }
        assert_eq!(last, [Share { busy: 0.0, idle: 0.0, backpressured: 1.0 }]);
        // A restart: the times begin anew.
        assert_eq!(rates.update(start + Duration::from_secs(201), vec![Spent { idle: 5, ..Spent::default() }])[0].idle, 1.0);
    }

    #[test]
    fn words_for_pressure() {
        assert_eq!([0.0, 0.10, 0.11, 0.5, 0.51, 1.0].map(pressure_word), ["OK", "OK", "LOW", "LOW", "HIGH", "HIGH"]);
    }
}
