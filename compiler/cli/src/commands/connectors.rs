//! `millstream connectors [NAME]`: where rows can come from and go to, with options, types, defaults and what is promised.

use std::fmt::Write as _;
use std::process::ExitCode;

use millstream_compiler::diagnostics::did_you_mean;
use millstream_compiler::ide::option_detail;
use millstream_runtime::connectors::{CONNECTORS, ConnectorSpec, OptionSpec};

use super::functions::wrap;
use crate::console::Console;
use crate::files;

const EXAMPLES: &str = "Examples:
  millstream connectors                all connectors
  millstream connectors file           one of them, with all its options
  millstream connectors --of feed.flow        those of a pipeline's Rust files
  millstream connectors poll --of feed.flow   one of those";

/// List the connectors that sources, lookups and sinks can use, or explain one
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A connector
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The connectors in the Rust files of this pipeline
    #[arg(long, value_name = "FILE")]
    of: Option<String>,
}

/// Shows one connector, or all.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let mut known: Vec<&'static ConnectorSpec> = CONNECTORS.to_vec();
    if let Some(file) = &args.of {
        let Some(session) = files::open(file, console) else { return ExitCode::from(1) };
        let own: Vec<_> =
            session.program().rust.iter().flat_map(|module| &module.connectors).map(|connector| connector.spec).collect();
        if args.name.is_none() {
            console.print(if own.is_empty() { format!("{file} has no connectors of its own\n") } else { list(&own) });
            return ExitCode::SUCCESS;
        }
        known.splice(0..0, own);
    }
    let Some(name) = &args.name else {
        console.print(list(&known));
        return ExitCode::SUCCESS;
    };
    match known.iter().find(|connector| connector.name == *name) {
        Some(connector) => {
            console.print(page(connector));
            ExitCode::SUCCESS
        }
        None => {
            let near = did_you_mean(name, known.iter().map(|connector| connector.name));
            let hint = near.map_or_else(
                || "; `millstream connectors` lists them, `--of FILE` those of a pipeline's Rust files".to_owned(),
                |near| format!(" (did you mean {near}?)"),
            );
            console.fail(format_args!("there is no connector {name}{hint}"))
        }
    }
}

/// Names with what they can do, and the first sentences.
fn list(connectors: &[&ConnectorSpec]) -> String {
    let mut out = String::new();
    for connector in connectors {
        let can = [connector.source.map(|_| "source"), connector.lookup.map(|_| "lookup"), connector.sink.map(|_| "sink")];
        let can: Vec<&str> = can.into_iter().flatten().collect();
        let first = connector.doc.split("\n\n").next().unwrap_or_default();
        let first = first.split_inclusive(". ").next().unwrap_or_default();
        let _ = writeln!(out, "{} ({})\n    {}", connector.name, can.join(", "), first.trim());
    }
    out
}

/// One connector in full.
fn page(connector: &ConnectorSpec) -> String {
    let name = connector.name;
    let mut out = format!("{name}\n\n{}\n", wrap(connector.doc, 100));
    if let Some(source) = &connector.source {
        let _ = writeln!(out, "\nsource x: Row from {name} {{ .. }}");
        let again = if source.replayable { "read again after a failure" } else { "not read again after a failure: at most once" };
        let ends = if (source.bounded)(&[]) { "it ends" } else { "it never ends" };
        describe(&mut out, source.options, source.formats, &format!("{again}; {ends}"));
    }
    if let Some(lookup) = &connector.lookup {
        let _ = writeln!(out, "\nlookup x: Row from {name} {{ .. }} key (..)");
        let asked = if lookup.by_key { "asked key by key" } else { "loaded as a whole" };
        describe(&mut out, lookup.options, lookup.formats, asked);
    }
    if let Some(sink) = &connector.sink {
        let _ = writeln!(out, "\nsink x into {name} {{ .. }}");
        let delivery = if sink.exactly_once { "exactly once" } else { "at least once" };
        let tables = match (sink.accepts_tables, sink.needs_key) {
            (true, true) => "streams and tables, with a key",
            (true, false) => "streams and tables",
            (false, _) => "streams",
        };
        describe(&mut out, sink.options, sink.formats, &format!("{delivery}; takes {tables}"));
    }
    out
}

fn describe(out: &mut String, options: &[OptionSpec], formats: &[&str], promises: &str) {
    for option in options {
        let _ = writeln!(out, "  {}: {}", option.name, option_detail(option));
        for line in wrap(option.doc, 94).lines() {
            let _ = writeln!(out, "      {line}");
        }
    }
    if let [first, ..] = formats {
        let _ = writeln!(out, "  format: {} = {first}", formats.join(" | "));
    }
    let _ = writeln!(out, "  ({promises})");
}

#[cfg(test)]
mod tests {
    use millstream_compiler::ide::option_type;

    use super::*;

    #[test]
    fn every_option_of_every_connector_is_shown() {
        let all = list(CONNECTORS);
        for connector in CONNECTORS {
            assert!(all.contains(&format!("{} (", connector.name)), "{all}");
            let page = page(connector);
            let options = connector.source.iter().flat_map(|source| source.options);
            let options = options.chain(connector.lookup.iter().flat_map(|lookup| lookup.options));
            let options = options.chain(connector.sink.iter().flat_map(|sink| sink.options));
            for option in options {
                assert!(page.contains(&format!("  {}: {}", option.name, option_type(option.ty))), "{page}");
            }
        }
    }
}
