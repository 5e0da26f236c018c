//! Aggregates of Rust files: their arguments and results get types.

use millstream_runtime::aggregates::{AggregateSpec, keep};
use millstream_runtime::graph::signature::{Parameter, Pattern, Signature};
use millstream_runtime::graph::{RustAggregate, Ty};

use super::{Types, clash};
use crate::hir::context::Context;
use crate::hir::errors::names;
use crate::rust::{self, RustAggregateItem, Written};
use crate::source::Span;

/// An aggregate of the user's own, typed.
#[derive(Clone, Debug)]
pub struct OwnAggregate {
    pub spec: &'static AggregateSpec,
    pub signature: Signature,
    /// It can take values back: over tables.
    pub retracts: bool,
    pub span: Span,
}

/// Arguments that a tuple may have.
const MOST: usize = 4;

impl<'a> Types<'a> {
    /// An aggregate with its signature. None: reported.
    pub(super) fn aggregate(&mut self, cx: &mut Context<'a>, file: usize, item: &'a RustAggregateItem) -> Option<RustAggregate> {
        let name = item.name.text.as_str();
        // What calls it is no further mistake.
        cx.items.broken.insert(name);
        if let Some(by) = clash(&item.name) {
            let help = "give it another name here: `#[aggregate(name = \"my_name\")]`";
            cx.report(rust::name_taken(&item.name, "aggregate", by, help));
            return None;
        }
        let first = cx.aggregates.get(name).map(|first| first.span).or_else(|| cx.rust_functions.get(name).copied());
        let own = || cx.items.functions.iter().find(|entry| entry.node.name.text == name).map(|entry| entry.node.name.span);
        if let Some(first) = first.or_else(own) {
            cx.report(names::defined_twice("function", name, item.name.span, first));
            return None;
        }
        let of_file = &self.files[file];
        let wrong = |cx: &mut Context<'a>, span: Span, label: &str, help: &str| {
            cx.report(rust::aggregate_wrong(span, &item.item, label, help));
        };
        let Some(structure) = of_file.structs.iter().find(|known| known.name.text == item.item) else {
            wrong(
                cx,
                item.span,
                "no struct of this name is in this file",
                "define it here: `#[derive(Clone, Default, State)] pub struct ..`",
            );
            return None;
        };
        if !structure.public {
            wrong(cx, structure.name.span, "it is not public", "write `pub` before `struct`");
            return None;
        }
        if let Some(generic) = structure.generic {
            wrong(cx, generic, "nothing says what this is", "write one aggregate for each type");
            return None;
        }
        if item.inputs.len() > MOST {
            wrong(cx, item.span, "these are too many arguments", "take at most four, or a record");
            return None;
        }
        let mut params = Vec::with_capacity(item.inputs.len());
        for (index, written) in item.inputs.iter().enumerate() {
            let ty =
                self.required(cx, file, item, written, "nulls never come to an aggregate: write the type without `Option`")?;
            let number = if item.inputs.len() == 1 { String::new() } else { (index + 1).to_string() };
            params.push(Parameter { name: format!("value{number}"), ty: Pattern::Exactly(ty), optional: false, repeated: false });
        }
        let result =
            self.required(cx, file, item, &item.output, "`finish` gives an `Option` of it as it is: write the type without one")?;
        let shown: Vec<String> = params
            .iter()
            .map(|param| match &param.ty {
                Pattern::Exactly(ty) => format!("{}: {ty}", param.name),
                _ => param.name.clone(),
            })
            .collect();
        let shown = format!("{name}({}) -> {result}", shown.join(", "));
        let signature = Signature { name: name.to_owned(), params, result: Pattern::Exactly(result.clone()) };
        let spec = keep(name, &shown, &item.doc);
        let retracts = of_file.retracts.contains(&item.item);
        cx.items.broken.remove(name);
        cx.aggregates.insert(name, OwnAggregate { spec, signature, retracts, span: item.name.span });
        Some(RustAggregate {
            name: name.to_owned(),
            signature: shown,
            doc: item.doc.clone(),
            path: structure.path.clone(),
            result,
        })
    }

    /// A type that is no `Option`.
    fn required(
        &mut self,
        cx: &mut Context<'a>,
        file: usize,
        item: &'a RustAggregateItem,
        written: &'a Written,
        help: &str,
    ) -> Option<Ty> {
        let known = self.known(cx, file, written, 0)?;
        if known.ty.is_optional() {
            cx.report(rust::aggregate_wrong(written.span, &item.item, "this may be null", help));
            return None;
        }
        Some(known.ty)
    }
}
