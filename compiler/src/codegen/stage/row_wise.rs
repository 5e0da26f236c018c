//! Operators without state: `where`, `select`, `explode`, `watermark`, `changes`.

use millstream_runtime::graph::{Expr, Schema, Ty, WatermarkOperation};
use proc_macro2::TokenStream;
use quote::quote;

use super::Stage;
use crate::codegen::closure::{by_reference, closure, moved, over_row, unwrap_records, with_params};
use crate::codegen::expr::adapt;
use crate::codegen::names::ident;
use crate::codegen::tokens::{mentions, unless_used};

impl<'a> Stage<'a> {
    pub(super) fn filter(&self, condition: &'a Expr) -> TokenStream {
        let closure = by_reference(self.cx, self.input, &self.vertex.origin, |lowering| lowering.condition(condition).tokens);
        let filter = if self.input.table { quote!(FilterTable) } else { quote!(Filter) };
        quote!(#filter::new(#closure))
    }

    pub(super) fn project(&self, columns: &'a [(String, Expr)]) -> TokenStream {
        let mut lowering = over_row(self.cx, self.input.schema, &self.vertex.origin);
        let values: Vec<&Expr> = columns.iter().map(|(_, value)| value).collect();
        unwrap_records(&mut lowering, &values);
        let values = moved(&mut lowering, &values);
        let statements = lowering.take_statements();
        let fields = values.into_iter().map(|(index, value)| {
            let (name, expr) = &columns[index];
            let wanted = self.output.schema.field(name).map_or(&expr.ty, |field| &field.ty);
            let tokens = adapt(value, &expr.ty, wanted).tokens;
            let field = self.cx.types.borrow_mut().field(self.output.schema, name);
            quote!(#field: #tokens)
        });
        let row = self.cx.row(self.output.schema);
        let made = quote!(#row { #(#fields),* });
        let function = self.owning(&statements, made, lowering.uses_params);
        quote!(Project::new(#function))
    }

    /// A closure that takes a row and gives one; rows of tables keep their kind.
    fn owning(&self, statements: &TokenStream, made: TokenStream, uses_params: bool) -> TokenStream {
        let used = quote!(#statements #made);
        let rust = self.input.rust(self.cx);
        let function = if self.input.table {
            let take = mentions(&used, "row").then(|| quote!(let row = change.row;));
            let made = quote!(Change { kind: change.kind, row: #made });
            closure(&ident("change"), &rust, &quote!(#take #statements), &made, uses_params)
        } else {
            closure(&unless_used(&used, ident("row")), &rust, statements, &made, uses_params)
        };
        with_params(function, uses_params)
    }

    pub(super) fn explode(&self, list: &'a Expr, name: &'a str) -> TokenStream {
        let mut lowering = over_row(self.cx, self.input.schema, &self.vertex.origin);
        let list_value = lowering.lower_owned(list).tokens;
        let statements = lowering.take_statements();
        let schema = self.output.schema;
        let fields: Vec<_> = schema
            .fields
            .iter()
            .map(|field| {
                let to = self.cx.types.borrow_mut().field(schema, &field.name);
                if field.name == name {
                    let item = match (&list.ty.required(), &field.ty) {
                        (Ty::Map(..), Ty::Record(entry)) => self.entry(entry),
                        _ => quote!(item),
                    };
                    return quote!(#to: #item);
                }
                let from = self.cx.types.borrow_mut().field(self.input.schema, &field.name);
                let clone = (!field.ty.is_copy()).then(|| quote!(.clone()));
                quote!(#to: row.#from #clone)
            })
            .collect();
        let item = if schema.field(name).is_some() { ident("item") } else { ident("_item") };
        let row = self.cx.row(schema);
        let flatten = list.ty.is_optional().then(|| quote!(.flatten()));
        let made = quote!(#row { #(#fields),* });
        let made = if self.input.table { quote!(Change { kind: change.kind, row: #made }) } else { made };
        let moves = (mentions(&made, "row") || self.input.table).then(|| quote!(move));
        let value = quote!(list.into_iter()#flatten.map(#moves |#item| #made));
        let statements = quote!(#statements let list = #list_value;);
        let used = quote!(#statements #value);
        let rust = self.input.rust(self.cx);
        let function = if self.input.table {
            let take = mentions(&used, "row").then(|| quote!(let row = change.row;));
            closure(&ident("change"), &rust, &quote!(#take #statements), &value, lowering.uses_params)
        } else {
            closure(&unless_used(&used, ident("row")), &rust, &statements, &value, lowering.uses_params)
        };
        let function = with_params(function, lowering.uses_params);
        quote!(Explode::new(#function))
    }

    /// An entry of a map, as a record.
    fn entry(&self, schema: &Schema) -> TokenStream {
        let row = self.cx.row(schema);
        let [key, value] = ["key", "value"].map(|name| self.cx.types.borrow_mut().field(schema, name));
        quote!(#row { #key: item.0, #value: item.1 })
    }

    pub(super) fn watermark(&self, watermark: &'a WatermarkOperation) -> TokenStream {
        let closure = self.watermark_closure(watermark);
        quote!(AssignWatermark::new(#closure))
    }

    /// `|row: &Flight| Ok(Some(..))`: the time that a row allows the watermark to reach.
    pub(super) fn watermark_closure(&self, watermark: &'a WatermarkOperation) -> TokenStream {
        by_reference(self.cx, self.output, &self.vertex.origin, |lowering| {
            let value = lowering.lower(&watermark.watermark);
            adapt(value, &watermark.watermark.ty, &Ty::Timestamp.optional()).tokens
        })
    }

    pub(super) fn changes(&self) -> TokenStream {
        let schema = self.output.schema;
        let fields = schema.fields.iter().enumerate().map(|(index, field)| {
            let to = self.cx.types.borrow_mut().field(schema, &field.name);
            if index == 0 {
                return quote!(#to: Str::from(change.kind.name()));
            }
            let from = self.cx.types.borrow_mut().field(self.input.schema, &field.name);
            quote!(#to: change.row.#from)
        });
        let (rust, row) = (self.input.rust(self.cx), self.cx.row(schema));
        let made = quote!(#row { #(#fields),* });
        let function = closure(&ident("change"), &rust, &TokenStream::new(), &made, false);
        quote!(Project::new(#function))
    }
}
