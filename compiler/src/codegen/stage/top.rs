//! `top` and `sort`: rows in an order.

use millstream_runtime::graph::{Expr, SortOperation, TopOperation, Window, WindowTime};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Stage;
use super::aggregate::{window_time, windowed};
use crate::codegen::keys::order_value;
use crate::codegen::literal::micros;

impl<'a> Stage<'a> {
    pub(super) fn top(&self, top: &'a TopOperation) -> TokenStream {
        self.cx.types.borrow_mut().keep_in_state(self.input.schema);
        let keys: Vec<&Expr> = top.keys.iter().collect();
        let key = self.key_closure(&keys);
        let order = self.by_plain_row(|lowering| order_value(lowering, &top.order));
        let make = self.with_rank(top.rank.as_deref());
        let limit = self.limit(top);
        if top.emit.is_table() {
            let new = if self.input.table { quote!(over_changes) } else { quote!(new) };
            let ranked = top.rank.is_some().then(|| quote!(.ranked()));
            let ttl = self.ttl();
            return quote!(TopTable::#new(#limit, #key, #order, #make)#ranked #ttl);
        }
        let row = self.cx.row(self.input.schema);
        let time = match top.window.as_ref().and_then(window_time) {
            Some(WindowTime::Event(time)) => self.by_plain_row(|lowering| lowering.lower_owned(time).tokens),
            _ => quote!(by_arrival::<#row>),
        };
        let rows = quote!(TopRows::new(#limit, #key, #order, #make, #time));
        let Some(window) = &top.window else {
            let new = if self.input.table { quote!(over_changes) } else { quote!(new) };
            return quote!(Flatten::new(FinalAggregate::#new(#rows)));
        };
        let operator = windowed(window, &rows);
        let size = match window {
            Window::Tumbling { size, .. } | Window::Sliding { size, .. } => Some(*size),
            Window::Cumulative { max, .. } => Some(*max),
            _ => None,
        };
        let hold_back = size.filter(|_| self.vertex.output.time.is_some()).map(|size| {
            let size = micros(size);
            quote!(.hold_back(#size))
        });
        let late = self.late.as_ref().map(|stage| quote!(.with_late(#stage)));
        quote!(Flatten::new(#operator #late)#hold_back)
    }

    fn limit(&self, top: &TopOperation) -> TokenStream {
        let count = Literal::usize_unsuffixed(usize::try_from(top.count).unwrap_or(usize::MAX));
        let ties = top.ties.then(|| quote!(ties: true,));
        let latest = top.latest_first.then(|| quote!(latest_first: true,));
        let rest = self.input.table.then(|| quote!(keeps_rest: true,));
        if ties.is_none() && latest.is_none() && rest.is_none() {
            return quote!(Limit::new(#count));
        }
        quote!(Limit { #ties #latest #rest ..Limit::new(#count) })
    }

    /// `|row: &Bid, rank: i64| ..`: the output row of a row and its rank.
    fn with_rank(&self, rank: Option<&str>) -> TokenStream {
        let input = self.cx.row(self.input.schema);
        let Some(column) = rank.filter(|rank| self.output.schema.field(rank).is_some()) else {
            return quote!(|row: &#input, _rank| row.clone());
        };
        let schema = self.output.schema;
        let fields: Vec<TokenStream> = schema
            .fields
            .iter()
            .map(|field| {
                let to = self.cx.types.borrow_mut().field(schema, &field.name);
                if field.name == column {
                    return if to == "rank" { quote!(rank) } else { quote!(#to: rank) };
                }
                let from = self.cx.types.borrow_mut().field(self.input.schema, &field.name);
                let clone = (!field.ty.is_copy()).then(|| quote!(.clone()));
                quote!(#to: row.#from #clone)
            })
            .collect();
        let row = self.cx.row(schema);
        quote!(|row: &#input, rank| #row { #(#fields),* })
    }

    pub(super) fn sort(&self, sort: &'a SortOperation) -> TokenStream {
        self.cx.types.borrow_mut().keep_in_state(self.input.schema);
        let row = self.cx.row(self.input.schema);
        let time = match &sort.time {
            Some(time) => self.by_plain_row(|lowering| lowering.lower_owned(time).tokens),
            None => quote!(at_the_end::<#row>),
        };
        let order = self.by_plain_row(|lowering| order_value(lowering, &sort.order));
        let late = self.late.as_ref().map(|stage| quote!(.with_late(#stage)));
        quote!(Sort::new(#time, #order)#late)
    }
}
