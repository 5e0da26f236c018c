//! Types as written, to types.

use millstream_runtime::graph::signature::scalar;
use millstream_runtime::graph::{Field, Schema, Ty};

use crate::hir::attributes;
use crate::hir::context::Context;
use crate::hir::errors::{names, types};
use crate::syntax::ast::{Column, Type, TypeKind};

/// Names of the built-in types, for suggestions.
pub const BUILT_IN: &[&str] = &[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "decimal",
    "string",
    "bytes",
    "date",
    "time",
    "timestamp",
    "duration",
    "uuid",
    "json",
    "list",
    "map",
];

impl<'a> Context<'a> {
    /// The type that was written; the error type (after a report) where it is none.
    pub fn ty(&mut self, ty: &'a Type) -> Ty {
        let inner = match &ty.kind {
            TypeKind::Named { name, numbers } => {
                if name.text == "decimal" {
                    self.decimal(ty, numbers)
                } else if let Some(scalar) = scalar(&name.text) {
                    if !numbers.is_empty() {
                        let title = format!("{scalar} takes no numbers");
                        self.report(types::bad_type(ty.span, &title, &format!("write `{scalar}`")));
                    }
                    scalar
                } else if let Some(record) = self.records.get(name.text.as_str()) {
                    record.clone()
                } else if self.items.broken.contains(name.text.as_str()) {
                    Ty::Error
                } else if let Some(diagnostic) = self.left_out(name).or_else(|| self.not_annotated(name)) {
                    self.report(diagnostic);
                    Ty::Error
                } else {
                    let records: Vec<&str> = self.items.records.iter().map(|entry| entry.node.name.text.as_str()).collect();
                    let enums = self.items.enums.iter().map(|entry| entry.node.name.text.as_str());
                    let candidates: Vec<&str> = records
                        .into_iter()
                        .chain(enums)
                        .chain(self.rust_types.keys().copied())
                        .chain(BUILT_IN.iter().copied())
                        .collect();
                    let diagnostic =
                        match common_alias(&name.text) {
                            Some(alias) => names::unknown_type(name, &[])
                                .with_help(format!("it is called `{alias}` here"))
                                .with_fix(format!("write `{alias}`"), name.span, alias, false),
                            None => names::unknown_type(name, &candidates),
                        };
                    self.report(diagnostic);
                    Ty::Error
                }
            }
            TypeKind::List(item) => Ty::List(Box::new(self.ty(item))),
            TypeKind::Map(key, value) => {
                let key_type = self.ty(key);
                if key_type.is_optional() || !key_type.is_ordered() || key_type.is_float() {
                    self.report(types::bad_type(
                        key.span,
                        &format!("{key_type} cannot be the key of a map"),
                        "use a string, a number or a date",
                    ));
                }
                Ty::Map(Box::new(key_type), Box::new(self.ty(value)))
            }
            TypeKind::Record(columns) => Ty::Record(Schema::anonymous(self.columns(columns, "this record"))),
            TypeKind::Error => Ty::Error,
        };
        if ty.optional { inner.optional() } else { inner }
    }

    fn decimal(&mut self, ty: &Type, numbers: &[u32]) -> Ty {
        const HELP: &str = "write `decimal(precision, scale)`: 1 to 38 digits, of which scale stand behind the point";
        match numbers {
            [precision @ 1..=38, scale] if scale <= precision => Ty::Decimal { precision: *precision as u8, scale: *scale as u8 },
            [precision @ 1..=38] => Ty::Decimal { precision: *precision as u8, scale: 0 },
            [] => {
                self.report(types::bad_type(ty.span, "decimal needs its precision and scale", HELP));
                Ty::Error
            }
            _ => {
                self.report(types::bad_type(ty.span, "no such decimal", HELP));
                Ty::Error
            }
        }
    }

    /// Columns of a record, without repetitions.
    pub fn columns(&mut self, columns: &'a [Column], place: &str) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::with_capacity(columns.len());
        let mut first = std::collections::HashMap::new();
        for column in columns {
            if let Some(span) = first.insert(column.name.text.as_str(), column.name.span) {
                first.insert(&column.name.text, span);
                self.report(names::column_twice(&column.name.text, column.name.span, Some(span), place));
                continue;
            }
            let ty = self.ty(&column.ty);
            let mut field = Field::new(&column.name.text, ty);
            attributes::column(self, column, &mut field);
            fields.push(field);
        }
        fields
    }
}

/// What types are called elsewhere.
fn common_alias(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "int" | "integer" | "long" | "bigint" | "i64" => "int64",
        "i32" => "int32",
        "i16" | "smallint" | "short" => "int16",
        "i8" | "tinyint" | "byte" => "int8",
        "u64" => "uint64",
        "u32" => "uint32",
        "u16" => "uint16",
        "u8" => "uint8",
        "float" | "double" | "f64" | "real" | "number" => "float64",
        "f32" => "float32",
        "str" | "text" | "varchar" | "char" => "string",
        "boolean" => "bool",
        "datetime" | "timestamptz" | "instant" => "timestamp",
        "numeric" => "decimal(38, 10)",
        "interval" => "duration",
        "binary" | "bytea" | "blob" => "bytes",
        "array" | "vec" => "list<..>",
        _ => return None,
    })
}
