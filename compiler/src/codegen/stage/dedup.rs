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
        let keys: Vec<&Expr> = dedup.keys.iter().collect();
        let key = self.key_closure(&keys);
        let row = self.cx.row(self.input.schema);
        let time = match (&dedup.time, dedup.within) {
            (Some(time), _) => self.by_plain_row(|lowering| lowering.lower_owned(time).tokens),
            (None, Some(_)) => self.event_time(),
            (None, None) => quote!(by_arrival::<#row>),
        };
        let which = if dedup.keep == Keep::First { quote!(first) } else { quote!(last) };
        let operator = match (dedup.emit, &dedup.time) {
            (Emit::Append, None) => quote!(KeepFirst::new),
            (Emit::Append, Some(_)) => quote!(KeepFirstByTime::new),
            (Emit::Changes | Emit::Upserts, _) => quote!(DedupTable::#which),
            (Emit::Final, _) => quote!(DedupFinal::#which),
        };
        if dedup.emit != Emit::Append || dedup.time.is_some() {
            self.cx.types.borrow_mut().keep_in_state(self.input.schema);
        }
        let within = dedup.within.map(|micros| {
            let micros = literal::micros(micros);
            quote!(.within(#micros))
        });
        let ttl = self.ttl().filter(|_| dedup.emit.is_table() || (dedup.emit == Emit::Append && dedup.time.is_none()));
        let late = self.late.as_ref().map(|stage| quote!(.with_late(#stage)));
        quote!(#operator(#key, #time)#within #ttl #late)
    }

    /// The event time of a row, by the stream's time column.
    fn event_time(&self) -> TokenStream {
        let row = self.cx.row(self.input.schema);
        let Some(time) = &self.vertex.output.time else { return quote!(by_arrival::<#row>) };
        let field = self.cx.types.borrow_mut().field(self.input.schema, &time.column);
        let offset = literal::micros(time.offset);
        let value = if time.offset == 0 { quote!(row.#field) } else { quote!(Timestamp(row.#field.0.saturating_add(#offset))) };
        quote!(|row: &#row| Ok(#value))
    }

    /// `|row: &Bid| Ok((row.bidder, row.auction))`, also where rows come wrapped in `Change`: operators unwrap them.
    pub(super) fn key_closure(&self, keys: &[&'a Expr]) -> TokenStream {
        self.by_plain_row(|lowering| key_value(lowering, keys))
    }

    pub(super) fn by_plain_row(&self, body: impl FnOnce(&mut crate::codegen::expr::Lowering<'a>) -> TokenStream) -> TokenStream {
        by_reference(self.cx, Rows { table: false, ..self.input }, &self.vertex.origin, body)
    }
}
