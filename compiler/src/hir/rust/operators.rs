//! Operators of Rust files: the struct whose fields are the options, and the records that it takes and makes.

use millstream_runtime::graph::Ty;

use super::Types;
use crate::hir::context::Context;
use crate::hir::errors::names;
use crate::rust::{self, RustEnum, RustOperator, RustStruct, Written, WrittenKind};

/// An operator of a Rust file, typed.
#[derive(Clone, Debug)]
pub struct Operator<'a> {
    pub module: usize,
    pub path: Vec<String>,
    pub item: &'a RustStruct,
    /// The fields of its struct.
    pub fields: Vec<(String, Ty)>,
    /// What is not given has a default.
    pub defaults: bool,
    /// Rows that come by key: of one stream, or of several.
    pub keyed: Inputs,
    /// Rows that come to every subtask; none: no record.
    pub broadcast: Inputs,
    pub output: Ty,
    pub output_time: Option<String>,
    pub sides: Vec<Side>,
    /// It keeps nothing, has no timers, and no end.
    pub stateless: bool,
    pub timers: Vec<String>,
}

/// Streams that an operator takes: the record of each.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The enum of several: modules within the file, then its name.
    pub of_enum: Option<Vec<String>>,
    /// The variant, and the record.
    pub rows: Vec<(String, Ty)>,
}

/// What an operator sends beside its rows.
#[derive(Clone, Debug)]
pub struct Side {
    /// The variant of its enum; None: there is one side output.
    pub variant: Option<String>,
    pub record: Ty,
    /// The column of event time.
    pub time: Option<String>,
}

impl<'a> Types<'a> {
    /// An operator: its struct, and the records that it takes and makes.
    pub(super) fn operator(&mut self, cx: &mut Context<'a>, file: usize, operator: &'a RustOperator) {
        let name = operator.name.as_str();
        if let Some(first) = cx.rust_operators.get(name).map(|first| first.item.name.span) {
            cx.report(names::defined_twice("operator", name, operator.span, first));
            return;
        }
        let Some(item) = self.files[file].structs.iter().find(|item| item.name.text == name) else {
            let help = "define it in the same file: `pub struct FraudScore { pub threshold: f64 }`";
            cx.report(rust::operator_struct(operator.span, name, "no struct of this name is in this file", help));
            cx.items.broken.insert(name);
            return;
        };
        let private = item.fields.iter().find(|(_, _, public)| !public);
        let defaults = item.defaults || self.files[file].defaults.iter().any(|known| known == name);
        let wrong = if let Some(generic) = item.generic {
            Some((generic, "nothing says what this is", "write one operator for each type"))
        } else if !item.public {
            Some((item.name.span, "it is not public", "write `pub` before `struct`"))
        } else if item.tuple {
            Some((item.name.span, "its fields have no names", "give them names: they are the options in the text"))
        } else if let Some((field, ..)) = private {
            Some((field.span, "this field is not public", "write `pub` before it; what changes belongs into `type State`"))
        } else {
            None
        };
        if let Some((span, label, help)) = wrong {
            cx.report(rust::operator_struct(span, name, label, help));
            cx.items.broken.insert(name);
            return;
        }
        let mut fields = Vec::new();
        for (field, written, _) in &item.fields {
            fields.extend(self.known(cx, file, written, 0).map(|known| (field.text.clone(), known.ty)));
        }
        let records = (self.inputs(cx, file, operator), self.record(cx, file, operator.output.as_ref()));
        let sides = operator.side.as_ref().map_or(Some(Vec::new()), |written| self.sides(cx, file, written));
        let ((Some((keyed, broadcast)), Some((output, output_time))), Some(sides), true) =
            (records, sides, fields.len() == item.fields.len())
        else {
            cx.items.broken.insert(name);
            return;
        };
        let (path, timers) = (item.path.clone(), operator.timers.clone());
        let stateless = !operator.keeps && operator.broadcast.is_none() && timers.is_empty();
        let typed = Operator {
            module: file,
            path,
            item,
            fields,
            defaults,
            keyed,
            broadcast,
            output,
            output_time,
            sides,
            stateless,
            timers,
        };
        cx.rust_operators.insert(name, typed);
    }

    /// What comes by key, and what comes to every subtask. None: reported.
    fn inputs(&mut self, cx: &mut Context<'a>, file: usize, operator: &'a RustOperator) -> Option<(Inputs, Inputs)> {
        let keyed = self.input(cx, file, &operator.name, operator.input.as_ref()?)?;
        let broadcast = match &operator.broadcast {
            Some(written) => self.input(cx, file, &operator.name, written)?,
            None => Inputs::default(),
        };
        Some((keyed, broadcast))
    }

    /// What goes out beside its rows: a record, or an enum of several. None: reported.
    fn sides(&mut self, cx: &mut Context<'a>, file: usize, written: &'a Written) -> Option<Vec<Side>> {
        // Written out as what it is without.
        if matches!(&written.kind, WrittenKind::Named { name, .. } if name == "NoSide") {
            return Some(Vec::new());
        }
        let Some(several) = self.enum_of(file, written) else {
            let (record, time) = self.record(cx, file, Some(written))?;
            return Some(vec![Side { variant: None, record, time }]);
        };
        if !several.sides {
            cx.report(rust::sides_not_derived(written.span, &several.name.text, several.name.span));
            return None;
        }
        self.sides.get(&(file, several.name.text.as_str())).cloned().flatten()
    }

    /// Those of an enum. None: reported.
    pub(super) fn sides_of(&mut self, cx: &mut Context<'a>, file: usize, several: &'a RustEnum) -> Option<Vec<Side>> {
        let sides = several.variants.iter().map(|(variant, written)| {
            let (record, time) = self.record(cx, file, Some(written))?;
            Some(Side { variant: Some(variant.clone()), record, time })
        });
        sides.collect()
    }

    /// An enum of records.
    fn enum_of(&self, file: usize, written: &'a Written) -> Option<&'a RustEnum> {
        let files = self.files;
        match &written.kind {
            WrittenKind::Named { before, name, .. } if before.is_empty() => {
                files[file].enums.iter().find(|item| item.name.text == *name)
            }
            _ => None,
        }
    }

    /// A record, or an enum of several. None: reported.
    fn input(&mut self, cx: &mut Context<'a>, file: usize, operator: &str, written: &'a Written) -> Option<Inputs> {
        let Some(several) = self.enum_of(file, written) else {
            let (input, _) = self.record(cx, file, Some(written))?;
            return Some(Inputs { of_enum: None, rows: vec![(String::new(), input)] });
        };
        if several.variants.len() < 2 {
            cx.report(rust::inputs_of_enum(written.span, &several.name.text, several.variants.len()));
            return None;
        }
        if !several.public {
            let (label, help) = ("this enum is not public", "write `pub` before `enum`");
            cx.report(rust::operator_struct(several.name.span, operator, label, help));
            return None;
        }
        let mut rows = Vec::new();
        for (variant, written) in &several.variants {
            rows.push((variant.clone(), self.record(cx, file, Some(written))?.0));
        }
        Some(Inputs { of_enum: Some(several.path.clone()), rows })
    }

    /// A record of the user's, with its column of event time. None: reported.
    fn record(&mut self, cx: &mut Context<'a>, file: usize, written: Option<&'a Written>) -> Option<(Ty, Option<String>)> {
        let written = written?;
        let known = self.known(cx, file, written, 0)?;
        let Ty::Record(schema) = &known.ty else {
            let help = "write a struct with `#[derive(Clone, Record)]`: its fields are columns";
            cx.report(rust::unsupported(written, "an operator takes and makes records", help));
            return None;
        };
        let items = self.files.iter().flat_map(|file| &file.types);
        let item = items.into_iter().find(|item| schema.name.as_deref() == Some(item.name.text.as_str()));
        let time = item.and_then(|item| item.event_time.as_ref()).map(|name| name.text.clone());
        Some((known.ty, time))
    }
}
