//! Connectors of Rust files: their options get the types that built-in connectors describe theirs with.

use millstream_runtime::connectors::described::{Described, DescribedOption, keep_words};
use millstream_runtime::connectors::{self as catalog, OptionTy};
use millstream_runtime::formats;
use millstream_runtime::graph::RustConnector;

use super::{Types, known};
use crate::hir::context::Context;
use crate::hir::errors::names;
use crate::rust::{self, ConnectorDefault, RustConnectorItem, RustOption, Written, WrittenKind};
use crate::syntax::ast::ExprKind;
use crate::syntax::number;

const TYPES: &str = "an option is a `String`, `Secret`, `bool`, `f64`, a whole number such as `u64`, a `Duration`, a `Timestamp`, a \
                     `Vec<String>` of columns, or an `Option` of one of them";

impl<'a> Types<'a> {
    /// A connector with its options. None: reported.
    pub(super) fn connector(&mut self, cx: &mut Context<'a>, file: usize, item: &'a RustConnectorItem) -> Option<RustConnector> {
        let name = item.name.text.as_str();
        let of_file = &self.files[file];
        let own = &item.item.text;
        let (source, plain_rows) = (of_file.source_connectors.contains(own), of_file.sink_connectors.contains(own));
        let tables = of_file.table_connectors.contains(own);
        let sink = plain_rows || tables;
        let mut described = Described {
            name: name.to_owned(),
            doc: item.doc.clone(),
            options: Vec::new(),
            formats: item.formats.iter().map(|format| format.text.clone()).collect(),
            source,
            sink,
            tables,
            keyed: item.keyed.is_some(),
            bounded: item.bounded,
            replayable: item.replayable,
            exactly_once: item.exactly_once,
        };
        // What reads it is no further mistake.
        cx.items.broken.insert(name);
        if name == "hybrid" || catalog::find(name).is_some() {
            cx.report(rust::connector_name_taken(&item.name, "a built-in connector"));
            return None;
        }
        if let Some((_, first)) = cx.connectors.get(name) {
            cx.report(names::defined_twice("connector", name, item.name.span, *first));
            return None;
        }
        if !source && !sink {
            cx.report(rust::connector_without_sides(&item.item, name));
            return None;
        }
        if let Some(span) = item.keyed.filter(|_| !tables) {
            cx.report(rust::connector_keyed_without_tables(span, own));
            return None;
        }
        if let Some(format) = item.formats.iter().find(|format| formats::find(&format.text).is_none()) {
            let known: Vec<&str> = formats::FORMATS.iter().map(|format| format.name).collect();
            let title = format!("there is no format `{}`", format.text);
            cx.report(rust::connector_default(format.span, title, format!("there are {}", known.join(", "))));
            return None;
        }
        if described.formats.is_empty() {
            described.formats.push("json".to_owned());
        }
        for option in &item.options {
            described.options.push(self.option(cx, file, option)?);
        }
        cx.items.broken.remove(name);
        let spec = described.keep();
        cx.connectors.insert(name, (spec, item.name.span));
        Some(RustConnector { spec, path: item.path.clone(), plain_rows })
    }

    fn option(&self, cx: &mut Context<'a>, file: usize, option: &'a RustOption) -> Option<DescribedOption> {
        let (written, optional) = match &option.ty.kind {
            WrittenKind::Named { name, args, .. } if name == "Option" && args.len() == 1 => (&args[0], true),
            _ => (&option.ty, false),
        };
        let ty = self.option_type(cx, file, written, option)?;
        let mut default = String::new();
        if let Some((value, span)) = &option.default {
            let reason = match (optional, default_text(ty, value)) {
                (true, _) => Some("an `Option` may be left out as it is: take `default` or the `Option` away".to_owned()),
                (false, Ok(text)) => {
                    default = text;
                    None
                }
                (false, Err(expected)) => Some(format!("write {expected}")),
            };
            if let Some(help) = reason {
                let title = format!("this is no default of `{}`", option.name.text);
                cx.report(rust::connector_default(*span, title, help));
                return None;
            }
        }
        let required = !optional && option.default.is_none();
        Some(DescribedOption { name: option.name.text.clone(), ty, required, default, doc: option.doc.clone() })
    }

    fn option_type(&self, cx: &mut Context<'a>, file: usize, written: &'a Written, option: &'a RustOption) -> Option<OptionTy> {
        let refuse = |cx: &mut Context<'a>, reason: &str, help: &str| {
            cx.report(rust::connector_option_type(written, reason, help));
            None
        };
        let WrittenKind::Named { name, args, .. } = &written.kind else { return refuse(cx, "not known to the language", TYPES) };
        if let Some(full) = self.files[file].imports.get(name)
            && !known::is_ours(full)
        {
            return refuse(cx, &format!("this is `{full}`"), "use the type of this name in `millstream::prelude`");
        }
        let ty = match (name.as_str(), args.as_slice()) {
            ("String", []) => match &option.words {
                Some(words) => OptionTy::Word(keep_words(words)),
                None => OptionTy::String,
            },
            ("Str", []) => OptionTy::String,
            ("Secret", []) => OptionTy::Secret,
            ("bool", []) => OptionTy::Bool,
            ("f64", []) => OptionTy::Float,
            ("u64", []) if option.size => OptionTy::Size,
            ("i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "usize", []) => OptionTy::Int,
            ("Duration", []) if option.every => OptionTy::Every,
            ("Duration", []) => OptionTy::Duration,
            ("Timestamp", []) => OptionTy::Timestamp,
            ("Vec", [inner]) if matches!(&inner.kind, WrittenKind::Named { name, .. } if name == "String") => OptionTy::Columns,
            _ => return refuse(cx, "not known to the language", TYPES),
        };
        for (given, attribute, fits, wanted) in [
            (option.every, "every", ty == OptionTy::Every, "`Duration`"),
            (option.size, "size", ty == OptionTy::Size, "`u64`"),
            (option.words.is_some(), "words", matches!(ty, OptionTy::Word(_)), "`String`"),
        ] {
            if given && !fits {
                return refuse(
                    cx,
                    &format!("`{attribute}` does not go with it"),
                    &format!("write {wanted}, or take `{attribute}` away"),
                );
            }
        }
        Some(ty)
    }
}

/// A default as the language writes it. Err: what it has to be.
fn default_text(ty: OptionTy, value: &ConnectorDefault) -> Result<String, String> {
    match (ty, value) {
        (OptionTy::String, ConnectorDefault::Text(text)) => Ok(format!("{text:?}")),
        (OptionTy::String, _) => Err("a text in quotes".to_owned()),
        (OptionTy::Word(words), ConnectorDefault::Text(text)) if words.contains(&text.as_str()) => Ok(text.clone()),
        (OptionTy::Word(words), _) => Err(format!("one of \"{}\"", words.join("\", \""))),
        (OptionTy::Int | OptionTy::Count, ConnectorDefault::Number(number)) => Ok(number.clone()),
        (OptionTy::Int | OptionTy::Count, _) => Err("a whole number".to_owned()),
        (OptionTy::Float, ConnectorDefault::Float(number)) => Ok(number.clone()),
        (OptionTy::Float, _) => Err("a number with a point, such as `0.5`".to_owned()),
        (OptionTy::Bool, ConnectorDefault::Bool(value)) => Ok(value.to_string()),
        (OptionTy::Bool, _) => Err("`true` or `false`".to_owned()),
        (OptionTy::Duration | OptionTy::Every, ConnectorDefault::Text(text))
            if matches!(number(text), Ok(ExprKind::Duration(_))) =>
        {
            Ok(if ty == OptionTy::Every { format!("every {text}") } else { text.clone() })
        }
        (OptionTy::Duration | OptionTy::Every, _) => Err("a duration such as \"10s\"".to_owned()),
        (OptionTy::Size, ConnectorDefault::Text(text)) if matches!(number(text), Ok(ExprKind::Size(_))) => Ok(text.clone()),
        (OptionTy::Size, _) => Err("a size such as \"64MB\"".to_owned()),
        (OptionTy::Place | OptionTy::Secret | OptionTy::Timestamp | OptionTy::Columns, _) => {
            Err("nothing: such an option is given, or it is an `Option`".to_owned())
        }
    }
}
