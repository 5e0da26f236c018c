//! Fields of records, elements of lists and maps, and the making of lists and records.

use millstream_runtime::graph::{Expr, StageFact, Ty};
use quote::quote;

use super::branch::adapt;
use super::{Hold, Lowering, Value, place};

impl<'a> Lowering<'a> {
    /// `record.field`; on an optional record the field, or null.
    pub(super) fn field(&mut self, base: &'a Expr, name: &str, ty: &Ty) -> Value {
        let value = self.lower(base);
        let Ty::Record(schema) = base.ty.required() else { return value };
        let field = self.cx.types.borrow_mut().field(schema, name);
        let inner = schema.field(name).map_or_else(|| ty.clone(), |field| field.ty.clone());
        if !base.ty.is_optional() {
            let owned = value.hold == Hold::Owned;
            let operand = value.operand();
            let tokens = quote!(#operand.#field);
            return if owned && !ty.is_copy() { Value::closed(tokens, Hold::Owned) } else { place(tokens, ty) };
        }
        let name = self.variable();
        if value.hold == Hold::Owned {
            let operand = value.operand();
            let method = if inner.is_optional() { quote!(and_then) } else { quote!(map) };
            let hold = if inner.is_copy() { Hold::Copy } else { Hold::Owned };
            return Value::closed(quote!(#operand.#method(|#name| #name.#field)), hold);
        }
        let operand = value.borrowed(&base.ty).operand();
        let element = place(quote!(#name.#field), &inner).borrowed(&inner);
        let (tokens, hold) = (&element.tokens, element.hold);
        let method = if inner.is_optional() { quote!(and_then) } else { quote!(map) };
        Value::closed(quote!(#operand.#method(|#name| #tokens)), hold)
    }

    /// `history.max(placed_at)`: what is known of a stage that has ended.
    pub(super) fn stage_end(&mut self, stage: &str, fact: &StageFact, ty: &Ty) -> Value {
        let end = quote!(ends.of(#stage)?);
        match fact {
            StageFact::StartTime => Value::closed(quote!(#end.start_time), Hold::Copy),
            StageFact::EndTime => Value::closed(quote!(#end.end_time), Hold::Copy),
            StageFact::Max(column) => {
                let schema = self.bindings.stages.cloned().unwrap_or_default();
                let field = self.cx.types.borrow_mut().field(&schema, column);
                place(quote!(#end.summary.#field), ty)
            }
        }
    }

    /// `list[0]`, `map["k"]`: null where there is none.
    pub(super) fn index(&mut self, base: &'a Expr, index: &'a Expr) -> Value {
        let base_value = self.lower(base);
        let temporary = base_value.hold == Hold::Owned;
        let operands = vec![(base_value.borrowed(&base.ty), &base.ty), (self.lower_borrowed(index), &index.ty)];
        let (element, is_list) = match base.ty.required() {
            Ty::List(element) => (&**element, true),
            Ty::Map(_, value) => (&**value, false),
            other => (other, true),
        };
        self.lift(operands, true, |lowering, values| {
            let (base, index) = (&values[0], &values[1].tokens);
            let found = if is_list {
                let base = &base.tokens;
                quote!(list_get(#base, #index))
            } else {
                let base = base.operand();
                let index = values[1].operand();
                if values[1].hold == Hold::Copy { quote!(#base.get(&#index)) } else { quote!(#base.get(#index)) }
            };
            if element.is_copy() {
                let flatten = element.is_optional().then(|| quote!(.flatten()));
                return Value::closed(quote!(#found.copied()#flatten), Hold::Copy);
            }
            if temporary {
                let flatten = element.is_optional().then(|| quote!(.flatten()));
                return Value::closed(quote!(#found.cloned()#flatten), Hold::Owned);
            }
            let name = lowering.variable();
            let inner = place(quote!(#name), element).borrowed(element);
            let tokens = match element {
                Ty::Record(_) | Ty::Json | Ty::Map(..) => found,
                _ => {
                    let method = if element.is_optional() { quote!(and_then) } else { quote!(map) };
                    let inner = inner.tokens;
                    quote!(#found.#method(|#name| #inner))
                }
            };
            Value::closed(tokens, Hold::Reference)
        })
    }

    pub(super) fn list(&mut self, items: &'a [Expr], ty: &Ty) -> Value {
        let Ty::List(element) = ty.required() else { return Value::closed(quote!(Vec::new()), Hold::Owned) };
        if items.is_empty() {
            let element = self.cx.types.borrow_mut().owned(element);
            return Value::closed(quote!(Vec::<#element>::new()), Hold::Owned);
        }
        let items: Vec<_> = items
            .iter()
            .map(|item| {
                let value = self.lower_owned(item);
                adapt(value, &item.ty, element).tokens
            })
            .collect();
        Value::closed(quote!(Vec::from([#(#items),*])), Hold::Owned)
    }

    pub(super) fn record(&mut self, fields: &'a [(String, Expr)], ty: &Ty) -> Value {
        let Ty::Record(schema) = ty.required() else { return Value::closed(quote!(()), Hold::Copy) };
        let row = self.cx.types.borrow_mut().row(schema);
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, expr)| {
                let value = self.lower_owned(expr);
                let wanted = schema.field(name).map_or(&expr.ty, |field| &field.ty);
                let tokens = adapt(value, &expr.ty, wanted).tokens;
                let field = self.cx.types.borrow_mut().field(schema, name);
                if field == tokens.to_string() { quote!(#field) } else { quote!(#field: #tokens) }
            })
            .collect();
        Value::open(quote!(#row { #(#fields),* }), Hold::Owned)
    }
}
