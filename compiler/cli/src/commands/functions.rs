//! `millstream functions [NAME]`: the library of functions, with signatures, explanations and examples.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::process::ExitCode;

use millstream_compiler::diagnostics::did_you_mean;
use millstream_compiler::session::Session;
use millstream_runtime::aggregates::{AGGREGATES, ANALYTIC};
use millstream_runtime::functions::FUNCTIONS;

use crate::console::Console;
use crate::files;

const EXAMPLES: &str = "Examples:
  millstream functions                 all functions, by category
  millstream functions text            the functions of text
  millstream functions split_index     one function, with examples
  millstream functions --of orders.flow   what a pipeline and its Rust files define";

/// Where aggregate functions are listed.
const AGGREGATE: &str = "aggregate";

/// List the functions that expressions can call, or explain one
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A function or a category
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The functions of this pipeline too, and of the Rust files that it uses
    #[arg(long, value_name = "FILE")]
    of: Option<String>,
}

/// What is shown of a function, scalar or aggregate.
#[derive(Clone)]
struct Entry {
    name: Cow<'static, str>,
    category: Cow<'static, str>,
    signature: Cow<'static, str>,
    doc: Cow<'static, str>,
    examples: &'static [(&'static str, &'static str)],
}

/// Shows one function, one category, or all.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let mut entries = entries();
    if let Some(file) = &args.of {
        let Some(session) = files::open(file, console) else { return ExitCode::from(1) };
        let own = of_pipeline(&session);
        if args.name.is_none() {
            let text = if own.is_empty() { format!("{file} defines no functions\n") } else { list(&own) };
            console.print(text);
            return ExitCode::SUCCESS;
        }
        entries.splice(0..0, own);
    }
    let Some(name) = &args.name else {
        console.print(list(&entries));
        return ExitCode::SUCCESS;
    };
    // A few names are of a function and of an aggregate.
    let found: Vec<Entry> = entries.iter().filter(|entry| entry.name == *name).cloned().collect();
    if !found.is_empty() {
        console.print(found.iter().map(page).collect::<Vec<_>>().join("\n"));
        return ExitCode::SUCCESS;
    }
    let category: Vec<Entry> = entries.iter().filter(|entry| entry.category == *name).cloned().collect();
    if !category.is_empty() {
        console.print(list(&category));
        return ExitCode::SUCCESS;
    }
    console.fail(format_args!("there is no function {name}{}", hint(name, &entries)))
}

/// All functions, those of a category together, each category by name.
fn entries() -> Vec<Entry> {
    let functions = FUNCTIONS.iter().map(|function| Entry {
        name: function.name.into(),
        category: function.category.into(),
        signature: function.signature.into(),
        doc: function.doc.into(),
        examples: function.examples,
    });
    let aggregates = AGGREGATES.iter().chain(ANALYTIC).map(|aggregate| Entry {
        name: aggregate.name.into(),
        category: AGGREGATE.into(),
        signature: aggregate.signature.into(),
        doc: aggregate.doc.into(),
        examples: &[],
    });
    let mut entries: Vec<Entry> = functions.chain(aggregates).collect();
    let mut categories: Vec<Cow<'static, str>> = Vec::new();
    for entry in &entries {
        if !categories.contains(&entry.category) {
            categories.push(entry.category.clone());
        }
    }
    let place = |category: &str| categories.iter().position(|other| *other == category);
    entries.sort_by_key(|entry| (place(&entry.category), entry.name.clone()));
    entries
}

/// What a pipeline defines: `fn` in the language, and `#[function]` in Rust files.
fn of_pipeline(session: &Session) -> Vec<Entry> {
    let functions = session.program().functions.iter().map(|function| {
        let params: Vec<String> = function.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let origin = &function.origin;
        Entry {
            name: function.name.clone().into(),
            category: origin.file.clone().into(),
            signature: format!(
                "{}{}({}) -> {}",
                if function.waits.is_some() { "async " } else { "" },
                function.name,
                params.join(", "),
                function.body.ty
            )
            .into(),
            doc: function.doc.clone().unwrap_or_else(|| format!("Defined at {}:{}.", origin.file, origin.line)).into(),
            examples: &[],
        }
    });
    let aggregates = session.program().rust.iter().flat_map(|module| {
        module.aggregates.iter().map(|aggregate| Entry {
            name: aggregate.name.clone().into(),
            category: module.path.clone().into(),
            signature: aggregate.signature.clone().into(),
            doc: aggregate.doc.clone().into(),
            examples: &[],
        })
    });
    functions.chain(aggregates).collect()
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
    let mut out = format!("{}\n\n{}\n", entry.signature, wrap(&entry.doc, 100));
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
pub fn wrap(text: &str, width: usize) -> String {
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
    let near = did_you_mean(name, entries.iter().map(|entry| &*entry.name));
    let inside: Vec<&str> =
        entries.iter().map(|entry| &*entry.name).filter(|other| name.len() > 2 && other.contains(name)).collect();
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
