//! Development commands: `cargo xtask bench`, `cargo xtask sim`, `cargo xtask soak`.

mod bench;
mod repeat;
mod sim;
mod soak;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask bench [--events N] [--runs N] [--queries q0,q1,..] [--inputs generator,json]

Runs Nexmark queries from the in-process generator and from a JSON file, each beside a hand-written loop that does the
same work, and prints events per second, CPU seconds per million events and peak memory (medians of the runs).

usage: cargo xtask bench state [--events N] [--runs N] [--megabytes N] [--snapshots N] [--queries q17,q18]

What checkpoints cost: queries with one every second beside the same without any, and with so much keyed state (1000 MB) the
pause at a barrier, batches while a snapshot is encoded, and the time to restore it.

usage: cargo xtask bench disk [--keys N] [--rows N]

Keyed state on disk (where all fits in memory, and where a tenth does) beside the same in memory: time per row, the pause at a
barrier, and memory; and checkpoints that hold what has changed beside those that hold everything.

usage: cargo xtask bench large [--megabytes N]

State on disk that is larger than the memory of its pipeline (5000 MB in its checkpoints): time and peak memory while it grows, and while it
is restored and written as a whole. Needs about four times the room in target/bench.

usage: cargo xtask bench rust [--events N] [--runs N]

Functions and operators in Rust beside the same written in the language: CPU seconds per million events (10,000,000 of them).

usage: cargo xtask bench records [--records N] [--runs N]

How long a crate with N records (100) takes to build, beside the same structs without derives; 10 s is the goal.

usage: cargo xtask soak hybrid|mixed [--cycles N] [--seed N]

Kills a pipeline with a hybrid source N times (200) at random moments, in its stages and between them, and starts it again;
every row must be committed once. `mixed` does so with state in memory and on disk, checkpoints in a folder and in a bucket, and
sinks to both, against a local S3 server.

usage: cargo xtask sim [--seeds N] [--seed FIRST]

Simulates jobs with N seeds (2000) on one thread with a clock of its own: crashes, failures and delays at every point of the
engine, storage that refuses and forgets. `MILLSTREAM_TRACE=1` shows what happens, line by line.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.first().map(String::as_str) {
        Some("bench") => bench::run(&args[1..]),
        Some("sim") => sim::run(&args[1..]),
        Some("soak") => soak::run(&args[1..]),
        // What `bench` starts as a process of its own, to be measured like the pipelines.
        Some("handwritten") => bench::handwritten::run(&args[1..]),
        _ => Err(USAGE.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
