//! `millstream explain FILE` shows what will run; `millstream explain E0203` explains an error.

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use millstream_compiler::diagnostics::{codes, did_you_mean, render};
use millstream_compiler::plan::{dump, explain};
use millstream_compiler::session::{Planned, Session};
use millstream_compiler::{hir, syntax};

use crate::console::Console;
use crate::files;

const EXAMPLES: &str = "Examples:
  millstream explain orders.flow                        what runs where, and what is guaranteed
  millstream explain orders.flow --format mermaid       a drawing for Markdown
  millstream explain orders.flow --format dot | dot -Tsvg > plan.svg
  millstream explain orders.flow --phase optimised      the job graph after all passes
  millstream explain orders.flow --passes               what each pass changed
  millstream explain E0203                              what an error means";

/// Show what will run, or explain an error code
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A pipeline, or the code of an error
    #[arg(value_name = "FILE|CODE")]
    what: String,
    /// How to show the plan
    #[arg(long, value_enum, default_value = "text", conflicts_with_all = ["phase", "passes"])]
    format: Format,
    /// Show what one phase of the compiler makes instead
    #[arg(long, value_enum, conflicts_with = "passes")]
    phase: Option<Phase>,
    /// Show what each optimisation pass changed instead
    #[arg(long)]
    passes: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For tools.
    Json,
    /// For Graphviz.
    Dot,
    /// For Markdown viewers.
    Mermaid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Phase {
    /// What was written.
    Ast,
    /// The same, with all names and types resolved.
    Hir,
    /// The job graph as written.
    Job,
    /// The job graph after all passes.
    Optimised,
    /// Chains, subtasks and exchanges.
    Execution,
}

/// Explains a file or a code.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    if is_code(&args.what) {
        return page(&args.what, console);
    }
    let Some(mut session) = files::open(&args.what, console) else { return ExitCode::from(1) };
    if args.phase == Some(Phase::Ast) {
        // Shown also for a file with mistakes: what was understood of it.
        let trees = session.files().iter().map(|(_, file)| syntax::dump(file));
        console.print(trees.collect::<Vec<_>>().join("\n"));
        return finish(&session, console);
    }
    let Some(planned) = session.plan() else { return finish(&session, console) };
    let shown = match (args.phase, args.passes) {
        (Some(phase), _) => of_phase(phase, &session, &planned),
        (None, true) => explain::passes(&dump::job(&planned.built), &planned.traces),
        (None, false) => plan(args.format, &planned),
    };
    console.print(shown);
    finish(&session, console)
}

/// Shows diagnostics; fails if there are errors.
fn finish(session: &Session, console: &Console) -> ExitCode {
    let text = render::render_all(session.diagnostics(), session.sources(), console.style());
    if !text.is_empty() {
        console.message(text.trim_end());
    }
    if session.has_errors() { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

fn of_phase(phase: Phase, session: &Session, planned: &Planned) -> String {
    match phase {
        Phase::Ast => String::new(),
        Phase::Hir => hir::dump(session.program()),
        Phase::Job => dump::job(&planned.built),
        Phase::Optimised => dump::job(&planned.job),
        Phase::Execution => dump::execution(&planned.job, &planned.execution),
    }
}

fn plan(format: Format, planned: &Planned) -> String {
    let plan = explain::Plan { built: &planned.built, job: &planned.job, execution: &planned.execution };
    match format {
        Format::Text => explain::text(plan),
        Format::Json => format!("{:#}\n", explain::json(plan)),
        Format::Dot => explain::dot(plan),
        Format::Mermaid => explain::mermaid(plan),
    }
}

/// `E0203`, `w0401`: a letter and four digits, and no file of that name.
fn is_code(what: &str) -> bool {
    let mut chars = what.chars();
    let letter = chars.next().is_some_and(|c| matches!(c, 'E' | 'e' | 'W' | 'w'));
    letter && what.len() == 5 && chars.all(|c| c.is_ascii_digit()) && !Path::new(what).exists()
}

fn page(code: &str, console: &Console) -> ExitCode {
    if let Some(page) = codes::page(code) {
        console.print(format_args!("{}\n", page.trim_end()));
        return ExitCode::SUCCESS;
    }
    let near = did_you_mean(&code.to_ascii_uppercase(), codes::PAGES.iter().map(|page| page.code));
    let hint = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
    console.fail(format_args!("there is no error {code}{hint}"))
}
