//! The status line of a running job, redrawn on a terminal, with where it is held up.

use std::io::{IsTerminal, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::metrics::{Rates, Share, pressure_word};
use crate::progress::{Board, ChainShape};

/// Between two lines.
const INTERVAL: Duration = Duration::from_millis(250);

/// Pressure is told of so much time.
const WINDOW: Duration = Duration::from_secs(2);

/// Characters that fit.
const WIDTH: usize = 120;

/// The status line, until it is dropped.
#[derive(Debug)]
pub(crate) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Ticker {
    /// Starts it when standard error is a terminal.
    pub(crate) fn start(board: Arc<Board>, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Ticker { stop: None, thread: None };
        }
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let mut rates = Rates::new(INTERVAL, WINDOW);
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let mut line = board.line();
                let numbers = board.numbers();
                let spent = numbers.tasks.iter().map(|task| task.spent).collect();
                let shares = rates.update(Instant::now(), spent);
                let tasks: Vec<_> = numbers.tasks.iter().map(|task| task.id.chain).zip(shares).collect();
                if let Some(held_up) = bottleneck(&numbers.chains, &tasks) {
                    line = format!("{line} | {held_up}");
                }
                let line: String = line.chars().take(WIDTH).collect();
                let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
            }
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        });
        Ticker { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// `backpressure HIGH: counts is the bottleneck (busy 97%)`. None: nothing waits for room.
///
/// The bottleneck is what the last chain waits for that is held up: the busiest of its consumers. A chain that has no consumer waits
/// for what its own sink writes to.
fn bottleneck(chains: &[ChainShape], tasks: &[(usize, Share)]) -> Option<String> {
    let most = |chain: usize, of: fn(&Share) -> f64| {
        tasks.iter().filter(|(own, _)| *own == chain).map(|(_, share)| of(share)).fold(0.0, f64::max)
    };
    let pressure = |chain: usize| most(chain, |share| share.backpressured);
    let busy = |chain: usize| most(chain, |share| share.busy);
    // Producers come before consumers.
    let held_up = (0..chains.len()).rev().find(|&chain| pressure_word(pressure(chain)) != "OK")?;
    let word = pressure_word(pressure(held_up));
    let consumers = (0..chains.len()).filter(|&chain| chains[chain].inputs.contains(&held_up));
    Some(match consumers.max_by(|&a, &b| busy(a).total_cmp(&busy(b))) {
        Some(consumer) => {
            format!("backpressure {word}: {} is the bottleneck (busy {:.0}%)", chains[consumer].name, busy(consumer) * 100.0)
        }
        None => format!("backpressure {word}: {} waits for its sink", chains[held_up].name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(busy: f64, backpressured: f64) -> Share {
        Share { busy, idle: 1.0 - busy - backpressured, backpressured }
    }

    #[test]
    fn the_bottleneck_is_what_the_last_held_up_chain_waits_for() {
        let chain = |name, inputs: &[usize]| ChainShape { name, region: String::new(), inputs: inputs.to_vec() };
        let chains = [chain("bids", &[]), chain("joined", &[0]), chain("counts", &[1]), chain("copy", &[1])];
        let with = |bids, joined, counts, copy| {
            bottleneck(&chains, &[(0, bids), (1, joined), (1, share(0.1, 0.0)), (2, counts), (3, copy)])
        };
        let calm = share(0.2, 0.05);
        assert_eq!(with(calm, calm, calm, calm), None);
        assert_eq!(
            with(share(0.1, 0.9), share(0.98, 0.02), calm, calm).unwrap(),
            "backpressure HIGH: joined is the bottleneck (busy 98%)"
        );
        // One subtask that is held up is enough, and what is behind it counts.
        assert_eq!(
            with(share(0.1, 0.9), share(0.7, 0.3), share(0.9, 0.0), calm).unwrap(),
            "backpressure LOW: counts is the bottleneck (busy 90%)"
        );
        assert_eq!(with(calm, calm, share(0.1, 0.8), calm).unwrap(), "backpressure HIGH: counts waits for its sink");
    }
}
