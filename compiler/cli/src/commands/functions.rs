//! `millstream functions [NAME]`: the library of functions, with signatures, explanations and examples.

use std::fmt::Write as _;
use std::process::ExitCode;

use millstream_compiler::diagnostics::did_you_mean;
use millstream_runtime::aggregates::{AGGREGATES, ANALYTIC};
use millstream_runtime::functions::FUNCTIONS;

use crate::console::Console;

const EXAMPLES: &str = "Examples:
  millstream functions                 all functions, by category
  millstream functions text            the functions of text
  millstream functions split_index     one function, with examples";

/// Where aggregate functions are listed.
const AGGREGATE: &str = "aggregate";

/// List the functions that expressions can call, or explain one
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A function or a category
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// What is shown of a function, scalar or aggregate.
#[derive(Clone, Copy)]
struct Entry {
    name: &'static str,
    category: &'static str,
    signature: &'static str,
    doc: &'static str,
    examples: &'static [(&'static str, &'static str)],
}

/// Shows one function, one category, or all.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let entries = entries();
    let Some(name) = &args.name else {
        console.print(list(&entries));
        return ExitCode::SUCCESS;
    };
    // A few names are of a function and of an aggregate.
    let found: Vec<Entry> = entries.iter().filter(|entry| entry.name == name).copied().collect();
    if !found.is_empty() {
        console.print(found.iter().map(page).collect::<Vec<_>>().join("\n"));
        return ExitCode::SUCCESS;
    }
    let category: Vec<Entry> = entries.iter().filter(|entry| entry.category == name).copied().collect();
    if !category.is_empty() {
        console.print(list(&category));
        return ExitCode::SUCCESS;
    }
    console.fail(format_args!("there is no function {name}{}", hint(name, &entries)))
}

/// All functions, those of a category together, each category by name.
fn entries() -> Vec<Entry> {
    let functions = FUNCTIONS.iter().map(|function| Entry {
        name: function.name,
        category: function.category,
        signature: function.signature,
        doc: function.doc,
        examples: function.examples,
    });
    let aggregates = AGGREGATES.iter().chain(ANALYTIC).map(|aggregate| Entry {
        name: aggregate.name,
        category: AGGREGATE,
        signature: aggregate.signature,
        doc: aggregate.doc,
        examples: &[],
    });
    let mut entries: Vec<Entry> = functions.chain(aggregates).collect();
    let mut categories: Vec<&str> = Vec::new();
    for entry in &entries {
        if !categories.contains(&entry.category) {
            categories.push(entry.category);
        }
    }
    let place = |category: &str| categories.iter().position(|other| *other == category);
    entries.sort_by_key(|entry| (place(entry.category), entry.name));
    entries
}

/// Signatures and first sentences, under the names of their categories.
fn list(entries: &[Entry]) -> String {
    let mut out = String::new();
    for (index, entry) in entries.iter().enumerate() {
        if index == 0 || entries[index - 1].category != entry.category {
            let blank = if index == 0 { "" } else { "\n" };
            let _ = writeln!(out, "{blank}{}", entry.category);
        }
        let first = entry.doc.split("\n\n").next().unwrap_or_default();
        let _ = writeln!(out, "  {}\n      {first}", entry.signature);
    }
    out
}

/// One function in full.
fn page(entry: &Entry) -> String {
    let mut out = format!("{}\n\n{}\n", entry.signature, wrap(entry.doc, 100));
    if !entry.examples.is_empty() {
        out.push_str("\nExamples:\n");
        let width = entry.examples.iter().map(|(expression, _)| expression.chars().count()).max().unwrap_or(0);
        for (expression, value) in entry.examples {
            let _ = writeln!(out, "  {expression:width$}  // {value}");
        }
    }
    out
}

/// Lines of at most so many characters, where words allow it. Paragraphs stay apart.
fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    for (index, paragraph) in text.split("\n\n").enumerate() {
        if index > 0 {
            out.push_str("\n\n");
            length = 0;
        }
        for word in paragraph.split_whitespace() {
            let letters = word.chars().count();
            if length > 0 {
                let fits = length + 1 + letters <= width;
                out.push(if fits { ' ' } else { '\n' });
                length = if fits { length + 1 } else { 0 };
            }
            out.push_str(word);
            length += letters;
        }
    }
    out
}

/// Names like this one: written alike, or with it inside.
fn hint(name: &str, entries: &[Entry]) -> String {
    let near = did_you_mean(name, entries.iter().map(|entry| entry.name));
    let inside: Vec<&str> =
        entries.iter().map(|entry| entry.name).filter(|other| name.len() > 2 && other.contains(name)).collect();
    match (near, inside.as_slice()) {
        (Some(near), _) => format!(" (did you mean {near}?)"),
        (None, []) => "; `millstream functions` lists them all".to_owned(),
        (None, inside) => format!(" (there is {})", inside.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_listed_once_under_its_category() {
        let entries = entries();
        assert_eq!(entries.len(), FUNCTIONS.len() + AGGREGATES.len() + ANALYTIC.len());
        let text = list(&entries);
        let mut headings: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).collect();
        let count = headings.len();
        headings.sort_unstable();
        headings.dedup();
        assert_eq!(headings.len(), count, "{headings:?}");
        assert!(entries.iter().all(|entry| text.contains(&format!("\n  {}\n", entry.signature))));
    }

    #[test]
    fn lines_are_short() {
        let text = wrap("one two three\n\nfour fivefive", 9);
        assert_eq!(text, "one two\nthree\n\nfour\nfivefive");
        assert!(hint("splt", &entries()).contains("split"));
        assert!(hint("qqqqqqq", &entries()).contains("millstream functions"));
    }
}
