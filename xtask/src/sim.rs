//! `cargo xtask sim`: the simulation of whole jobs, with many more seeds than CI runs.

use crate::repeat;

/// Runs the simulation with the given seeds and shows what it says.
pub fn run(args: &[String]) -> Result<(), String> {
    let flags = [("--seeds", "MILLSTREAM_SEEDS", Some(2000)), ("--seed", "MILLSTREAM_SEED", Some(1))];
    repeat::run_optimised("millstream-sim", &["seeds", "every_row"], &flags, args)
}
