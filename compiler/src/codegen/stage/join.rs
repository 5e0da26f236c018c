//! `join`: keys, condition and output rows, as a `Joining`, and the operator that drives it.

use std::collections::HashMap;

use millstream_runtime::graph::{Expr, Field, JoinColumnOf, JoinHow, JoinKind, JoinOperation, Lookup, Side, WindowBound};
use millstream_runtime::{connectors, formats};
use proc_macro2::TokenStream;
use quote::quote;

use super::aggregate::assigner;
use super::{Stage, Template, carrier};
use crate::codegen::closure::Rows;
use crate::codegen::doc;
use crate::codegen::expr::{Bindings, Lowering};
use crate::codegen::keys::{key_part, key_type, key_value};
use crate::codegen::literal::micros;
use crate::codegen::names::{Scope, ident};
use crate::codegen::options;
use crate::codegen::tokens::unless_used;

impl<'a> Stage<'a> {
    pub(super) fn join(&self, join: &'a JoinOperation, names: &mut Scope) -> Template {
        let item = self.vertex.uid.split('/').next().unwrap_or_default();
        let name = names.type_name(&format!("{item} join"));
        let right = self.right.unwrap_or(self.input);
        for rows in [self.input, right] {
            self.cx.types.borrow_mut().keep_in_state(rows.schema);
        }
        let mut methods = TokenStream::new();
        let mut uses_params = false;
        for (side, rows) in [(Side::Left, self.input), (Side::Right, right)] {
            uses_params |= self.side_methods(join, side, rows, &mut methods);
        }
        methods.extend(can_match(join));
        if let Some(lookup) = join.lookup().filter(|lookup| !lookup.texts.is_empty()) {
            uses_params |= self.key_texts(lookup, &mut methods);
        }
        if let Some(condition) = &join.condition {
            uses_params |= self.matches(join, condition, right, &mut methods);
        }
        self.rows_of_join(join, right, &mut methods);
        let keys: Vec<&Expr> = join.keys.iter().map(|key| &key.left).collect();
        let key = key_type(self.cx, &keys);
        let [left_row, right_row] = [self.input, right].map(|rows| self.cx.row(rows.schema));
        let out = self.cx.row(self.output.schema);
        let origin = doc::origin(&self.vertex.origin);
        let (definition, value) = carrier(&name, uses_params);
        let items = quote! {
            #origin
            #definition
            impl Joining for #name {
                type Left = #left_row;
                type Right = #right_row;
                type Key = #key;
                type Out = #out;
                #methods
            }
        };
        Template { operator: self.join_operator(join, right, value), items }
    }

    /// What an external table is asked by.
    fn key_texts(&self, lookup: &'a Lookup, methods: &mut TokenStream) -> bool {
        let texts = |lowering: &mut Lowering<'a>| {
            let texts: Vec<TokenStream> = lookup
                .texts
                .iter()
                .map(|text| {
                    let value = lowering.lower_owned(text).tokens;
                    // Nobody asks with a null.
                    if text.ty.is_optional() { quote!((#value).unwrap_or_default()) } else { value }
                })
                .collect();
            quote!(vec![#(#texts),*])
        };
        let (method, uses_params) = self.row_method("key_texts", ("Left", self.input.schema), quote!(Vec<Str>), texts);
        methods.extend(method);
        uses_params
    }

    /// The operator that looks rows up.
    fn looked_up(&self, lookup: &'a Lookup, kind: &TokenStream, joining: &TokenStream) -> TokenStream {
        let spec = connectors::find(&lookup.connector).and_then(|connector| connector.lookup);
        // Paths of descriptors are constants of the runtime: they parse.
        let path = |path: &str| path.parse::<TokenStream>().unwrap_or_default();
        let rust = path(spec.map_or("millstream::connectors::UnknownLookup", |spec| spec.rust));
        let row = self.cx.row(&lookup.schema);
        let format = lookup.format.as_deref();
        let format_type = format.and_then(formats::find).map(|format| path(format.rust)).map(|format| quote!(, #format));
        let format = format.map(|format| (format, &lookup.format_options[..]));
        let (options, _) = options::render(self.cx, &lookup.options, format, &lookup.schema);
        let name = &lookup.name;
        let options = match lookup.texts.is_empty() {
            true => options,
            false => {
                let key = &lookup.key;
                quote!(#options.with_columns("key", &[#(#key),*]))
            }
        };
        let table = quote!(lookup::open(#name, #rust::<#row #format_type>::from_options(&#options))?);
        let keep = lookup.cache.map(micros);
        if lookup.texts.is_empty() {
            let keep = keep.map_or(quote!(None), |keep| quote!(Some(#keep)));
            return quote!(LookupInMemory::new(#kind, #name, #joining, #table, #keep));
        }
        let ordered = lookup.ordered;
        let limit = proc_macro2::Literal::u64_unsuffixed(lookup.cache_limit);
        let cache = keep.map_or(quote!(None), |keep| quote!(Some((#keep, #limit))));
        quote!(LookupByKey::new(#kind, #name, #joining, #table, #ordered, #cache))
    }

    /// Key and time of the rows of one side.
    fn side_methods(&self, join: &'a JoinOperation, side: Side, rows: Rows<'a>, methods: &mut TokenStream) -> bool {
        let left = side == Side::Left;
        let keys: Vec<&Expr> = join.keys.iter().map(|key| if left { &key.left } else { &key.right }).collect();
        let rows = (if left { "Left" } else { "Right" }, rows.schema);
        let name = if left { "left_key" } else { "right_key" };
        let (key, mut any_params) = self.row_method(name, rows, quote!(Self::Key), |lowering| key_value(lowering, &keys));
        methods.extend(key);
        if let Some(times) = join.times() {
            let time = if left { &times.left } else { &times.right };
            let name = if left { "left_time" } else { "right_time" };
            let of_time = |lowering: &mut Lowering<'a>| lowering.lower_owned(time).tokens;
            let (time, uses_params) = self.row_method(name, rows, quote!(Timestamp), of_time);
            methods.extend(time);
            any_params |= uses_params;
        }
        any_params
    }

    /// What must hold besides the keys.
    fn matches(&self, join: &'a JoinOperation, condition: &'a Expr, right: Rows<'a>, methods: &mut TokenStream) -> bool {
        let mut pair = HashMap::new();
        for column in &join.columns {
            if let JoinColumnOf::Side(side, own) = &column.of {
                let (row, schema) = match side {
                    Side::Left => (quote!(left), self.input.schema),
                    Side::Right => (quote!(right), right.schema),
                };
                pair.insert(column.name.as_str(), (row, schema, own.as_str()));
            }
        }
        let mut lowering = Lowering::new(self.cx, &self.vertex.origin, Bindings { pair, ..Bindings::default() });
        let value = lowering.condition(condition).tokens;
        let statements = lowering.take_statements();
        let used = quote!(#statements #value);
        let [left, right] = ["left", "right"].map(|name| unless_used(&used, ident(name)));
        let params = lowering.uses_params.then(|| quote!(let params = &self.params;));
        methods.extend(quote! {
            fn matches(&self, #left: &Self::Left, #right: &Self::Right) -> Result<bool, EvalError> {
                #params #statements Ok(#value)
            }
        });
        lowering.uses_params
    }

    /// The output rows that this kind of join makes.
    fn rows_of_join(&self, join: &'a JoinOperation, right: Rows<'a>, methods: &mut TokenStream) {
        let out = self.cx.row(self.output.schema);
        let made = |has_left: bool, has_right: bool| {
            if !has_right && !join.kind.pairs() && self.output.schema.fields == self.input.schema.fields {
                return quote!(left.clone());
            }
            let fields = self.output.schema.fields.iter().map(|field| {
                let to = self.cx.types.borrow_mut().field(self.output.schema, &field.name);
                let value = self.join_column(join, field, right, has_left, has_right);
                quote!(#to: #value)
            });
            quote!(#out { #(#fields),* })
        };
        let mut add = |name: &str, parameters: &[&str], body: TokenStream| {
            let name = ident(name);
            let parameters = parameters.iter().map(|parameter| {
                let ty = ident(if *parameter == "left" { "Left" } else { "Right" });
                let parameter = unless_used(&body, ident(parameter));
                quote!(#parameter: &Self::#ty)
            });
            let window = unless_used(&body, ident("window"));
            methods.extend(quote! {
                fn #name(&self, #(#parameters,)* #window: WindowBounds) -> Option<Self::Out> { Some(#body) }
            });
        };
        if join.kind.pairs() {
            add("both", &["left", "right"], made(true, true));
        }
        if join.kind.keeps(Side::Left) || join.kind == JoinKind::Semi {
            add("left_only", &["left"], made(true, false));
        }
        if join.kind.keeps(Side::Right) {
            add("right_only", &["right"], made(false, true));
        }
    }

    fn join_column(&self, join: &JoinOperation, field: &Field, right: Rows<'a>, has_left: bool, has_right: bool) -> TokenStream {
        let Some(column) = join.columns.iter().find(|column| column.name == field.name) else { return quote!(None) };
        let (side, own) = match &column.of {
            JoinColumnOf::Window(WindowBound::Start) => return quote!(window.start),
            JoinColumnOf::Window(WindowBound::End) => return quote!(window.end),
            JoinColumnOf::Side(side, own) => (*side, own),
        };
        let (there, row, schema) = match side {
            Side::Left => (has_left, quote!(left), self.input.schema),
            Side::Right => (has_right, quote!(right), right.schema),
        };
        let comes = schema.field(own).filter(|_| there);
        let Some(comes) = comes else { return quote!(None) };
        let from = self.cx.types.borrow_mut().field(schema, own);
        let clone = (!comes.ty.is_copy()).then(|| quote!(.clone()));
        let value = quote!(#row.#from #clone);
        if field.ty.is_optional() && !comes.ty.is_optional() { quote!(Some(#value)) } else { value }
    }

    fn join_operator(&self, join: &'a JoinOperation, right: Rows<'a>, value: TokenStream) -> TokenStream {
        let carried = |table: bool| if table { quote!(OverChanges) } else { quote!(OverRows) };
        let kind = ident(&format!("{:?}", join.kind));
        let kind = quote!(JoinKind::#kind);
        let late = self.late.as_ref().map(|stage| quote!(.with_late(#stage)));
        let broadcast = join.broadcast.then(|| quote!(.broadcast()));
        match &join.how {
            JoinHow::Unbounded => {
                let [left, right, out] = [self.input.table, right.table, self.output.table].map(carried);
                let ttl = self.ttl();
                quote!(UnboundedJoin::<_, #left, #right, #out>::new(#kind, #value) #broadcast #ttl)
            }
            JoinHow::Within { from, to, .. } => {
                let (from, to) = (micros(*from), micros(*to));
                quote!(IntervalJoin::new(#kind, #from, #to, #value) #broadcast #late)
            }
            JoinHow::Over { window, allowed_lateness, .. } => {
                let window = assigner(window);
                let lateness = (*allowed_lateness > 0).then(|| {
                    let lateness = micros(*allowed_lateness);
                    quote!(.allow_late(#lateness))
                });
                quote!(WindowJoin::new(#kind, #window, #value) #broadcast #lateness #late)
            }
            JoinHow::Lookup(lookup) => self.looked_up(lookup, &kind, &value),
            JoinHow::AsOf { .. } => {
                let right = carried(right.table);
                quote!(TemporalJoin::<_, #right>::new(#kind, #value) #broadcast #late)
            }
        }
    }
}

/// Whether all parts of a key are there; nothing where they always are.
fn can_match(join: &JoinOperation) -> TokenStream {
    let parts: Vec<TokenStream> = join
        .keys
        .iter()
        .enumerate()
        .filter(|(_, key)| key.left.ty.is_optional())
        .map(|(index, _)| {
            let part = key_part(&ident("key"), index, join.keys.len());
            quote!(#part.is_some())
        })
        .collect();
    if parts.is_empty() {
        return TokenStream::new();
    }
    quote! {
        fn can_match(&self, key: &Self::Key) -> bool { #(#parts)&&* }
    }
}
