//! `intersect`, `except`, `distinct`, and tables as other tables.

use millstream_runtime::graph::{Changelog, Combine, CombineOperation, Expr, Field};
use proc_macro2::TokenStream;
use quote::quote;

use super::Stage;

impl<'a> Stage<'a> {
    pub(super) fn combine(&self, combine: &'a CombineOperation) -> TokenStream {
        self.cx.types.borrow_mut().keep_in_state(self.output.schema);
        let keys: Vec<&Expr> = combine.keys.iter().collect();
        let key = self.key_closure(&keys);
        let input = self.cx.row(self.input.schema);
        let side = match &combine.side {
            Some(side) => {
                let side = self.cx.types.borrow_mut().field(self.input.schema, side);
                quote!(|row: &#input| row.#side)
            }
            None => quote!(|_row: &#input| false),
        };
        let make = match combine.side {
            Some(_) => {
                let output = self.cx.row(self.output.schema);
                let fields: Vec<TokenStream> = self.output.schema.fields.iter().map(|field| self.taken(field)).collect();
                quote!(|row: #input| #output { #(#fields),* })
            }
            None => quote!(|row: #input| row),
        };
        let rule = match (combine.how, combine.all) {
            (Combine::Distinct, _) => quote!(Rule::Distinct),
            (Combine::Intersect, false) => quote!(Rule::Intersect),
            (Combine::Intersect, true) => quote!(Rule::IntersectAll),
            (Combine::Except, false) => quote!(Rule::Except),
            (Combine::Except, true) => quote!(Rule::ExceptAll),
        };
        let new = match (self.input.table, self.output.table) {
            (true, _) => quote!(CombineTable::over_changes),
            (false, true) => quote!(CombineTable::new),
            (false, false) => quote!(CombineRows::new),
        };
        let ttl = self.ttl();
        quote!(#new(#rule, #key, #side, #make)#ttl)
    }

    fn taken(&self, field: &Field) -> TokenStream {
        let to = self.cx.types.borrow_mut().field(self.output.schema, &field.name);
        let from = self.cx.types.borrow_mut().field(self.input.schema, &field.name);
        quote!(#to: row.#from)
    }

    pub(super) fn inserts(&self) -> TokenStream {
        let row = self.cx.row(self.input.schema);
        quote!(Project::new(|row: #row| Ok(Change::insert(row))))
    }

    /// The rows of a table under another key: the last to come for each.
    pub(super) fn key_by(&self, key: &[String]) -> TokenStream {
        self.cx.types.borrow_mut().keep_in_state(self.input.schema);
        debug_assert!(matches!(self.vertex.output.changelog, Changelog::Table { .. }));
        let key = self.columns_closure(key);
        quote!(Materialize::new(#key))
    }
}
