//! `cargo xtask soak hybrid`: the kill test of hybrid sources, many more times than CI runs it.

use crate::repeat;

/// Runs the test with the given number of cycles and shows what it says.
pub fn run(args: &[String]) -> Result<(), String> {
    match args.first().map(String::as_str) {
        Some("hybrid") => {
            let flags = [("--cycles", "MILLSTREAM_CYCLES", Some(200)), ("--seed", "MILLSTREAM_SEED", None)];
            repeat::run("millstream-cli", &["hybrid_kill"], &flags, &args[1..])
        }
        Some(other) => Err(format!("there is no soak `{other}`; there is `hybrid`")),
        None => Err("say what is soaked: `cargo xtask soak hybrid`".to_string()),
    }
}
