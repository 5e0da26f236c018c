//! Hover, definitions, fixes and the outline.

use millstream_compiler::ide::{SymbolKind, symbols};

use super::support::{Files, analysis, cursor};

const DEVICES: &str = "use rust \"own.rs\"
use \"other.flow\"
/// How warm is too warm.
param limit: float64 = 30.0
/// What the shop sells.
record Order {
    /// Of the shop.
    id: int64
    note: string?
}
source orders: Order from file { path: \"o\" }
/// All readings.
source readings: Reading from poll { url: \"x\", wait: 5s }
/// In euros.
fn euros(usd: int64): int64 = usd * 9 / 10
/// The warm ones.
stream warm =
    readings
    | where celsius > limit and id > 0
    | select { id, warmth: celsius, f: fahrenheit(celsius) }
stream smooth = readings | process by id Smooth { most: 0.5 }
stream per = warm | @ttl(1d) aggregate by id { id, most: max(warmth) }
sink per | final into stdout
sink smooth into stdout
sink orders | select { x: euros(id), n: upper(note) } into stdout
";

/// The text with a cursor before the `number`th time that a word stands there.
fn at(word: &str, number: usize) -> (String, u32) {
    let (at, _) = DEVICES.match_indices(word).nth(number).unwrap_or_else(|| panic!("no {word}"));
    (DEVICES.to_owned(), at as u32 + 1)
}

#[track_caller]
fn hover(word: &str, number: usize, wanted: &[&str]) {
    let (text, at) = at(word, number);
    let found = analysis(&text).hover(at).unwrap_or_else(|| panic!("nothing at {word}"));
    for wanted in wanted {
        assert!(found.markdown.contains(wanted), "{word}: no {wanted:?} in\n{}", found.markdown);
    }
}

/// Where the definition is: the file, and the line.
#[track_caller]
fn defined(word: &str, number: usize, wanted: &str) {
    let (text, at) = at(word, number);
    let analysis = analysis(&text);
    let found = analysis.definition(at).map(|span| {
        let file = analysis.session().sources().file(span.file);
        let (line, _) = file.line_column(span.start);
        format!("{}: {}", file.path, file.text.lines().nth(line as usize - 1).unwrap_or_default().trim())
    });
    assert_eq!(found.as_deref(), Some(wanted), "{word}");
}

#[test]
fn the_text_is_good() {
    assert_eq!(analysis(DEVICES).diagnostics(), []);
}

#[test]
fn hover_has_types_and_docs() {
    hover("orders:", 0, &["source orders {", "    id: int64\n    note: string?"]);
    hover("warm | @ttl", 0, &["stream warm {", "warmth: float64", "The warm ones."]);
    hover("per | final", 0, &["A table with the key `id`."]);
    hover("Order from", 0, &["record Order {", "    /// Of the shop.\n    id: int64", "What the shop sells."]);
    hover("limit and", 0, &["param limit: float64 = 30.0", "How warm is too warm."]);
    hover("euros(id", 0, &["euros(usd: int64) -> int64", "In euros."]);
    hover("usd * 9", 0, &["usd: int64"]);
    hover("upper(", 0, &["upper(text: string) -> string"]);
    hover("max(", 0, &["max(value: O) -> O"]);
    hover("where", 0, &["where amount > 0", "Keeps the rows"]);
    hover("warmth)", 0, &["warmth: float64"]);
    hover("id: int64", 0, &["id: int64", "Of the shop."]);
    hover("id)", 0, &["id: int64", "Of the shop."]);
    hover("stdout", 0, &["sink x into stdout"]);
    hover("path", 0, &["path: string, must be given"]);
}

#[test]
fn hover_knows_what_stands_in_rust() {
    hover(
        "poll",
        0,
        &[
            "source x: Row from poll",
            "Asks a service for rows.",
            "Each partition is a split.",
            "`wait: duration = 30s`: How long",
        ],
    );
    hover("wait", 0, &["wait: duration = 30s", "How long the service may wait."]);
    hover("url", 0, &["url: string, must be given", "Address of the service."]);
    hover("Reading", 0, &["record Reading {", "A reading of a device.", "    /// Degrees Celsius.\n    celsius: float64"]);
    hover("celsius >", 0, &["celsius: float64", "Degrees Celsius."]);
    hover("fahrenheit(", 0, &["fahrenheit(celsius: float64) -> float64", "Degrees Fahrenheit."]);
    hover("Smooth", 0, &["process Smooth { most: float64 }", "Drops readings that jump."]);
    hover("most: 0", 0, &["most: float64", "The greatest jump."]);
    hover("own.rs", 0, &["Rust: `own.rs`", "connector `poll`", "operator `Smooth`"]);
}

#[test]
fn definitions_are_found_in_all_files() {
    defined("orders |", 0, "main.flow: source orders: Order from file { path: \"o\" }");
    defined("warm | @ttl", 0, "main.flow: stream warm =");
    defined("Order from", 0, "main.flow: record Order {");
    defined("limit and", 0, "main.flow: param limit: float64 = 30.0");
    defined("euros(id", 0, "main.flow: fn euros(usd: int64): int64 = usd * 9 / 10");
    defined("usd * 9", 0, "main.flow: fn euros(usd: int64): int64 = usd * 9 / 10");
    defined("note)", 0, "main.flow: note: string?");
    defined("warmth)", 0, "main.flow: | select { id, warmth: celsius, f: fahrenheit(celsius) }");
    defined("Reading", 0, "own.rs: pub struct Reading {");
    defined("celsius >", 0, "own.rs: pub celsius: f64,");
    defined("poll", 0, "own.rs: pub struct Poll {");
    defined("wait", 0, "own.rs: pub wait: Duration,");
    defined("fahrenheit(", 0, "own.rs: pub fn fahrenheit(celsius: f64) -> f64 {");
    defined("Smooth", 0, "own.rs: pub struct Smooth {");
    defined("most: 0", 0, "own.rs: pub most: f64,");
    defined("own.rs", 0, "own.rs: use millstream::prelude::*;");
    defined("other.flow", 0, "other.flow: /// Of another file.");
}

#[test]
fn columns_of_either_side_of_a_join() {
    let text = "record A { id: int64 }\nrecord B { id: int64, a: int64 }\nsource xs: A from file { path: \"x\" }\n\
                source ys: B from file { path: \"y\" }\nstream j = xs | join ys as y on id == y.a within 1m | select { id, other: y.i$0d }";
    let (text, at) = cursor(text);
    let span = analysis(&text).definition(at).unwrap();
    assert_eq!(&text[..span.start as usize], "record A { id: int64 }\nrecord B { ");
}

#[test]
fn mistakes_in_rust_are_found_and_half_a_file_still_has_answers() {
    let text =
        "use rust \"own.rs\"\nsource readings: Reading from poll { wait: 5 }\nstream x = readings | where \nsink x into stdout\n";
    let analysis = analysis(text);
    let codes: Vec<_> = analysis.diagnostics().iter().map(|found| found.code.0).collect();
    assert!(codes.contains(&"E0604") && codes.contains(&"E0605"), "{codes:?}");
    let found = analysis.hover(text.find("poll").unwrap() as u32).unwrap();
    assert!(found.markdown.contains("Asks a service"));
}

#[test]
fn fixes_are_those_of_check() {
    let text = "record A { amount: int64 }\nsource a: A from file { path: \"x\" }\nsink a | where amout > 1 into stdout\n";
    let analysis = analysis(text);
    let at = text.find("amout").unwrap() as u32;
    let fixes: Vec<_> = analysis.fixes(at, at).filter_map(|found| found.fix.clone()).collect();
    assert_eq!((fixes.len(), fixes[0].replacement.as_str()), (1, "amount"));
    assert_eq!(analysis.fixes(0, 5).count(), 0);
}

#[test]
fn the_outline_has_items_and_columns() {
    let list = symbols(DEVICES);
    let names: Vec<(&str, SymbolKind)> = list.iter().map(|symbol| (symbol.name.as_str(), symbol.kind)).collect();
    assert_eq!(
        names[..4],
        [
            ("limit", SymbolKind::Param),
            ("Order", SymbolKind::Record),
            ("orders", SymbolKind::Source),
            ("readings", SymbolKind::Source),
        ]
    );
    let columns: Vec<&str> = list[1].children.iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!(columns, ["id", "note"]);
    assert_eq!(list[2].detail, "Order from file");
    for symbol in list.iter().flat_map(|symbol| std::iter::once(symbol).chain(&symbol.children)) {
        assert!(symbol.span.start <= symbol.name_span.start && symbol.name_span.end <= symbol.span.end, "{symbol:?}");
    }
}

#[test]
fn asking_changes_no_diagnostic() {
    use millstream_compiler::hir::Facts;
    use millstream_compiler::session::Session;
    for text in [DEVICES.to_owned(), DEVICES.replace("limit and", "limt and"), DEVICES.replace("int64", "int46")] {
        let files = Files(text);
        let plain = Session::open("main.flow", &files).unwrap();
        let (asked, _) = Session::open_with_facts("main.flow", &files, Facts::at(Some(300))).unwrap();
        assert_eq!(plain.diagnostics(), asked.diagnostics());
    }
}
