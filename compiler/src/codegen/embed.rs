//! A job as one module of a Rust program: the modules of the generated crate, nested, and in `api` what the program calls.
//!
//! The same templates as for a crate: a path into the crate (`crate::types`) becomes one to the module around it.

use millstream_runtime::connectors::channel;
use millstream_runtime::graph::{ExecutionGraph, Expr, ExprKind, JobGraph, Literal, Operation, OptionValue, Param, Ty};
use proc_macro2::{Group, Ident, Literal as Token, TokenStream, TokenTree};
use quote::quote;

use super::context::Context;
use super::emit::{self, EmitOptions, Parts};
use super::names::{Scope, ident};
use super::rust::RustModules;
use super::stage::Stage;
use super::{doc, names};

/// A module in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedModule {
    /// Its name, which is the job's.
    pub name: String,
    /// The whole of it: `pub mod orders { .. }`.
    pub text: String,
}

/// Emits the module of a job.
pub fn emit_module(job: &JobGraph, execution: &ExecutionGraph, options: &EmitOptions) -> GeneratedModule {
    emit::on_large_stack(|| emit_here(job, execution, options))
}

fn emit_here(job: &JobGraph, execution: &ExecutionGraph, options: &EmitOptions) -> GeneratedModule {
    let mut names = emit::module_names();
    let cx = Context::new(job, RustModules::new(job, &mut names));
    let Parts { modules, job: function } =
        emit::parts(&cx, execution, &mut names, &quote!(pub), |cx| Some((ident("api"), api(cx))));
    let rust = cx.rust.render(job, &options.folder);
    let has_types = modules.iter().any(|(name, _)| name == "types").then(|| {
        quote!(
            pub use types::*;
        )
    });
    let modules = modules.into_iter().map(|(name, tokens)| {
        let (tokens, visibility) = (relative(tokens, "super"), (name == "types").then(|| quote!(pub)));
        quote!(#visibility mod #name { #tokens })
    });
    let function = relative(function, "self");
    let name = names::package(&job.settings.name);
    let module = ident(&name);
    let about = job.settings.doc.as_deref().map(|text| doc::line(text.trim()));
    let header = doc::line(&emit::header(options));
    let gates = emit::features(job).into_iter().map(|feature| ident(&format!("needs_{feature}")));
    let whole = quote! {
        #about
        #header
        #[allow(unused, unreachable_pub, missing_docs, clippy::all, clippy::pedantic)]
        pub mod #module {
            pub use api::{Params, Running, start};
            #has_types
            #function
            #rust
            #(#modules)*
        }
    };
    // Without a feature that it needs there is one message, about the feature.
    let whole = gates.fold(whole, |inner, gate| quote!(millstream::#gate! { #inner }));
    GeneratedModule { name, text: emit::print(whole) }
}

/// The same tokens with other tokens for the root of the crate.
fn relative(tokens: TokenStream, root: &str) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(found) if found == "crate" => TokenTree::Ident(ident(root)),
        TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), relative(group.stream(), root))),
        other => other,
    });
    tokens.collect()
}

/// What a program calls: the params as values, and the function that starts the job.
fn api<'a>(cx: &'a Context<'a>) -> TokenStream {
    let params = params(cx);
    let start = start(cx);
    let types = super::tokens::uses_types(&quote!(#params #start));
    quote! {
        #![doc = " What the program around the job calls."]
        use millstream::codegen::*;
        use millstream::{JobHandle, RunOptions};
        #types
        #params
        #start
    }
}

/// `Params`: all params of the job, those with a default filled in.
fn params<'a>(cx: &'a Context<'a>) -> TokenStream {
    let mut names = Scope::default();
    let (mut fields, mut given, mut required, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for param in &cx.job.params {
        let (field, name) = (names.value(&param.name), &param.name);
        let ty = cx.types.borrow_mut().owned(&param.ty);
        let about = param.doc.as_deref().map(|text| doc::line(text.trim()));
        fields.push(quote!(#about pub #field: #ty));
        given.push(match param.ty.is_optional() {
            true => quote!(if let Some(value) = &self.#field { options = options.param(#name, text(value).to_string()); }),
            false => quote!(options = options.param(#name, text(&self.#field).to_string());),
        });
        values.push(match default(cx, param) {
            Some(value) => quote!(#field: #value),
            None => {
                required.push(quote!(#field: impl Into<#ty>));
                quote!(#field: #field.into())
            }
        });
    }
    let make = if required.is_empty() {
        quote! {
            impl Default for Params {
                fn default() -> Self { Params { #(#values),* } }
            }
        }
    } else {
        quote! {
            impl Params {
                #[doc = " Those that must be given; the others have their defaults."]
                pub fn new(#(#required),*) -> Self { Params { #(#values),* } }
            }
        }
    };
    let mutable = (!given.is_empty()).then(|| quote!(mut));
    quote! {
        #[doc = " What the job is given when it starts: its params."]
        #[derive(Clone, Debug, PartialEq)]
        pub struct Params { #(#fields),* }
        #make
        impl Params {
            #[doc = " Options of a run with these values."]
            pub fn options(&self, options: RunOptions) -> RunOptions {
                let #mutable options = options;
                #(#given)*
                options
            }
        }
    }
}

/// The default of a param as a value; None: there is none.
fn default<'a>(cx: &'a Context<'a>, param: &'a Param) -> Option<TokenStream> {
    let optional = param.ty.is_optional();
    let literal = match param.default.as_ref().map(|default| &default.kind) {
        Some(ExprKind::Literal(Literal::Null)) | None => return optional.then(|| quote!(None)),
        // Lowering leaves only literals.
        Some(ExprKind::Literal(literal)) => literal,
        Some(_) => return None,
    };
    let value = cx.literal(literal, &param.ty);
    // Literals of strings are borrowed.
    let value = if matches!(param.ty.required(), Ty::String) { quote!(Str::from(#value)) } else { value };
    Some(if optional { quote!(Some(#value)) } else { value })
}

/// `Running` and `start`.
fn start<'a>(cx: &'a Context<'a>) -> TokenStream {
    let name = format!(" The job `{}`, running in this process.", cx.job.settings.name);
    let channels = channels(cx);
    let uses = (!channels.is_empty()).then(|| {
        quote!(
            use millstream::connectors::channel::{Channels, Receiver, Sender};
        )
    });
    let fields = channels.iter().map(|channel| {
        let Channel { field, about, row, .. } = channel;
        let end = if channel.source { quote!(Sender) } else { quote!(Receiver) };
        let about = doc::line(about);
        quote!(#about pub #field: #end<#row>)
    });
    let made = channels.iter().map(|channel| {
        let Channel { field, row, uid, capacity, .. } = channel;
        let method = ident(if channel.source { "source" } else { "sink" });
        let capacity = Token::usize_unsuffixed(*capacity);
        quote!(let #field = channels.#method::<#row>(#uid, #capacity);)
    });
    let names: Vec<_> = channels.iter().map(|channel| &channel.field).collect();
    let (before, after) = match channels.is_empty() {
        true => (TokenStream::new(), TokenStream::new()),
        false => {
            (quote!(let mut channels = Channels::new();), quote!(let options = options.extension(std::sync::Arc::new(channels));))
        }
    };
    quote! {
        #uses

        #[doc = #name]
        #[derive(Debug)]
        pub struct Running {
            #[doc = " Watches and ends the job. Dropping it kills the job."]
            pub job: JobHandle,
            #(#fields),*
        }

        #[doc = " Starts the job in this process, on threads of its own."]
        #[doc = " An error here is one of the params or options; all that comes later is told by `JobHandle::wait`."]
        pub fn start(params: Params, options: RunOptions) -> JobResult<Running> {
            let options = params.options(options);
            #before
            #(#made)*
            #after
            let job = JobHandle::start(super::job(), options)?;
            Ok(Running { job, #(#names),* })
        }
    }
}

/// A source or sink whose other end the program holds.
struct Channel<'a> {
    field: Ident,
    about: String,
    uid: &'a str,
    row: TokenStream,
    source: bool,
    capacity: usize,
}

fn channels<'a>(cx: &'a Context<'a>) -> Vec<Channel<'a>> {
    let mut names = Scope::with(&["job", "params", "options", "channels"]);
    let mut found = Vec::new();
    for id in cx.job.topological() {
        let vertex = cx.job.vertex(id);
        let (options, source) = match &vertex.operation {
            Operation::Source(source) if source.connector == channel::NAME => (&source.options, true),
            Operation::Sink(sink) if sink.connector == channel::NAME => (&sink.options, false),
            _ => continue,
        };
        let stage = Stage::new(cx, id, None);
        let row = if source { cx.row(stage.output.schema) } else { stage.input.rust(cx) };
        let given = options.iter().find(|option| option.name == "capacity").and_then(|option| match &option.value {
            OptionValue::Value(Expr { kind: ExprKind::Literal(Literal::Int(count)), .. }) => usize::try_from(*count).ok(),
            _ => None,
        });
        found.push(Channel {
            // Sinks are called `totals into channel`.
            field: names.value(vertex.name.strip_suffix(" into channel").unwrap_or(&vertex.name)),
            about: doc::origin_text(&vertex.origin),
            uid: &vertex.uid,
            row,
            source,
            capacity: given.unwrap_or(channel::CAPACITY as usize),
        });
    }
    found
}
