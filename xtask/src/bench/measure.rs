//! Whole processes, measured by the kernel's own accounting.

use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

/// One finished process, or the median of several.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Seconds from start to end.
    pub wall: f64,
    /// User and system seconds of all threads.
    pub cpu: f64,
    /// The most memory that was resident at once.
    pub peak_bytes: u64,
}

/// Runs two commands in turn, `runs` times each after one that does not count; gives the medians of both.
pub fn pair(
    runs: usize,
    first: impl Fn() -> Command,
    second: impl Fn() -> Command,
) -> Result<(Measurement, Measurement), String> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        let (one, two) = (measure(first())?, measure(second())?);
        if run > 0 {
            a.push(one);
            b.push(two);
        }
    }
    Ok((median(&a), median(&b)))
}

fn measure(mut command: Command) -> Result<Measurement, String> {
    let shown = format!("{command:?}");
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn().map_err(|error| format!("{shown}: {error}"))?;
    let used = child.wait4().map_err(|error| format!("{shown}: {error}"))?;
    let wall = started.elapsed().as_secs_f64();
    if !used.status.success() {
        return Err(format!("{shown}: {}", used.status));
    }
    Ok(Measurement { wall, cpu: (used.rusage.utime + used.rusage.stime).as_secs_f64(), peak_bytes: used.rusage.maxrss })
}

fn median(all: &[Measurement]) -> Measurement {
    let middle = |figure: fn(&Measurement) -> f64| {
        let mut figures: Vec<f64> = all.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    Measurement { wall: middle(|m| m.wall), cpu: middle(|m| m.cpu), peak_bytes: middle(|m| m.peak_bytes as f64) as u64 }
}
