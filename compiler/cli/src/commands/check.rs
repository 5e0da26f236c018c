//! `millstream check FILE...`: every mistake at once, in milliseconds.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use millstream_compiler::diagnostics::{Severity, json, render};
use millstream_compiler::session::{Planned, Session};
use millstream_runtime::graph::Operation;

use crate::console::Console;
use crate::files;

const EXAMPLES: &str = "Examples:
  millstream check orders.flow
  millstream check pipelines/*.flow
  millstream check --format json orders.flow | jq .title

Exit code: 0 without errors, 1 with errors.";

/// Check pipelines and show every mistake at once
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The pipelines to check, each by itself
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// `text` for people; `json` for tools: one diagnostic a line, on standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Checks all files; fails if one has errors.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let mut good = true;
    for path in &args.files {
        good &= check(path, args.format, console);
    }
    if good { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn check(path: &str, format: Format, console: &Console) -> bool {
    let start = Instant::now();
    let Some(mut session) = files::open(path, console) else { return false };
    // A file without a sink is there for others to use: there is nothing to plan in it.
    let planned = if session.has_sink() { session.plan() } else { None };
    let time = start.elapsed();
    match format {
        Format::Json => {
            for diagnostic in session.diagnostics() {
                console.print(format_args!("{}\n", json::json(diagnostic, session.sources())));
            }
        }
        Format::Text => {
            let text = render::render_all(session.diagnostics(), session.sources(), console.style());
            if !text.is_empty() {
                console.message(text.trim_end());
            }
            console.message(summary(path, &session, planned.as_ref(), time));
        }
    }
    !session.has_errors()
}

/// `orders.flow: good: 1 source, 3 operators, 1 sink (2.1 ms)`
fn summary(path: &str, session: &Session, planned: Option<&Planned>, time: Duration) -> String {
    let time = format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    if session.has_errors() {
        let errors = session.diagnostics().iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
        return format!("{path}: {} ({time})", counted(errors, "error"));
    }
    // Of a pipeline what runs, of other files what they offer.
    let operations: Vec<&Operation> = match planned {
        Some(planned) => planned.built.vertices().map(|vertex| &planned.built.vertex(vertex).operation).collect(),
        None => session.program().nodes.iter().map(|node| &node.operation).collect(),
    };
    let (mut sources, mut operators, mut sinks) = (0, 0, 0);
    for operation in operations {
        match operation {
            Operation::Source(_) => sources += 1,
            Operation::Sink(_) => sinks += 1,
            _ => operators += 1,
        }
    }
    let parts = [counted(sources, "source"), counted(operators, "operator"), counted(sinks, "sink")];
    format!("{path}: good: {} ({time})", parts.join(", "))
}

fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
