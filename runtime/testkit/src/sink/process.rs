//! The same test binary as another process.

use std::process::{Command, ExitStatus, Stdio};

use super::SinkContext;
use super::bench::Bench;
use crate::faults::{Faults, Step};

const CHILD: &str = "MILLSTREAM_KIT_CHILD";

/// Runs a job on the store in another process, which dies before its first commit.
pub(super) fn run_and_die<C: SinkContext>(bench: &Bench<C>, module: &str, rows: u64) -> ExitStatus {
    // The harness knows tests without the name of their crate.
    let module = module.split_once("::").map_or(String::new(), |(_, module)| format!("{module}::"));
    let told = [bench.context().address(), bench.checkpoints().display().to_string(), rows.to_string()].join("\n");
    Command::new(std::env::current_exe().unwrap_or_else(|error| panic!("who am I? {error}")))
        .args(["--exact", &format!("{module}child_process"), "--nocapture"])
        .env(CHILD, told)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap_or_else(|error| panic!("cannot start another process: {error}"))
}

/// What the other process does; nothing in the test's own.
pub fn child<C: SinkContext>() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let parts: Vec<&str> = told.split('\n').collect();
    let &[address, checkpoints, rows] = parts.as_slice() else { panic!("three lines, not: {told}") };
    let context = C::at(address).unwrap_or_else(|error| panic!("cannot open {address}: {error}"));
    let bench = Bench::at(context, checkpoints.into(), Faults::aborting(Step::Before));
    let rows = rows.parse().unwrap_or_else(|error| panic!("{rows}: {error}"));
    bench.gate().up_to(rows);
    let handle = bench.start(2, None);
    bench.wait_emitted(&handle, rows);
    // The process does not come back from this.
    let _ = handle.checkpoint();
    panic!("the process should have died in the commit");
}
