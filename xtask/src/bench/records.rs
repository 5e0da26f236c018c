//! `cargo xtask bench records`: what `#[derive(Record)]` adds to the build of a crate.
//!
//! Two crates with the same structs, one with the derives and one without, built again and again with everything they depend on
//! built before.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::measure::{self, Measurement};
use super::{pipelines, places};

/// The crate has to be built within so many seconds.
const GOAL: f64 = 10.0;

/// Builds both crates and prints what it took.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut records, mut runs) = (100, 3);
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let number = args.next().and_then(|value| value.replace('_', "").parse::<usize>().ok());
        match (flag.as_str(), number) {
            ("--records", Some(count)) => records = count,
            ("--runs", Some(count)) => runs = count.max(1),
            (other, _) => return Err(format!("`{other}` is unknown or has no number behind it\n\n{}", crate::USAGE)),
        }
    }
    let (root, folder) = places()?;
    let folder = folder.join("records");
    for derived in [false, true] {
        write_crate(&root, &folder, records, derived)?;
    }
    println!("{records} structs of 12 fields, the crate alone, not incremental; median of {runs} builds after one\n");
    println!("| command | structs: s | CPU s | with `Record`: s | CPU s |");
    println!("|---|---:|---:|---:|---:|");
    let mut longest = 0.0_f64;
    for command in ["check", "build"] {
        let (plain, derived) = measure::pair(runs, || cargo(&folder, command, "plain"), || cargo(&folder, command, "derived"))?;
        let figures = |m: &Measurement| format!("{:.2} | {:.2}", m.wall, m.cpu);
        println!("| cargo {command} | {} | {} |", figures(&plain), figures(&derived));
        longest = longest.max(derived.wall);
    }
    match longest < GOAL {
        true => Ok(()),
        false => Err(format!("the goal is {GOAL} s, and it took {longest:.1} s")),
    }
}

/// The crate is built anew each time: its only file has changed, for all that cargo knows.
fn cargo(folder: &Path, command: &str, name: &str) -> Command {
    let place = folder.join(name);
    let file = place.join("src/lib.rs");
    if let Ok(text) = std::fs::read(&file) {
        let _ = std::fs::write(&file, text);
    }
    let mut cargo = Command::new("cargo");
    cargo.args([command, "--quiet", "--offline", "--manifest-path"]).arg(place.join("Cargo.toml"));
    cargo.env("CARGO_INCREMENTAL", "0");
    // Where this was built, or below the bench's own folder: what they depend on is shared.
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        cargo.env("CARGO_TARGET_DIR", folder.join("target"));
    }
    cargo
}

fn write_crate(root: &Path, folder: &Path, records: usize, derived: bool) -> Result<(), String> {
    let name = if derived { "derived" } else { "plain" };
    let place = folder.join(name);
    let facade = root.join("runtime/millstream");
    let manifest = format!(
        "[package]\nname = \"records-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\nmillstream = {{ path = {:?} }}\n\n[workspace]\n\n{}\n",
        facade.display().to_string(),
        profile(root)?
    );
    pipelines::write(&place.join("Cargo.toml"), &manifest)?;
    let lock = place.join("Cargo.lock");
    if !lock.exists() {
        std::fs::copy(root.join("Cargo.lock"), &lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    }
    pipelines::write(&place.join("src/lib.rs"), &text(records, derived))
}

/// The workspace's own profile, so that what is built already is built as here.
fn profile(root: &Path) -> Result<String, String> {
    let file = root.join("Cargo.toml");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let start = text.find("[profile.dev]").unwrap_or(text.len());
    let end = text[start..].find("\n# ").map_or(text.len(), |end| start + end);
    Ok(text[start..end].to_owned())
}

/// Structs that use all kinds of columns; one in ten holds the one before it.
fn text(records: usize, derived: bool) -> String {
    let derive = if derived { ", Record" } else { "" };
    let mut text =
        String::from("//! What `cargo xtask bench records` builds.\n#![allow(dead_code)]\n\nuse millstream::prelude::*;\n");
    for number in 0..records {
        let nested = match number % 10 {
            9 => format!("Option<Record{}>", number - 1),
            _ => "Option<String>".to_owned(),
        };
        let rename = if derived { format!("    #[flow(rename = \"order-{number}\")]\n") } else { String::new() };
        let _ = write!(
            text,
            "\n/// Rows of table {number}.\n#[derive(Clone, Debug{derive})]\npub struct Record{number} {{\n{rename}    pub id: i64,\n    \
             pub name: String,\n    pub short: Str,\n    pub placed_at: Timestamp,\n    pub paid_at: Option<Timestamp>,\n    \
             pub amount: Decimal<10, 2>,\n    pub share: f64,\n    pub open: bool,\n    pub tags: Vec<String>,\n    \
             pub labels: Map<String, i64>,\n    pub count: Option<i32>,\n    pub more: {nested},\n}}\n"
        );
    }
    text
}
