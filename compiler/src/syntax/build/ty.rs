//! Types as written.

use millstream_grammar::{Pair, Rule};

use super::{Builder, no_name};
use crate::syntax::ast::*;
use crate::syntax::errors;

impl Builder<'_> {
    /// `int32?`, `list<string>`, `{ a: int64 }`
    pub fn ty(&mut self, pair: Pair<'_, Rule>) -> Type {
        let span = self.span(&pair);
        let mut ty = Type { kind: TypeKind::Error, optional: false, span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::list_type => {
                    if let Some(of) = inner.into_inner().find(|part| part.as_rule() == Rule::r#type) {
                        ty.kind = TypeKind::List(Box::new(self.ty(of)));
                    }
                }
                Rule::map_type => {
                    let mut parts = inner.into_inner().filter(|part| part.as_rule() == Rule::r#type);
                    if let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                        ty.kind = TypeKind::Map(Box::new(self.ty(key)), Box::new(self.ty(value)));
                    }
                }
                Rule::record_type => {
                    let columns = inner.into_inner().filter(|part| part.as_rule() == Rule::column);
                    ty.kind = TypeKind::Record(columns.map(|column| self.column(column)).collect());
                }
                Rule::named_type => ty.kind = self.named_type(inner),
                Rule::optional => ty.optional = true,
                _ => {}
            }
        }
        ty
    }

    fn named_type(&mut self, pair: Pair<'_, Rule>) -> TypeKind {
        let mut name = no_name(self.span(&pair));
        let mut numbers = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => name = self.name(&inner),
                Rule::number => match inner.as_str().replace('_', "").parse() {
                    Ok(number) => numbers.push(number),
                    Err(_) => {
                        let span = self.span(&inner);
                        self.report(errors::bad_literal(
                            span,
                            format!("`{}` is not a whole number", inner.as_str()),
                            "as in `decimal(23, 3)`",
                        ));
                        return TypeKind::Error;
                    }
                },
                _ => {}
            }
        }
        TypeKind::Named { name, numbers }
    }
}
