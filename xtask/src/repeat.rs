//! Tests that CI runs a few times, run many times by a command: numbers come in as flags and go on as environment variables.

use std::process::Command;

/// A flag with a whole number: `--cycles`, the variable that the test reads, and the number where the flag is left out; None: the
/// test's own.
pub type Flag = (&'static str, &'static str, Option<u64>);

/// Runs a test of a package, as `args` say, and shows what it says. Optimised: for tests that compute more than they wait, once there are
/// many of them.
pub fn run_optimised(package: &str, test: &[&str], flags: &[Flag], args: &[String]) -> Result<(), String> {
    run_as(&["--release"], package, test, flags, args, &[])
}

/// The same as it is built for the other tests, with more in its environment.
pub fn run_with(
    package: &str,
    test: &[&str],
    flags: &[Flag],
    args: &[String],
    environment: &[(String, String)],
) -> Result<(), String> {
    run_as(&[], package, test, flags, args, environment)
}

fn run_as(
    profile: &[&str],
    package: &str,
    test: &[&str],
    flags: &[Flag],
    args: &[String],
    environment: &[(String, String)],
) -> Result<(), String> {
    let mut numbers: Vec<Option<u64>> = flags.iter().map(|(.., default)| *default).collect();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let Some(index) = flags.iter().position(|(flag, ..)| *flag == arg) else {
            let known: Vec<&str> = flags.iter().map(|(flag, ..)| *flag).collect();
            return Err(format!("unknown flag `{arg}`; there are {}", known.join(" and ")));
        };
        let number = args.next().and_then(|value| value.replace('_', "").parse().ok());
        numbers[index] = Some(number.ok_or_else(|| format!("`{arg}` takes a whole number"))?);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg("test").args(profile).args(["--package", package, "--test"]).args(test).args(["--", "--nocapture"]);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    for ((_, variable, _), number) in flags.iter().zip(numbers) {
        if let Some(number) = number {
            command.env(variable, number.to_string());
        }
    }
    let status = command.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the test failed: {status}")) }
}
