//! The reference is true: every ```flow block of the pages compiles, and the page of functions is made from their
//! descriptors, as that of the grammar from `flow.pest` (`UPDATE_DOCS=1` writes them).
//!
//! A block of items is completed by what it does not define itself, see `PRELUDE`. A block of operators, lines that begin
//! with `|`, is one of examples that have no stream in common: each has to parse.

mod docs_support;
#[path = "docs_support/examples.rs"]
mod examples;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use millstream_compiler::diagnostics::Severity;
use millstream_compiler::diagnostics::render::{Style, render_all};
use millstream_compiler::session::{Loader, Session};
use millstream_compiler::source::FileId;
use millstream_compiler::syntax;
use millstream_runtime::aggregates::AGGREGATES;
use millstream_runtime::functions::FUNCTIONS;

const PRELUDE: &[(&str, &str)] = &[
    (
        "Order",
        "record Order { id: int64, customer: string, currency: string, amount: decimal(10, 2), quantity: int32, note: string?, \
         placed_at: timestamp, words: list<string>, labels: map<string, string> }",
    ),
    ("orders", "source orders: Order from file { path: \"orders.jsonl\", format: json } watermark placed_at - 5s"),
    ("payments", "source payments: Payment from file { path: \"payments.jsonl\", format: json } watermark paid_at - 5s"),
    ("Payment", "record Payment { id: int64, order_id: int64, method: string, amount: decimal(10, 2), paid_at: timestamp }"),
    ("Flight", "record Flight { carrier: string, origin: string, dep_delay: int32?, time_hour: timestamp }"),
    ("flights", "source flights: Flight from file { path: \"flights.csv\", format: csv } watermark time_hour - 1d"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The README and all pages below `docs`.
fn pages() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md")];
    let mut open = vec![root().join("docs")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The flow blocks of a page, with the lines on which they begin.
fn blocks(page: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(page).expect("a page");
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        match &mut open {
            Some(_) if line.trim() == "```" => found.extend(open.take()),
            Some((_, block)) => {
                block.push_str(line);
                block.push('\n');
            }
            None if line.trim() == "```flow" => open = Some((number + 2, String::new())),
            None => {}
        }
    }
    found
}

struct Text(String);

impl Loader for Text {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == "page.flow" {
            return Ok(self.0.as_bytes().to_vec());
        }
        if path == "shop.flow" {
            return std::fs::read(examples::folder().join("shop/shop.flow")).map_err(|error| error.to_string());
        }
        // A Rust file is that of the example of its name; what a block takes by another `use` is not at hand.
        let Some(name) = path.strip_suffix(".rs") else { return Ok(Vec::new()) };
        let own = std::fs::read(root().join(format!("examples/{name}/{name}.rs")));
        let text = own.or_else(|_| std::fs::read(root().join(format!("examples/connector/src/{name}.rs"))));
        text.map_err(|_| format!("there is no example {path}"))
    }
}

/// What is wrong with a block of items.
fn check_items(block: &str) -> String {
    let defines = |name: &str| {
        block.lines().any(|line| {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            matches!(words.next(), Some("record" | "enum" | "source" | "lookup" | "stream")) && words.next() == Some(name)
        })
    };
    let needs = |name: &str| block.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let mut text = block.to_owned();
    // Last first: a source brings its record.
    for (name, definition) in PRELUDE.iter().rev() {
        // Its records are in the Rust file.
        if block.contains("use rust") {
            break;
        }
        let source_needs =
            PRELUDE.iter().any(|(other, source)| needs(other) && !defines(other) && source.contains(&format!(": {name} from")));
        if !defines(name) && (needs(name) || source_needs) {
            let _ = writeln!(text, "\n{definition}");
        }
    }
    check_text(text)
}

/// The errors of a file.
fn check_text(text: String) -> String {
    let session = Session::open("page.flow", &Text(text)).expect("the text is there");
    let errors: Vec<_> = session.diagnostics().iter().filter(|found| found.severity == Severity::Error).cloned().collect();
    render_all(&errors, session.sources(), Style::Plain)
}

/// What is wrong with a block of operators.
fn check_operators(block: &str) -> String {
    let mut examples: Vec<String> = Vec::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        match examples.last_mut() {
            Some(example) if !line.starts_with('|') => {
                example.push('\n');
                example.push_str(line);
            }
            _ => examples.push(line.to_owned()),
        }
    }
    let mut wrong = String::new();
    for example in examples {
        let text = format!("stream example = input {example}\n");
        for found in syntax::parse(FileId(0), &text).diagnostics.into_sorted() {
            let _ = writeln!(wrong, "{example}\n    {}: {}", found.code.0, found.title);
        }
    }
    wrong
}

#[test]
fn every_block_compiles() {
    let mut wrong = String::new();
    let mut count = 0;
    let run: Vec<examples::Example> = examples::all();
    for example in &run {
        let problem = check_text(example.text());
        if !problem.is_empty() {
            let _ = writeln!(wrong, "{}:{}\n{problem}", example.page.display(), example.line);
        }
    }
    for page in pages() {
        let runs = |block: &str| run.iter().any(|example| example.block == block);
        for (line, block) in blocks(&page).into_iter().filter(|(_, block)| !runs(block)) {
            count += 1;
            let problem = if block.trim_start().starts_with('|') { check_operators(&block) } else { check_items(&block) };
            if !problem.is_empty() {
                let _ = writeln!(wrong, "{}:{line}\n{problem}", page.display());
            }
        }
    }
    assert!(count >= 4, "the pages have examples");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Every operator, join, window and aggregate has an example that `differential` runs.
#[test]
fn everything_has_an_example_that_runs() {
    let pest = std::fs::read_to_string(root().join("grammar/src/flow.pest")).expect("the grammar");
    let (_, stages) = pest.split_once("\nstage = {").expect("the operators");
    let (stages, _) = stages.split_once('}').expect("their end");
    // Those of Rust are in `docs/rust.md`, whose examples are built; the others are none yet.
    let elsewhere = ["process", "later"];
    let operators = stages.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(|rule| rule.strip_suffix("_stage"));
    let operators: Vec<&str> = operators.filter(|operator| !elsewhere.contains(operator)).collect();
    assert!(operators.len() > 15, "{operators:?}");
    let windows = ["tumbling(", "sliding(", "session(", "cumulative(", "calendar(", "count(", "global"];
    let joins = ["left", "right", "full", "semi", "anti"];
    let needed = operators.iter().map(|operator| format!("| {operator}"));
    let needed = needed.chain(windows.map(|window| format!(" over {window}")));
    let needed = needed.chain(joins.map(|join| format!("| {join} join")));
    let needed = needed.chain(AGGREGATES.iter().map(|aggregate| format!(" {}(", aggregate.name)));
    let needed = needed.chain(["row_number", "lag", "lead"].map(|function| format!(" {function}(")));
    let run = examples::all();
    let missing: Vec<String> = needed.filter(|text| !run.iter().any(|example| example.block.contains(text))).collect();
    assert!(missing.is_empty(), "no example runs {missing:?}");
}

/// The pipeline that the README has inside of a Rust program, where no block of its own is.
#[test]
fn the_pipeline_in_the_program_of_the_readme_compiles() {
    let page = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let (_, behind) = page.split_once("millstream::flow! {\n").expect("a program with a pipeline");
    let (flow, _) = behind.split_once("\n}\n").expect("its end");
    let wrong = check_items(flow);
    assert!(flow.contains("from channel") && wrong.is_empty(), "{wrong}");
}

/// What a page shows of Rust stands in the examples, which are built and run.
#[test]
fn rust_blocks_are_parts_of_examples() {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut examples = String::new();
    for entry in std::fs::read_dir(root().join("examples")).expect("examples").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Ok(text) = std::fs::read_to_string(entry.path().join(format!("{name}.rs"))) {
            examples.push_str(&squeezed(&text));
        }
    }
    for file in ["feed.rs", "mirror.rs"] {
        let connector = root().join("examples/connector/src").join(file);
        examples.push_str(&squeezed(&std::fs::read_to_string(connector).expect("the example of connectors")));
    }
    let attributes = root().join("examples/embedded/src/attributes.rs");
    examples.push_str(&squeezed(&std::fs::read_to_string(attributes).expect("the example of attributes")));
    let page = std::fs::read_to_string(root().join("docs/rust.md")).expect("the guide");
    let blocks: Vec<&str> = page.split("\n```rust\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    assert!(blocks.len() >= 3, "the guide has examples");
    for block in blocks {
        for part in block.split("\n\n") {
            assert!(examples.contains(&squeezed(part)), "no example has\n{part}");
        }
    }
}

/// All functions and aggregates, by category.
fn functions() -> String {
    let mut out = String::from(
        "# Functions\n\nMade from the descriptors of the functions; `millstream functions NAME` shows the same. Every example is a test. Unless \
         something else is said, a null argument makes the result null. `T` and `U` stand for any type, `N` for any number, `I` for any \
         integer, `O` for any type that has an order; `name?` may be left out.\n",
    );
    let mut categories: Vec<&str> = Vec::new();
    for function in FUNCTIONS {
        if !categories.contains(&function.category) {
            categories.push(function.category);
        }
    }
    for category in categories {
        let _ = writeln!(out, "\n## {category}");
        let mut list: Vec<_> = FUNCTIONS.iter().filter(|function| function.category == category).collect();
        list.sort_by_key(|function| function.name);
        for function in list {
            let fails = if function.fallible { " Where it has no value, the row is an error of evaluation." } else { "" };
            let _ = write!(out, "\n### {}\n\n`{}`\n\n{}{fails}\n", function.name, function.signature, function.doc);
            if !function.examples.is_empty() {
                out.push('\n');
            }
            for (expression, value) in function.examples {
                let _ = writeln!(out, "- `` {expression} `` is `` {value} ``");
            }
        }
    }
    out.push_str("\n## aggregates\n\nIn the block of `aggregate`; each also with `distinct` and `where`.\n");
    for aggregate in AGGREGATES {
        let _ = write!(out, "\n### {}\n\n`{}`\n\n{}\n", aggregate.name, aggregate.signature, aggregate.doc);
    }
    out
}

#[test]
fn the_page_of_functions_is_fresh() {
    let path = root().join("docs/language/functions.md");
    let now = functions();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &now).expect("the page can be written");
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(now == before, "docs/language/functions.md is not what the functions say; UPDATE_DOCS=1 writes it anew");
}

#[test]
fn the_page_of_the_grammar_is_fresh() {
    let pest = std::fs::read_to_string(root().join("grammar/src/flow.pest")).expect("the grammar");
    let (path, now) = (root().join("docs/language/grammar.md"), docs_support::grammar(&pest));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &now).expect("the page can be written");
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(now == before, "docs/language/grammar.md is not what flow.pest says; UPDATE_DOCS=1 writes it anew");
}
