//! `cargo xtask sim`: the simulation of whole jobs, with many more seeds than CI runs.

use std::process::Command;

/// Runs the test with the given seeds and shows what it says.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut seeds, mut first) = (2000_u64, 1);
    let mut args = args.iter().map(String::as_str);
    while let Some(flag) = args.next() {
        let value = args.next().map(|value| value.replace('_', "")).and_then(|value| value.parse::<u64>().ok());
        match (flag, value) {
            ("--seeds", Some(value)) => seeds = value,
            ("--seed", Some(value)) => first = value,
            ("--seeds" | "--seed", None) => return Err(format!("`{flag}` takes a whole number")),
            _ => return Err(format!("unknown flag `{flag}`; there are --seeds and --seed")),
        }
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--package", "millstream-sim", "--test", "seeds", "every_row", "--", "--nocapture"]);
    command.env("MILLSTREAM_SEEDS", seeds.to_string()).env("MILLSTREAM_SEED", first.to_string());
    let status = command.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("a seed fails: {status}")) }
}
