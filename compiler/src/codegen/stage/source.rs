//! Sources: the connector with its options, and what the chain does with its rows.

use millstream_runtime::graph::{ConnectorOption, ErrorPolicy, SourceOperation};
use millstream_runtime::{connectors, formats};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Stage, hybrid};
use crate::codegen::names::{Scope, ident};
use crate::codegen::{doc, options};

/// The function that makes a source, the one that makes its coordinator's half, and the last call of the chain.
pub(in crate::codegen) struct Source {
    pub(in crate::codegen) items: TokenStream,
    pub(in crate::codegen) head: TokenStream,
    /// Paths to import.
    pub(in crate::codegen) uses: Vec<String>,
}

/// The source of a chain, in front of the stage `next`.
pub(in crate::codegen) fn source<'a>(
    stage: &Stage<'a>,
    source: &'a SourceOperation,
    errors: Option<TokenStream>,
    next: &TokenStream,
    names: &mut Scope,
) -> Source {
    let cx = stage.cx;
    let origin = doc::origin(&stage.vertex.origin);
    let (made, uses) = if source.connector == connectors::channel::NAME {
        let row = cx.row(stage.output.schema);
        let uid = &stage.vertex.uid;
        let function = quote! {
            #origin
            pub fn source(params: &ParamValues) -> JobResult<ChannelSource<#row>> {
                ChannelSource::connect(params, #uid)
            }
        };
        let spec = connectors::channel::SPEC.source.as_ref();
        (function, spec.iter().map(|spec| spec.rust.to_owned()).collect())
    } else if source.stages.is_empty() {
        let connector = Connector {
            name: &source.connector,
            options: &source.options,
            format: source.format.as_deref().map(|format| (format, &source.format_options[..])),
            range: source.range.as_deref(),
        };
        let Made { ty, body, uses, params } = connector.render(stage);
        let (parameter, read) = params_of(params);
        let function = quote! {
            #origin
            pub fn source(#parameter: &ParamValues) -> JobResult<#ty> {
                #read
                #body
            }
        };
        (function, uses)
    } else {
        hybrid::render(stage, source, &origin, names)
    };
    let items = quote! {
        #made

        #[doc = " The same, for the coordinator."]
        pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
            Ok(erase_source(source(params)?))
        }
    };
    let watermark = match &source.watermark {
        Some(watermark) => {
            let closure = stage.watermark_closure(watermark);
            quote!(Some(#closure))
        }
        None => {
            let row = cx.row(stage.output.schema);
            quote!(None::<fn(&#row) -> Result<Option<Timestamp>, EvalError>>)
        }
    };
    let on_error = error_policy(source.on_error);
    let (uid, name) = (&stage.vertex.uid, &stage.vertex.name);
    let made = match errors {
        Some(errors) => quote!(cx.source_with_errors(#uid, #name, source, config, Some(#errors), #next)),
        None => quote!(cx.source(#uid, #name, source, config, #next)),
    };
    let timing = timing(source);
    let head = quote! {
        #timing
        let source = source(cx.params())?;
        let config = SourceConfig { watermark: #watermark, on_error: #on_error };
        #made
    };
    Source { items, head, uses }
}

/// A connector that is read from.
pub(super) struct Connector<'a> {
    pub(super) name: &'a str,
    pub(super) options: &'a [ConnectorOption],
    pub(super) format: Option<(&'a str, &'a [ConnectorOption])>,
    /// The time column that `since` and `until` compare.
    pub(super) range: Option<&'a str>,
}

/// How it is made.
pub(super) struct Made {
    /// The type of the source.
    pub(super) ty: TokenStream,
    /// Statements and the result.
    pub(super) body: TokenStream,
    pub(super) uses: Vec<String>,
    /// Whether `params` must be in reach.
    pub(super) params: bool,
}

impl<'a> Connector<'a> {
    pub(super) fn render(&self, stage: &Stage<'a>) -> Made {
        let cx = stage.cx;
        let schema = stage.output.schema;
        let row = cx.row(schema);
        let (options, params) = options::render(cx, self.options, self.format, schema);
        let (ty, made, uses) = match cx.own_connector(self.name) {
            Some(own) => {
                let (format, uses) = format_type(self.format.map(|(format, _)| format));
                (
                    quote!(<#own as SourceConnector>::Source<#row, #format>),
                    quote!(own_source::<#own, #row, #format>(&options)),
                    uses,
                )
            }
            None => {
                let spec = connectors::find(self.name).and_then(|connector| connector.source.as_ref());
                let rust = spec.map_or("millstream::connectors::UnknownSource", |spec| spec.rust);
                let (ty, uses) = connector_type(rust, &row, self.format.map(|(format, _)| format));
                let turbofish = turbofish(&ty);
                (ty, quote!(#turbofish::from_options(&options)), uses)
            }
        };
        let Some(column) = self.range else {
            let body = quote! {
                let options = #options;
                #made
            };
            return Made { ty, body, uses, params };
        };
        let field = cx.types.borrow_mut().field(schema, column);
        let optional = schema.field(column).is_some_and(|field| field.ty.is_optional());
        let time = if optional { quote!(row.#field) } else { quote!(Some(row.#field)) };
        let body = quote! {
            let options = #options;
            let source = #made?;
            Between::from_options(source, |row: &#row| #time, &options)
        };
        Made { ty: quote!(impl Source<Row = #row> + use<>), body, uses, params }
    }
}

/// What stands before the source about event time.
fn timing(source: &SourceOperation) -> TokenStream {
    let micros = |time: i64| proc_macro2::Literal::i64_unsuffixed(time);
    let idle = source.idle_after.map(|time| {
        let time = micros(time);
        quote!(cx.idle_after(#time);)
    });
    let align = source.align.as_ref().map(|align| {
        let (group, within) = (&align.group, micros(align.within));
        let every = align.every.map(micros).map_or(quote!(None), |every| quote!(Some(#every)));
        quote!(cx.align(#group, #within, #every);)
    });
    quote!(#idle #align)
}

/// `FileSource<types::Flight, CsvFormat>`, and the `use` lines for it.
pub(super) fn connector_type(rust: &str, row: &TokenStream, format: Option<&str>) -> (TokenStream, Vec<String>) {
    let mut uses = vec![rust.to_owned()];
    let connector = last_part(rust);
    match format.and_then(formats::find) {
        Some(format) => {
            uses.push(format.rust.to_owned());
            let format = last_part(format.rust);
            (quote!(#connector<#row, #format>), uses)
        }
        None => (quote!(#connector<#row>), uses),
    }
}

/// `JsonFormat`, and the `use` line for it.
pub(super) fn format_type(format: Option<&str>) -> (Ident, Vec<String>) {
    let rust = format.and_then(formats::find).map_or("millstream::formats::JsonFormat", |format| format.rust);
    (last_part(rust), vec![rust.to_owned()])
}

/// The name at the end of a path from a descriptor, which is a constant of the runtime.
fn last_part(path: &str) -> Ident {
    ident(path.rsplit("::").next().unwrap_or(path))
}

/// `FileSource::<types::Flight, CsvFormat>`
pub(super) fn turbofish(ty: &TokenStream) -> TokenStream {
    let mut tokens = ty.clone().into_iter();
    let name: TokenStream = tokens.next().into_iter().collect();
    let generics: TokenStream = tokens.collect();
    quote!(#name::#generics)
}

/// The parameter of a function that may read params, and the statement that reads them.
pub(super) fn params_of(uses_params: bool) -> (TokenStream, TokenStream) {
    if uses_params {
        (quote!(params), quote!(let params = Params::read(params)?;))
    } else {
        (quote!(_params), TokenStream::new())
    }
}

/// `ErrorPolicy::Fail`
pub(in crate::codegen) fn error_policy(policy: ErrorPolicy) -> TokenStream {
    match policy {
        ErrorPolicy::Fail => quote!(ErrorPolicy::Fail),
        ErrorPolicy::Skip => quote!(ErrorPolicy::Skip),
        ErrorPolicy::Into => quote!(ErrorPolicy::Into),
    }
}
