//! `final`: the rows of a table as they stand at the end.

use proc_macro2::TokenStream;
use quote::quote;

use super::Stage;
use crate::codegen::closure::Rows;
use crate::codegen::keys::nest;
use crate::codegen::names::ident;

impl<'a> Stage<'a> {
    pub(super) fn last_rows(&self) -> TokenStream {
        self.cx.types.borrow_mut().keep_in_state(self.input.schema);
        let Some(columns) = self.input.key else {
            let route = self.key_closure(&self.route);
            return quote!(FinalBag::new(#route));
        };
        let key = self.columns_closure(columns);
        quote!(Final::new(#key))
    }

    /// `|row: &Bid| Ok(..)`: these columns of a row.
    pub(super) fn columns_closure(&self, columns: &[String]) -> TokenStream {
        let schema = self.input.schema;
        let parts: Vec<TokenStream> = columns
            .iter()
            .filter_map(|column| schema.field(column))
            .map(|field| {
                let name = self.cx.types.borrow_mut().field(schema, &field.name);
                let clone = (!field.ty.is_copy()).then(|| quote!(.clone()));
                quote!(AsKey::into_key(row.#name #clone))
            })
            .collect();
        let rust = Rows { table: false, ..self.input }.rust(self.cx);
        let row = ident(if parts.is_empty() { "_row" } else { "row" });
        let key = nest(parts);
        quote!(|#row: &#rust| Ok(#key))
    }
}
