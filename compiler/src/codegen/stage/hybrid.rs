//! Hybrid sources: a function for each stage, the struct of what later stages ask of earlier ones, and the source of them.

use millstream_runtime::graph::{SourceOperation, SourceStage};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::Stage;
use super::source::{Connector, Made};
use crate::codegen::doc;
use crate::codegen::names::Scope;
use crate::codegen::tokens::mentions;
use crate::plan::analysis::stages::asked_columns;

/// The function `source` and what it needs; paths to import.
pub(super) fn render<'a>(
    stage: &Stage<'a>,
    source: &'a SourceOperation,
    origin: &TokenStream,
    names: &mut Scope,
) -> (TokenStream, Vec<String>) {
    let row = stage.cx.row(stage.output.schema);
    let (ends, ends_items) = ends(stage, source, names);
    let mut functions = Scope::with(&["build", "source", "source_erased"]);
    let mut uses = Vec::new();
    let (mut items, mut calls) = (ends_items, TokenStream::new());
    for of in &source.stages {
        let function = functions.value(&format!("stage_{}", of.name));
        let (item, used) = stage_function(stage, of, &function, &row, &ends);
        uses.extend(used);
        items.extend(item);
        let name = &of.name;
        calls.extend(quote! {
            .stage(#name, {
                let params = params.clone();
                move |ends: &Switch<#ends>| #function(&params, ends)
            })
        });
    }
    let bounded = source.stages.last().is_some_and(|last| crate::hir::ends(&stage.cx.job.rust, &last.connector, &last.options));
    let finish = if bounded { quote!(.bounded()) } else { quote!(.unbounded()) };
    items.extend(quote! {
        #origin
        pub fn source(params: &ParamValues) -> JobResult<impl Source<Row = #row> + use<>> {
            Ok(Hybrid::of::<#row, #ends>() #calls #finish)
        }
    });
    (items, uses)
}

fn stage_function<'a>(
    stage: &Stage<'a>,
    of: &'a SourceStage,
    function: &Ident,
    row: &TokenStream,
    ends: &TokenStream,
) -> (TokenStream, Vec<String>) {
    let connector = Connector {
        name: &of.connector,
        options: &of.options,
        format: of.format.as_deref().map(|format| (format, &of.format_options[..])),
        range: of.range.as_deref(),
    };
    let Made { body, uses, params, .. } = connector.render(stage);
    let (parameter, read) = super::source::params_of(params);
    let known = if mentions(&body, "ends") { quote!(ends) } else { quote!(_ends) };
    let origin = doc::origin(&of.origin);
    let item = quote! {
        #origin
        fn #function(#parameter: &ParamValues, #known: &Switch<#ends>) -> JobResult<impl Source<Row = #row> + use<>> {
            #read
            #body
        }
    };
    (item, uses)
}

/// The type of what is known of a stage's rows, and its struct.
fn ends(stage: &Stage<'_>, source: &SourceOperation, names: &mut Scope) -> (TokenStream, TokenStream) {
    let schema = stage.output.schema;
    let row = stage.cx.row(schema);
    let (mut fields, mut observed, mut merged) = (Vec::new(), Vec::new(), Vec::new());
    for column in asked_columns(source) {
        let Some(field) = schema.field(&column) else { continue };
        let mut types = stage.cx.types.borrow_mut();
        let (name, ty) = (types.field(schema, &column), types.owned(field.ty.required()));
        fields.push(quote!(#name: Option<#ty>));
        observed.push(match field.ty.is_optional() {
            true => quote!(raise_to(&mut self.#name, row.#name.as_ref());),
            false => quote!(raise(&mut self.#name, &row.#name);),
        });
        merged.push(quote!(raise_to(&mut self.#name, other.#name.as_ref());));
    }
    if fields.is_empty() {
        return (quote!(()), TokenStream::new());
    }
    let ends = names.type_name("StageEnds");
    let items = quote! {
        #[doc = " What later stages ask of the rows of earlier ones: the greatest values."]
        #[derive(Clone, Default, State)]
        pub struct #ends {
            #(#fields,)*
        }

        impl Summary<#row> for #ends {
            fn observe(&mut self, row: &#row) -> JobResult<()> {
                #(#observed)*
                Ok(())
            }

            fn merge(&mut self, other: &Self) {
                #(#merged)*
            }
        }
    };
    (quote!(#ends), items)
}
