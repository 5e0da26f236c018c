//! Connectors, options, functions and rows as Markdown: what an editor shows beside a name.

use std::fmt::Write as _;

use millstream_runtime::aggregates::AggregateSpec;
use millstream_runtime::connectors::{ConnectorSpec, OptionSpec, OptionTy};
use millstream_runtime::functions::FunctionSpec;
use millstream_runtime::graph::{Changelog, Ty};

use super::place::Side;
use super::words::Word;
use crate::hir::facts::{FunctionFacts, Rows};

/// What an option takes, as the language writes it.
pub fn option_type(ty: OptionTy) -> String {
    match ty {
        OptionTy::String | OptionTy::Place => "string".to_owned(),
        OptionTy::Secret => "string (a secret: `$NAME`)".to_owned(),
        OptionTy::Int => "integer".to_owned(),
        OptionTy::Count => "integer from 1 on".to_owned(),
        OptionTy::Float => "number".to_owned(),
        OptionTy::Bool => "true | false".to_owned(),
        OptionTy::Duration => "duration".to_owned(),
        OptionTy::Timestamp => "timestamp".to_owned(),
        OptionTy::Every => "every duration".to_owned(),
        OptionTy::Size => "size".to_owned(),
        OptionTy::Word(words) => words.join(" | "),
        OptionTy::Columns => "[columns]".to_owned(),
    }
}

/// The type of an option, and what holds where it is not given: `duration = 30s`.
pub fn option_detail(option: &OptionSpec) -> String {
    let default = match (option.required, option.default) {
        (true, _) => ", must be given".to_owned(),
        (false, "") => ", may be left out".to_owned(),
        (false, default) => format!(" = {default}"),
    };
    format!("{}{default}", option_type(option.ty))
}

/// The options and formats of one side of a connector.
pub fn side(spec: &ConnectorSpec, side: Side) -> Option<(&'static [OptionSpec], &'static [&'static str])> {
    match side {
        Side::Source => spec.source.map(|source| (source.options, source.formats)),
        Side::Lookup => spec.lookup.map(|lookup| (lookup.options, lookup.formats)),
        Side::Sink => spec.sink.map(|sink| (sink.options, sink.formats)),
    }
}

/// Code, then text.
pub fn page(code: &str, doc: &str) -> String {
    match doc.is_empty() {
        true => format!("```flow\n{code}\n```"),
        false => format!("```flow\n{code}\n```\n\n{doc}"),
    }
}

pub fn word(word: &Word) -> String {
    page(word.form, word.doc)
}

/// A connector with the options of a side.
pub fn connector(spec: &ConnectorSpec, of: Side) -> String {
    let form = match of {
        Side::Source => format!("source x: Row from {} {{ .. }}", spec.name),
        Side::Lookup => format!("lookup x: Row from {} {{ .. }} key (..)", spec.name),
        Side::Sink => format!("sink x into {} {{ .. }}", spec.name),
    };
    let mut out = page(&form, spec.doc);
    let Some((options, formats)) = side(spec, of) else { return out };
    out.push('\n');
    for option in options {
        let first = option.doc.split_inclusive(". ").next().unwrap_or_default().trim();
        let _ = write!(out, "\n- `{}: {}`: {first}", option.name, option_detail(option));
    }
    if let Some(first) = formats.first() {
        let _ = write!(out, "\n- `format: {} = {first}`: how rows look as bytes.", formats.join(" | "));
    }
    out
}

pub fn option(option: &OptionSpec) -> String {
    page(&format!("{}: {}", option.name, option_detail(option)), option.doc)
}

pub fn function(spec: &FunctionSpec) -> String {
    let mut out = page(spec.signature, spec.doc);
    if !spec.examples.is_empty() {
        out.push_str("\n\n```flow");
        for (expression, value) in spec.examples {
            let _ = write!(out, "\n{expression}  // {value}");
        }
        out.push_str("\n```");
    }
    out
}

pub fn aggregate(spec: &AggregateSpec) -> String {
    page(spec.signature, spec.doc)
}

/// `country_of(ip: string) -> string?`
pub fn signature(name: &str, function: &FunctionFacts) -> String {
    let params: Vec<String> = function.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let waits = if function.waits.is_some() { "async " } else { "" };
    format!("{waits}{name}({}) -> {}", params.join(", "), function.result)
}

/// A stream with its columns, and whether it is a table.
pub fn rows(word: &str, name: &str, rows: &Rows, doc: &str) -> String {
    let mut code = format!("{word} {name} {{\n");
    for (column, ty) in &rows.columns {
        let _ = writeln!(code, "    {column}: {ty}");
    }
    if rows.unknown {
        code.push_str("    // not all columns are known: there is a mistake before\n");
    }
    code.push('}');
    let mut notes = Vec::new();
    match &rows.ty.changelog {
        Changelog::Table { key: Some(key) } => notes.push(format!("A table with the key `{}`.", key.join("`, `"))),
        Changelog::Table { key: None } => notes.push("A table.".to_owned()),
        Changelog::Append => {}
    }
    notes.extend(rows.ty.time.as_ref().map(|time| format!("Event time is `{}`.", time.column)));
    let notes = notes.join(" ");
    let text: Vec<&str> = [doc, &notes].into_iter().filter(|text| !text.is_empty()).collect();
    page(&code, &text.join("\n\n"))
}

/// A record or an enum with what it holds; `docs` has what is said of a column.
pub fn named_type(name: &str, ty: &Ty, doc: &str, docs: impl Fn(&str) -> Option<String>) -> String {
    let mut code = String::new();
    match ty {
        Ty::Record(schema) => {
            let _ = writeln!(code, "record {name} {{");
            for field in &schema.fields {
                for line in docs(&field.name).iter().flat_map(|doc| doc.lines()) {
                    let _ = writeln!(code, "    /// {line}");
                }
                let _ = writeln!(code, "    {}: {}", field.name, field.ty);
            }
            code.push('}');
        }
        Ty::Enum(of) => {
            let values: Vec<String> = of.values.iter().map(|value| format!("{value:?}")).collect();
            let _ = write!(code, "enum {name} {{ {} }}", values.join(", "));
        }
        other => {
            let _ = write!(code, "{other}");
        }
    }
    page(&code, doc)
}
