//! `cargo xtask bench disk`: keyed state on disk beside the same state in memory, in one run.
//!
//! One operator in this process: rows whose keys are all over the state, and rows of which nine in ten go to one key in
//! twenty; in memory, on disk where all fits, and on disk with ten times the state that fits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use millstream::codegen::*;
use millstream::state::Disk;

use super::state::{Keys, Operator, encode, operator, push, resident};

/// Settings: how many keys, how many rows.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut keys, mut rows) = (2_000_000, 2_000_000);
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(|| format!("{flag} takes a value\n\n{}", crate::USAGE))?;
        let number = value.replace('_', "").parse::<u64>().map_err(|_| format!("{flag} takes a number, not {value}"))?;
        match flag.as_str() {
            "--keys" => keys = number.max(10_000),
            "--rows" => rows = number.max(10_000),
            other => return Err(format!("unknown flag {other}\n\n{}", crate::USAGE)),
        }
    }
    println!("{keys} keys, {rows} rows; per row, by the clock; memory beyond that of the process before\n");
    println!("| state | first row of a key | keys all over | mostly few keys | checkpoint | of | memory |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let (_, folder) = super::places()?;
    let size = measure("in memory", None, keys, rows)?;
    let disk = |memory| Disk::open(&folder.join("state"), memory).map(Arc::new).map_err(|error| error.to_string());
    measure("on disk, all fits", Some(disk(8 * size)?), keys, rows)?;
    measure("on disk, a tenth fits", Some(disk(size / 10)?), keys, rows)?;
    println!("\ncheckpoints with a tenth of the state in memory, after so many rows whose keys are all over\n");
    println!("| rows since the one before | checkpoint | pause | until it is encoded | of |");
    println!("|---:|---|---:|---:|---:|");
    few_changes(&disk(size / 10)?, keys)
}

/// Checkpoints that hold everything beside those that hold what has changed.
fn few_changes(disk: &Arc<Disk>, keys: u64) -> Result<(), String> {
    let fail = |error: JobError| error.to_string();
    let mut stage: Operator = operator(Some(disk.clone()));
    Stage::<u64>::processing_time(&mut stage, 1).map_err(fail)?;
    for from in (0..keys).step_by(1000) {
        push(&mut stage, (from..(from + 1000).min(keys)).collect())?;
    }
    let mut random = Keys::new(keys);
    for (before, rows) in [0, keys / 1000, keys / 100, keys / 10].into_iter().enumerate() {
        // In whole batches.
        let rows = rows.next_multiple_of(1000);
        for _ in 0..rows / 1000 {
            let batch = random.batch();
            push(&mut stage, batch)?;
        }
        // Of the same moment; a whole one leaves no trace.
        let before = before as u64;
        let what = if before == 0 { "begins anew" } else { "what has changed" };
        let builders = [("everything", SnapshotBuilder::new(1)), (what, SnapshotBuilder::in_pieces(before + 1, before))];
        for (what, mut builder) in builders {
            let start = Instant::now();
            Stage::<u64>::snapshot(&mut stage, &mut builder).map_err(fail)?;
            let pause = start.elapsed();
            let start = Instant::now();
            let bytes: usize = encode(builder).0.iter().map(|part| part.3.len()).sum();
            println!("| {rows} | {what} | {pause:.2?} | {:.2?} | {:.2} MB |", start.elapsed(), bytes as f64 / 1e6);
        }
    }
    Ok(())
}

/// Gives how much memory it took.
fn measure(what: &str, disk: Option<Arc<Disk>>, keys: u64, rows: u64) -> Result<u64, String> {
    let fail = |error: JobError| error.to_string();
    let before = resident();
    let mut stage: Operator = operator(disk);
    Stage::<u64>::processing_time(&mut stage, 1).map_err(fail)?;
    let start = Instant::now();
    for from in (0..keys).step_by(1000) {
        push(&mut stage, (from..(from + 1000).min(keys)).collect())?;
    }
    let first = start.elapsed();
    let mut random = Keys::new(keys);
    let start = Instant::now();
    for _ in 0..rows / 1000 {
        let batch = random.batch();
        push(&mut stage, batch)?;
    }
    let all_over = start.elapsed();
    let start = Instant::now();
    for _ in 0..rows / 1000 {
        let mut batch = random.batch();
        batch.iter_mut().enumerate().filter(|(at, _)| at % 10 != 0).for_each(|(_, key)| *key /= 20);
        push(&mut stage, batch)?;
    }
    let few = start.elapsed();
    let memory = resident().saturating_sub(before);
    let start = Instant::now();
    let mut builder = SnapshotBuilder::new(1);
    Stage::<u64>::snapshot(&mut stage, &mut builder).map_err(fail)?;
    let pause = start.elapsed();
    let bytes: usize = encode(builder).0.iter().map(|part| part.3.len()).sum();
    let each = |time: Duration, count: u64| format!("{:.2} µs", time.as_secs_f64() * 1e6 / count as f64);
    println!(
        "| {what} | {} | {} | {} | {pause:.2?} | {} MB | {} MB |",
        each(first, keys),
        each(all_over, rows),
        each(few, rows),
        bytes / 1_000_000,
        memory / 1_000_000
    );
    Ok(memory)
}
