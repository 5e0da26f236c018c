//! `cargo xtask bench rust`: functions and operators in Rust beside the same written in the language.
//!
//! Each pair is two pipelines over the same generated bids, built alike and run in turn. What Rust adds is what its call and
//! the way of values to it and back cost: a call that is inlined costs nothing.

use std::path::Path;
use std::process::Command;

use super::{measure, pipelines, places};

/// A pipeline that ends in a stream `out`, once with what stands in the Rust file and once without.
struct Pair {
    name: &'static str,
    language: &'static str,
    rust: &'static str,
}

const PAIRS: &[Pair] = &[
    Pair {
        name: "function of numbers",
        language: "fn euros(dollars: int64) = cast(dollars, float64) * 0.908\n\n\
                   stream out = bids | select { auction, bidder, price: euros(price) }",
        rust: "stream out = bids | select { auction, bidder, price: rust_euros(price) }",
    },
    Pair {
        name: "function of texts",
        language: "fn is_deep(url: string) = length(url) > 60 and contains(url, \"item\")\n\n\
                   stream out = bids | where is_deep(url) | select { auction, bidder }",
        rust: "stream out = bids | where rust_is_deep(url) | select { auction, bidder }",
    },
    Pair {
        name: "operator without state",
        language: "stream out = bids | where price % 3 != 0 | select { auction, bidder, price: price * 2 }",
        rust: "stream out = bids | process Doubled",
    },
    Pair {
        name: "operator with a key",
        language: "stream out = bids | @ttl(never) dedup by bidder | select { auction, bidder, price }",
        rust: "stream out = bids | process by bidder First",
    },
];

const RUST: &str = r#"//! What `cargo xtask bench rust` measures.

use millstream::prelude::*;

/// A price in euros.
#[function]
pub fn rust_euros(dollars: i64) -> f64 {
    dollars as f64 * 0.908
}

/// Whether an address leads to an item far inside.
#[function]
pub fn rust_is_deep(url: &str) -> bool {
    url.chars().count() > 60 && url.contains("item")
}

/// A bid, as far as it matters here.
#[derive(Clone, Debug, Record)]
pub struct Offer {
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
}

/// Twice the price of those that 3 does not divide.
#[derive(Default)]
pub struct Doubled {}

#[operator]
impl Process for Doubled {
    type Input = Offer;
    type Output = Offer;

    fn process(&mut self, offer: Offer, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if offer.price % 3 != 0 {
            cx.emit(Offer { price: offer.price * 2, ..offer });
        }
        Ok(())
    }
}

/// The first offer of each bidder.
#[derive(Default)]
pub struct First {}

/// Whether there was one.
#[derive(Clone, Debug, Default, State)]
pub struct Seen {
    seen: bool,
}

#[operator]
impl Process for First {
    type Input = Offer;
    type Output = Offer;
    type State = Seen;

    fn process(&mut self, offer: Offer, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if !std::mem::replace(&mut cx.state().seen, true) {
            cx.emit(offer);
        }
        Ok(())
    }
}
"#;

/// Builds and measures all pairs.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut events, mut runs) = (10_000_000, 5);
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let number = args.next().and_then(|value| value.replace('_', "").parse::<u64>().ok());
        match (flag.as_str(), number) {
            ("--events", Some(count)) => events = count,
            ("--runs", Some(count)) => runs = count.max(1) as usize,
            (other, _) => return Err(format!("`{other}` is unknown or has no number behind it\n\n{}", crate::USAGE)),
        }
    }
    let (root, folder) = places()?;
    let folder = folder.join("rust");
    println!(
        "{events} events of the generator at parallelism 1, median of {runs} runs; CPU: user and system seconds per million events\n"
    );
    println!("| what | in the language: CPU s/M | in Rust: CPU s/M | ratio |");
    println!("|---|---:|---:|---:|");
    for pair in PAIRS {
        let binary = |kind: &str, stream: &str| {
            let name = format!("{}_{kind}", pair.name.replace(' ', "_"));
            build(&root, &folder, &name, stream, events)
        };
        let (language, rust) = (binary("language", pair.language)?, binary("rust", pair.rust)?);
        let command = |binary: &Path| {
            let mut command = Command::new(binary);
            command.args(["--parallelism", "1", "--quiet"]);
            command
        };
        let (language, rust) = measure::pair(runs, || command(&language), || command(&rust))?;
        let per_million = |cpu: f64| cpu / (events as f64 / 1e6);
        println!(
            "| {} | {:.3} | {:.3} | {:.2} |",
            pair.name,
            per_million(language.cpu),
            per_million(rust.cpu),
            rust.cpu / language.cpu
        );
    }
    Ok(())
}

fn build(root: &Path, folder: &Path, name: &str, stream: &str, events: u64) -> Result<std::path::PathBuf, String> {
    pipelines::shared(root, folder, events)?;
    pipelines::write(&folder.join("bench.rs"), RUST)?;
    let of_rust = if name.ends_with("_rust") { "use rust \"bench.rs\"\n" } else { "" };
    let text = format!("job {name} {{}}\n\nuse \"nexmark.flow\"\n{of_rust}\n{stream}\n\nsink out into blackhole {{}}\n");
    let flow = folder.join(format!("{name}.flow"));
    pipelines::write(&flow, &text)?;
    pipelines::compile(root, &flow, &folder.join(name))
}
