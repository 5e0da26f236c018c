//! What Rust files make known to the language: their records, enums and functions get types.
//!
//! Types here must agree with what rustc makes of the same signature, or generated code would not compile: a test
//! compiles a file with all of them (`compiler/cli/tests/cli/rust.rs`).

use std::collections::HashMap;

use millstream_runtime::aggregates as library_aggregates;
use millstream_runtime::functions as library;
use millstream_runtime::graph::signature::scalar;
use millstream_runtime::graph::{
    EnumType, Expr, ExprKind, Field, Function, Passing, RustFunction, RustModule, RustType, Schema, Ty,
};

use super::context::{Context, FunctionType};
use super::errors::names;
use super::types::written::BUILT_IN;
use crate::rust::{self, RustFile, RustFn, RustTypeItem, TypeKind, TypeMember, Written, WrittenKind};
use crate::syntax::ast::Name;

mod aggregates;
mod connectors;
mod known;
mod operators;
pub use aggregates::OwnAggregate;
pub use known::{Known, built_in};
pub use operators::{Inputs, Operator, Side};

/// Types the items of all Rust files. Gives the modules, and the functions.
pub fn lower<'a>(cx: &mut Context<'a>, files: &'a [RustFile]) -> (Vec<RustModule>, Vec<Function>) {
    let mut types = Types { files, done: HashMap::new(), open: Vec::new(), sides: HashMap::new() };
    let mut modules = Vec::with_capacity(files.len());
    for (number, file) in files.iter().enumerate() {
        let path = cx.sources.file(file.id).path.clone();
        let of_crate = file.of_crate.clone();
        let mut module = RustModule { path, of_crate, types: Vec::new(), connectors: Vec::new(), aggregates: Vec::new() };
        for (index, item) in file.types.iter().enumerate() {
            let ty = types.resolve(cx, number, index);
            declare(cx, item, &ty);
            if ty != Ty::Error {
                module.types.push(RustType { path: item.path.clone(), members: members(item), ty });
            }
        }
        module.connectors = file.connectors.iter().filter_map(|item| types.connector(cx, number, item)).collect();
        modules.push(module);
    }
    let mut functions = Vec::new();
    for (number, file) in files.iter().enumerate() {
        for function in &file.functions {
            functions.extend(types.function(cx, number, function));
        }
    }
    for (number, file) in files.iter().enumerate() {
        modules[number].aggregates = file.aggregates.iter().filter_map(|item| types.aggregate(cx, number, item)).collect();
    }
    for (number, file) in files.iter().enumerate() {
        for several in file.enums.iter().filter(|several| several.sides) {
            let sides = types.sides_of(cx, number, several);
            types.sides.insert((number, &several.name.text), sides);
        }
    }
    for (number, file) in files.iter().enumerate() {
        for operator in &file.operators {
            types.operator(cx, number, operator);
        }
    }
    (modules, functions)
}

fn members(item: &RustTypeItem) -> Vec<String> {
    match &item.kind {
        TypeKind::Record(members) => members.iter().map(|member| member.name.text.clone()).collect(),
        TypeKind::Enum(values) => values.iter().map(|(name, _)| name.text.clone()).collect(),
    }
}

/// Makes a type known by its name.
fn declare<'a>(cx: &mut Context<'a>, item: &'a RustTypeItem, ty: &Ty) {
    let name = &item.name;
    let what = if matches!(item.kind, TypeKind::Enum(_)) { "enum" } else { "record" };
    let own = cx.items.records.iter().map(|entry| &entry.node.name);
    let own = own.chain(cx.items.enums.iter().map(|entry| &entry.node.name)).find(|own| own.text == name.text);
    let first = own.map(|own| own.span).or_else(|| cx.rust_types.get(name.text.as_str()).copied());
    if let Some(first) = first {
        cx.report(names::defined_twice(what, &name.text, name.span, first));
        return;
    }
    if scalar(&name.text).is_some() || BUILT_IN.contains(&name.text.as_str()) {
        cx.report(rust::name_taken(name, what, "a built-in type", "give it another name"));
    }
    cx.event_times.extend(item.event_time.as_ref().map(|time| (name.text.as_str(), time.text.as_str())));
    if !item.key.is_empty() {
        cx.record_keys.insert(&name.text, &item.key);
    }
    cx.rust_types.insert(&name.text, name.span);
    cx.records.insert(&name.text, ty.clone());
}

struct Types<'a> {
    files: &'a [RustFile],
    done: HashMap<(usize, usize), Ty>,
    /// Those whose fields are being looked at.
    open: Vec<(usize, usize)>,
    /// Enums of side outputs, by file and name; None: reported.
    sides: HashMap<(usize, &'a str), Option<Vec<Side>>>,
}

impl<'a> Types<'a> {
    /// The record or enum of this number in a file.
    fn resolve(&mut self, cx: &mut Context<'a>, file: usize, index: usize) -> Ty {
        if let Some(ty) = self.done.get(&(file, index)) {
            return ty.clone();
        }
        let item = &self.files[file].types[index];
        self.open.push((file, index));
        let ty = match &item.kind {
            TypeKind::Enum(values) => {
                let values = values.iter().map(|(_, text)| text.clone()).collect();
                Ty::Enum(EnumType { name: item.name.text.clone(), values })
            }
            TypeKind::Record(members) => {
                let fields = members.iter().map(|member| self.field(cx, file, item, member)).collect();
                Ty::Record(Schema { name: Some(item.name.text.clone()), fields })
            }
        };
        self.open.pop();
        self.done.insert((file, index), ty.clone());
        ty
    }

    fn field(&mut self, cx: &mut Context<'a>, file: usize, item: &'a RustTypeItem, member: &'a TypeMember) -> Field {
        let ty = match self.known(cx, file, &member.ty, 0) {
            Some(known) => known.ty,
            None => Ty::Error,
        };
        let timestamp = matches!(ty.required(), Ty::Timestamp | Ty::Error);
        if !timestamp && item.event_time.as_ref() == Some(&member.name) {
            cx.report(rust::event_time_is_no_timestamp(&member.name, &member.ty));
        }
        if !timestamp && member.unit.is_some() {
            cx.report(rust::unit_without_timestamp(&member.name, &member.ty));
        }
        Field { name: member.name.text.clone(), ty, external: member.external.clone(), unit: member.unit }
    }

    fn function(&mut self, cx: &mut Context<'a>, file: usize, function: &'a RustFn) -> Option<Function> {
        let name = &function.name;
        if let Some(by) = clash(name) {
            cx.report(rust::name_taken(name, "function", by, "give it another name here: `#[function(name = \"my_name\")]`"));
            return None;
        }
        let own = cx.items.functions.iter().find(|entry| entry.node.name.text == name.text).map(|entry| entry.node.name.span);
        if let Some(first) = own.or_else(|| cx.rust_functions.get(name.text.as_str()).copied()) {
            cx.report(names::defined_twice("function", &name.text, name.span, first));
            return None;
        }
        cx.rust_functions.insert(&name.text, name.span);
        cx.items.function_names.insert(&name.text);
        let (mut params, mut passing, mut fine) = (Vec::new(), Vec::new(), true);
        for (param, written) in &function.params {
            match self.param(cx, file, written) {
                Some((ty, how)) => {
                    params.push((param.text.clone(), ty));
                    passing.push(how);
                }
                None => fine = false,
            }
        }
        let (result, fallible, iterator) = self.result(cx, file, function)?;
        if !fine || result == Ty::Error || params.iter().any(|(_, ty)| *ty == Ty::Error) {
            return None;
        }
        let origin = cx.origin(function.span);
        let called = RustFunction {
            module: file,
            path: function.path.clone(),
            params: passing,
            fallible,
            iterator,
            waits: function.waits,
            origin: origin.clone(),
        };
        let args = params.iter().map(|(name, ty)| Expr::new(ExprKind::Local(name.clone()), ty.clone())).collect();
        let kind = ExprKind::CallRust { function: Box::new(called), args };
        let body = Expr { kind, ty: result.clone(), origin: origin.clone() };
        cx.functions.insert(&name.text, FunctionType { params: params.clone(), result, waits: function.waits });
        Some(Function { name: name.text.clone(), params, body, doc: function.doc.clone(), waits: function.waits, origin })
    }

    /// The type of a parameter, and how an argument is handed over.
    fn param(&mut self, cx: &mut Context<'a>, file: usize, written: &'a Written) -> Option<(Ty, Passing)> {
        let (ty, passing) = match &written.kind {
            WrittenKind::Reference { inner, .. } => match &inner.kind {
                WrittenKind::Named { name, before, .. } if name == "str" && before.is_empty() => (Ty::String, Passing::AsIs),
                WrittenKind::Slice(element) => {
                    let element = self.known(cx, file, element, 0)?;
                    let passing = if element.same { Passing::AsIs } else { Passing::Slice };
                    (element.list(), passing)
                }
                _ => (self.known(cx, file, inner, 0)?.ty, Passing::Reference),
            },
            WrittenKind::Named { name, args, .. } if name == "Option" && args.len() == 1 => {
                let WrittenKind::Reference { inner, .. } = &args[0].kind else {
                    let known = self.known(cx, file, written, 0)?;
                    return Some((known.ty.clone(), known.passing()));
                };
                match &inner.kind {
                    WrittenKind::Named { name, before, .. } if name == "str" && before.is_empty() => {
                        (Ty::String.optional(), Passing::AsIs)
                    }
                    WrittenKind::Slice(element) => {
                        let element = self.known(cx, file, element, 0)?;
                        if !element.same {
                            let help = format!("write `Option<Vec<{}>>`", args[0].text.trim_matches(['&', '[', ']', ' ']));
                            cx.report(rust::unsupported(
                                written,
                                "its elements are converted, so there is no slice of them",
                                &help,
                            ));
                            return None;
                        }
                        (element.list().optional(), Passing::AsIs)
                    }
                    _ => (self.known(cx, file, inner, 0)?.ty.optional(), Passing::OptionalReference),
                }
            }
            _ => {
                let known = self.known(cx, file, written, 0)?;
                (known.ty.clone(), known.passing())
            }
        };
        Some((ty, passing))
    }

    /// The type of a result, whether it is a `Result`, and whether an iterator gives the items of a list.
    fn result(&mut self, cx: &mut Context<'a>, file: usize, function: &'a RustFn) -> Option<(Ty, bool, bool)> {
        let mut written = &function.result;
        let mut fallible = false;
        if let WrittenKind::Named { name, args, .. } = &written.kind
            && name == "Result"
            && let Some(value) = args.first()
        {
            (written, fallible) = (value, true);
        }
        match &written.kind {
            WrittenKind::Unit => {
                cx.report(rust::no_result(&function.name, written.span));
                None
            }
            WrittenKind::Iterator(item) => Some((self.known(cx, file, item, 0)?.list(), fallible, true)),
            _ => Some((
                self.static_text(written).map_or_else(|| self.known(cx, file, written, 0).map(|known| known.ty), Some)?,
                fallible,
                false,
            )),
        }
    }

    /// `&'static str` and `Option<&'static str>`: borrowed, but from nothing that goes away.
    fn static_text(&self, written: &Written) -> Option<Ty> {
        match &written.kind {
            WrittenKind::Reference { is_static: true, inner } => match &inner.kind {
                WrittenKind::Named { name, .. } if name == "str" => Some(Ty::String),
                _ => None,
            },
            WrittenKind::Named { name, args, .. } if name == "Option" => match args.as_slice() {
                [inner] if matches!(inner.kind, WrittenKind::Reference { .. }) => self.static_text(inner).map(Ty::optional),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a type is in the language. None: reported.
    fn known(&mut self, cx: &mut Context<'a>, file: usize, written: &'a Written, depth: usize) -> Option<Known> {
        let refuse = |cx: &mut Context<'a>, reason: &str, help: &str| {
            cx.report(rust::unsupported(written, reason, help));
            None
        };
        if depth > 32 {
            return refuse(cx, "it goes on without end", "write the type itself");
        }
        let (before, name, args, numbers) = match &written.kind {
            WrittenKind::Named { before, name, args, numbers } => (before, name.as_str(), args, numbers),
            WrittenKind::Reference { .. } => {
                let help = "hold a value of its own: `String` instead of `&str`, `Vec<T>` instead of `&[T]`";
                return refuse(cx, "nothing is borrowed from a row", help);
            }
            WrittenKind::Slice(_) => return refuse(cx, "it has no size", "write `Vec<..>`"),
            WrittenKind::Iterator(_) => return refuse(cx, "an iterator is the whole result", "write `Vec<..>`"),
            WrittenKind::Unit => return refuse(cx, "it holds nothing", "write a type of columns, such as `bool`"),
            WrittenKind::Other(help) => return refuse(cx, "not known to the language", help),
        };
        let own = self.own(file, before, name);
        if let Some((owner, index)) = own {
            if self.open.contains(&(owner, index)) {
                return refuse(cx, "a record cannot contain itself", "keep the key of the other row instead");
            }
            return match self.resolve(cx, owner, index) {
                Ty::Error => None,
                ty => Some(Known { ty, same: false }),
            };
        }
        let files = self.files;
        let this = &files[file];
        if before.is_empty() {
            if this.broken.iter().any(|broken| broken == name) {
                return None;
            }
            if let Some(plain) = this.plain_types.iter().find(|plain| plain.text == name) {
                cx.report(rust::type_not_annotated(&written.text, written.span, plain.span));
                return None;
            }
            if let Some(alias) = this.aliases.get(name) {
                return self.known(cx, file, alias, depth + 1);
            }
        }
        let full = match (before.is_empty(), this.imports.get(name)) {
            (false, _) => Some(format!("{}::{name}", before.join("::"))),
            (true, Some(path)) => Some(path.clone()),
            (true, None) => None,
        };
        if let Some(full) = full.filter(|full| !known::is_ours(full)) {
            const HELP: &str = "use the type of the same meaning in `millstream::prelude`, and convert in Rust";
            let last = full.rsplit("::").next().unwrap_or_default();
            let help = known::by_name(last).unwrap_or(HELP);
            return refuse(cx, &format!("this is `{full}`"), help);
        }
        match (name, args.as_slice()) {
            ("Option", [inner]) => {
                let inner = self.known(cx, file, inner, depth + 1)?;
                if inner.ty.is_optional() {
                    return refuse(cx, "a value is null or it is not", "write one `Option`");
                }
                Some(Known { ty: inner.ty.optional(), same: inner.same })
            }
            ("Vec", [element]) => {
                let element = self.known(cx, file, element, depth + 1)?;
                let same = element.same;
                Some(Known { ty: element.list(), same })
            }
            ("Map" | "BTreeMap", [key, value]) => {
                let (key_known, value) = (self.known(cx, file, key, depth + 1)?, self.known(cx, file, value, depth + 1)?);
                if key_known.ty.is_optional() || !key_known.ty.is_ordered() || key_known.ty.is_float() {
                    let reason = format!("{} cannot be the key of a map", key_known.ty);
                    return refuse(cx, &reason, "use a text, a number or a date");
                }
                let same = key_known.same && value.same;
                Some(Known { ty: Ty::Map(Box::new(key_known.ty), Box::new(value.ty)), same })
            }
            ("Decimal", []) => match numbers.as_slice() {
                [precision @ 1..=38, scale] if scale <= precision => {
                    Some(Known { ty: Ty::Decimal { precision: *precision as u8, scale: *scale as u8 }, same: true })
                }
                _ => refuse(
                    cx,
                    "its precision and scale are not known",
                    "write `Decimal<10, 2>`: 1 to 38 digits, 2 of them behind the point",
                ),
            },
            (name, []) => match built_in(name) {
                Some(known) => Some(known),
                None => refuse(cx, "not known to the language", known::instead(name)),
            },
            (name, _) => refuse(cx, "not known to the language", known::instead(name)),
        }
    }

    /// The user's type of this name: in the same file, else in any other.
    fn own(&self, file: usize, before: &[String], name: &str) -> Option<(usize, usize)> {
        let find = |number: usize| {
            let position = self.files[number].types.iter().position(|item| item.name.text == name)?;
            Some((number, position))
        };
        let foreign = before.first().is_some_and(|first| matches!(first.as_str(), "std" | "core" | "alloc" | "millstream"));
        if foreign {
            return None;
        }
        find(file).or_else(|| {
            (0..self.files.len()).find_map(find).filter(|_| !before.is_empty() || self.files[file].imports.contains_key(name))
        })
    }
}

/// What of the language a function or an aggregate has the name of.
fn clash(name: &Name) -> Option<&'static str> {
    let text = name.text.as_str();
    if matches!(text, "cast" | "try_cast")
        || library_aggregates::find(text).is_some()
        || library_aggregates::find_analytic(text).is_some()
    {
        return Some("a part of the language");
    }
    library::find(text).map(|_| "a function of the standard library")
}
