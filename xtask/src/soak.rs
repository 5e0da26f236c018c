//! `cargo xtask soak hybrid`: the kill test of hybrid sources, many more times than CI runs it.

use std::process::Command;

/// Runs the test with the given number of cycles and shows what it says.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut cycles, mut seed) = (200_u64, None);
    let mut args = args.iter().map(String::as_str);
    match args.next() {
        Some("hybrid") => {}
        Some(other) => return Err(format!("there is no soak `{other}`; there is `hybrid`")),
        None => return Err("say what is soaked: `cargo xtask soak hybrid`".to_string()),
    }
    while let Some(flag) = args.next() {
        let value = args.next().map(|value| value.replace('_', "")).and_then(|value| value.parse::<u64>().ok());
        match (flag, value) {
            ("--cycles", Some(value)) => cycles = value,
            ("--seed", Some(value)) => seed = Some(value),
            ("--cycles" | "--seed", None) => return Err(format!("`{flag}` takes a whole number")),
            _ => return Err(format!("unknown flag `{flag}`; there are --cycles and --seed")),
        }
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--package", "millstream-cli", "--test", "hybrid_kill", "--", "--nocapture"]);
    command.env("MILLSTREAM_CYCLES", cycles.to_string());
    if let Some(seed) = seed {
        command.env("MILLSTREAM_SEED", seed.to_string());
    }
    let status = command.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the soak failed: {status}")) }
}
