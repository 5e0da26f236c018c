//! The pages of documentation that show code of the kit, or what it proves, show what there is. `UPDATE_DOCS=1` rewrites them.

use std::path::Path;

use millstream_testkit::table;

/// Brings the part of a page between `<!-- begin NAME -->` and `<!-- end NAME -->` up to date, or complains.
fn part(page: &str, name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let start = text.find(&begin).unwrap_or_else(|| panic!("docs/{page} has no `{}`", begin.trim())) + begin.len();
    let stop = start + text[start..].find(&end).unwrap_or_else(|| panic!("docs/{page} has no `{end}`"));
    let expected = format!("{}\n", expected.trim_end());
    if text[start..stop] == expected {
        return;
    }
    if std::env::var_os("UPDATE_DOCS").is_none() {
        panic!("`{name}` in docs/{page} is out of date: UPDATE_DOCS=1 cargo test -p millstream-testkit --test kit docs");
    }
    std::fs::write(&path, format!("{}{expected}{}", &text[..start], &text[stop..])).unwrap();
}

fn code(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kit/guide").join(name);
    part("connectors.md", name, &format!("```rust\n{}```", std::fs::read_to_string(path).unwrap()));
}

/// One test, as all of them write to the same page.
#[test]
fn the_guide_shows_the_code_and_what_is_proven() {
    for name in ["readings.rs", "journal.rs", "ledger.rs", "proof.rs"] {
        code(name);
    }
    let sources = [
        table::source::<super::file_source::Files>(),
        table::source::<super::watched_folder::Watched>(),
        table::source::<super::grown_files::Grown>(),
        table::source::<super::socket::Server>(),
        table::source::<super::generator::Generated>(),
        table::source::<super::hybrid::TwoStages>(),
        table::source::<super::guide::proof::Devices>(),
    ];
    part("connectors.md", "sources", &table::sources(&sources));
    let sinks = [
        table::sink::<super::file_sink::Files>(),
        table::sink::<super::compacted_files::Compacted>(),
        table::sink::<super::http::Service>(),
        table::sink::<super::guide::proof::Book>(),
        table::sink::<millstream_testkit::sink::Tables<super::guide::proof::Accounts>>(),
    ];
    part("connectors.md", "sinks", &table::sinks(&sinks));
}

#[test]
fn every_metric_is_described() {
    let mut text = "| metric | kind | what it says |\n|---|---|---|\n".to_owned();
    for definition in millstream::metrics::definitions() {
        let kind = if definition.counter { "counter" } else { "gauge" };
        text.push_str(&format!("| `{}` | {kind} | {} |\n", definition.name, definition.help));
    }
    part("metrics.md", "metrics", &text);
}
