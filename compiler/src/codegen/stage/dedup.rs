//! `dedup`: one row per key.

use millstream_runtime::graph::{DedupOperation, Emit, Expr, Keep};
use proc_macro2::TokenStream;
use quote::quote;

use super::Stage;
use crate::codegen::closure::{Rows, by_reference};
use crate::codegen::keys::key_value;
use crate::codegen::literal;

impl<'a> Stage<'a> {
    pub(super) fn dedup(&self, dedup: &'a DedupOperation) -> TokenStream {
        self.cx.types.borrow_mut().keep_in_state(self.input.schema);
        let keys: Vec<&Expr> = dedup.keys.iter().collect();
        let key = self.key_closure(&keys);
        let time = match &dedup.time {
            Some(time) => self.by_plain_row(|lowering| lowering.lower_owned(time).tokens),
            None => quote!(by_arrival),
        };
        let operator = match (dedup.keep, dedup.emit) {
            (Keep::First, _) => quote!(KeepFirst),
            (Keep::Last, Emit::Final) => quote!(KeepLastFinal),
            (Keep::Last, _) => quote!(KeepLast),
        };
        let within = dedup.within.map(|micros| {
            let micros = literal::micros(micros);
            quote!(.within(#micros))
        });
        quote!(#operator::new(#key, #time)#within)
    }

    /// `|row: &Bid| Ok((row.bidder, row.auction))`, also where rows come wrapped in `Change`: operators unwrap them.
    pub(super) fn key_closure(&self, keys: &[&'a Expr]) -> TokenStream {
        self.by_plain_row(|lowering| key_value(lowering, keys))
    }

    fn by_plain_row(&self, body: impl FnOnce(&mut crate::codegen::expr::Lowering<'a>) -> TokenStream) -> TokenStream {
        by_reference(self.cx, Rows { table: false, ..self.input }, &self.vertex.origin, body)
    }
}
