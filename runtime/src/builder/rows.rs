//! What rows may be, and what the job graph says of them.

use std::panic::Location;

use crate::checkpoint::without_defaults;
use crate::graph::signature::scalar;
use crate::graph::{Changelog, Expr, ExprKind, Field, Origin, RustFunction, Schema, StreamType, Ty};
use crate::state::State;

/// A row of a stream: anything that can be kept in a checkpoint. `#[derive(Clone, State)]` makes a struct one; so do tuples of such, numbers
/// and strings. What is read from or written to the outside is a [`Record`](crate::record::Record) as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a row",
    label = "no row",
    note = "put `#[derive(Clone, State)]` above it: rows are kept in checkpoints. Tuples of such types, numbers and strings are rows, too"
)]
pub trait Row: Clone + State + Send + Sync + 'static {}

// Else each trait that is missing is a message of its own.
#[diagnostic::do_not_recommend]
impl<T: Clone + State + Send + Sync + 'static> Row for T {}

/// The rows of a stream of such rows.
pub(super) fn rows<T: Row>() -> StreamType {
    let schema = match ty_of::<T>() {
        Ty::Record(schema) => schema,
        other => Schema::anonymous(vec![Field::new("value", other)]),
    };
    StreamType { schema, changelog: Changelog::Append, time: None }
}

/// The type in the language's words.
pub(super) fn ty_of<T: State>() -> Ty {
    let text = T::schema();
    let text = without_defaults(&text);
    let mut reader = Reader { rest: &text };
    let ty = reader.ty();
    if reader.rest.is_empty() { ty } else { unknown(&text) }
}

/// What the language has no word for.
fn unknown(text: &str) -> Ty {
    Ty::Record(Schema { name: Some(text.to_owned()), fields: Vec::new() })
}

/// Reads what [`State::schema`] writes.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &str {
        if self.take('`') {
            let (word, rest) = self.rest.split_once('`').unwrap_or((self.rest, ""));
            self.rest = rest;
            return word;
        }
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn ty(&mut self) -> Ty {
        let mut ty = self.bare();
        while self.take('?') {
            ty = ty.optional();
        }
        ty
    }

    fn bare(&mut self) -> Ty {
        if self.take('{') {
            let mut fields = Vec::new();
            while !self.take('}') && !self.rest.is_empty() {
                let name = self.word().to_owned();
                if !self.take(':') {
                    break;
                }
                fields.push(Field::new(name, self.ty()));
                self.take(',');
            }
            return Ty::Record(Schema::anonymous(fields));
        }
        if self.take('(') {
            let mut fields = Vec::new();
            while !self.take(')') && !self.rest.is_empty() {
                let before = self.rest.len();
                let ty = self.ty();
                if self.rest.len() == before {
                    break;
                }
                fields.push(Field::new(fields.len().to_string(), ty));
                self.take(',');
            }
            return Ty::Record(Schema::anonymous(fields));
        }
        let word = self.word().to_owned();
        if let Some(ty) = scalar(&word) {
            return ty;
        }
        match word.as_str() {
            "decimal" => self.decimal(),
            "list" | "set" if self.take('<') => {
                let of = self.ty();
                self.take('>');
                Ty::List(Box::new(of))
            }
            "map" if self.take('<') => {
                let key = self.ty();
                self.take(',');
                let value = self.ty();
                self.take('>');
                Ty::Map(Box::new(key), Box::new(value))
            }
            _ => self.other(word),
        }
    }

    fn decimal(&mut self) -> Ty {
        let mut number = |before: char| {
            self.take(before);
            self.word().parse().unwrap_or_default()
        };
        let (precision, scale) = (number('('), number(','));
        self.take(')');
        Ty::Decimal { precision, scale }
    }

    /// `enum(..)`, `count{..}`: named by all of its text.
    fn other(&mut self, mut name: String) -> Ty {
        let mut depth = 0;
        for (at, c) in self.rest.char_indices() {
            match c {
                '(' | '{' | '<' => depth += 1,
                ')' | '}' | '>' if depth > 0 => depth -= 1,
                _ if depth > 0 => {}
                _ => {
                    let (own, rest) = self.rest.split_at(at);
                    name.push_str(own);
                    self.rest = rest;
                    return unknown(&name);
                }
            }
        }
        name.push_str(self.rest);
        self.rest = "";
        unknown(&name)
    }
}

/// Where something is called in the program.
pub(super) fn origin(at: &Location<'_>, text: &str) -> Origin {
    Origin { file: at.file().to_owned(), line: at.line(), column: at.column(), text: text.to_owned() }
}

/// A closure, of which the graph knows no more than what it gives and where it stands. Its text has no line, so that the plan of a job is
/// the same after a line is added above.
pub(super) fn closure(ty: Ty, origin: &Origin) -> Expr {
    let function = RustFunction {
        module: 0,
        path: vec!["closure".to_owned()],
        params: Vec::new(),
        fallible: true,
        iterator: false,
        waits: None,
        origin: origin.clone(),
    };
    Expr { kind: ExprKind::CallRust { function: Box::new(function), args: Vec::new() }, ty, origin: origin.clone() }
}

/// All columns of a row as one closure makes them.
pub(super) fn columns<T: Row>(origin: &Origin) -> Vec<(String, Expr)> {
    let fields = rows::<T>().schema.fields;
    fields.into_iter().map(|field| (field.name, closure(field.ty, origin))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Decimal, Str, Timestamp};

    #[test]
    fn types_are_read_off_the_schemas_of_state() {
        let text = |ty: Ty| ty.to_string();
        assert_eq!(text(ty_of::<i64>()), "int64");
        assert_eq!(text(ty_of::<Option<Str>>()), "string?");
        assert_eq!(text(ty_of::<Decimal<10, 2>>()), "decimal(10, 2)");
        assert_eq!(text(ty_of::<(String, Vec<Option<Timestamp>>)>()), "{ 0: string, 1: list<timestamp?> }");
        assert_eq!(text(ty_of::<std::collections::BTreeMap<u8, (bool, f64)>>()), "map<uint8, { 0: bool, 1: float64 }>");
        assert_eq!(text(ty_of::<crate::aggregates::Count>()), crate::aggregates::Count::<()>::schema());
        assert_eq!(rows::<i64>().schema.to_string(), "{ value: int64 }");
    }
}
