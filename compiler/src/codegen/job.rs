//! `main.rs`: the modules, and the job with its settings and chains.

use std::path::PathBuf;

use millstream_runtime::graph::{
    Backoff, Chain, CheckpointMode, CheckpointSettings, Exchange, ExecutionGraph, Expr, ExprKind, FailureRate, JobSettings,
    Operation, RestartSettings, StateSettings,
};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::context::Context;
use super::expr::{Bindings, Lowering};
use super::literal::micros;
use super::stage;

/// `main.rs`: the modules, and the function that [`job`] makes.
pub(super) fn main(header: &str, rust: &TokenStream, modules: &[Ident], job: &TokenStream) -> TokenStream {
    let header = format!(" {header}");
    quote! {
        #![doc = #header]
        #(mod #modules;)*
        #rust

        fn main() -> std::process::ExitCode {
            millstream::main(job())
        }

        #job
    }
}

/// The job: its settings and chains.
pub(super) fn job<'a>(
    cx: &'a Context<'a>,
    execution: &ExecutionGraph,
    fingerprint: u64,
    chains: &[Ident],
    visibility: &TokenStream,
) -> TokenStream {
    let settings = &cx.job.settings;
    let (checkpoint, restart, state) = (checkpoint(cx, settings), restart(&settings.restart), state(cx, settings));
    let on_error = stage::error_policy(settings.on_error);
    let (name, doc) = (&settings.name, settings.doc.as_deref().unwrap_or_default().trim());
    let (parallelism, max_parallelism) = (number(settings.parallelism), number(settings.max_parallelism));
    let buffer_timeout = micros(settings.buffer_timeout);
    let params = if cx.job.params.is_empty() { quote!(&[]) } else { quote!(params::SPECS) };
    let fingerprint: TokenStream = format!("{fingerprint:#018x}").parse().unwrap_or_default();
    let kept_by = kept_by(cx);
    let specs = execution.chains.iter().zip(chains).map(|(chain, module)| chain_spec(cx, execution, chain, module));
    quote! {
        #[doc = " The job: its settings and the chains of operators that run as tasks."]
        #visibility fn job() -> millstream::Job {
            millstream::Job {
                name: #name,
                doc: #doc,
                fingerprint: #fingerprint,
                parallelism: #parallelism,
                max_parallelism: #max_parallelism,
                buffer_timeout_micros: #buffer_timeout,
                checkpoint: #checkpoint,
                restart: #restart,
                state: #state,
                on_error: millstream::#on_error,
                params: #params,
                kept_by: #kept_by,
                chains: Vec::from([#(#specs),*]),
            }
        }
    }
}

/// What the state of operators is kept by, as far as passes have left them.
fn kept_by(cx: &Context<'_>) -> TokenStream {
    let is_there = |uid: &str| cx.job.vertices().any(|vertex| cx.job.vertex(vertex).uid == uid);
    let kept_by = cx.job.kept_by.iter().filter(|kept| is_there(&kept.uid)).map(|kept| {
        let (uid, window) = (&kept.uid, &kept.window);
        let keys = kept.keys.iter().map(|key| {
            let (text, from) = (&key.text, &key.from);
            let from = from.iter();
            quote!(.key(#text, &[#(#from),*]))
        });
        let window = (!window.is_empty()).then(|| quote!(.window(#window)));
        let values = kept.values.iter().map(|(name, value)| {
            let (text, from) = (&value.text, value.from.iter());
            quote!(.value(#name, #text, &[#(#from),*]))
        });
        quote!(millstream::KeptBy::new(#uid)#(#keys)*#window #(#values)*)
    });
    let kept_by: Vec<TokenStream> = kept_by.collect();
    if kept_by.is_empty() { quote!(Vec::new()) } else { quote!(Vec::from([#(#kept_by),*])) }
}

fn chain_spec(cx: &Context<'_>, execution: &ExecutionGraph, chain: &Chain, module: &Ident) -> TokenStream {
    let name = &chain.name;
    let uids = chain.members.iter().map(|vertex| &cx.job.vertex(*vertex).uid);
    let parallelism = match chain.parallelism {
        Some(parallelism) => {
            let parallelism = number(parallelism);
            quote!(Some(#parallelism))
        }
        None => quote!(None),
    };
    let slot_group = &chain.slot_group;
    let inputs = execution.inputs(chain.id).map(|(edge_number, edge)| {
        let from = execution.chains.iter().position(|other| other.id == edge.from).unwrap_or_default();
        let (from, edge_number) = (Literal::usize_unsuffixed(from), Literal::usize_unsuffixed(edge_number));
        let exchange = match edge.exchange {
            Exchange::Forward => quote!(Forward),
            Exchange::Hash(_) => quote!(Hash),
            Exchange::Rebalance => quote!(Rebalance),
            Exchange::Broadcast => quote!(Broadcast),
        };
        quote!(millstream::InputSpec { from: #from, edge: #edge_number, exchange: millstream::ExchangeKind::#exchange })
    });
    let inputs: Vec<TokenStream> = inputs.collect();
    let inputs = if inputs.is_empty() { quote!(Vec::new()) } else { quote!(Vec::from([#(#inputs),*])) };
    let head = chain.members.first().map(|vertex| &cx.job.vertex(*vertex).operation);
    let source = match head {
        Some(Operation::Source(_)) => quote!(Some(millstream::BuildSource::new(#module::source_erased))),
        _ => quote!(None),
    };
    quote! {
        millstream::ChainSpec {
            name: #name,
            uids: &[#(#uids),*],
            parallelism: #parallelism,
            slot_group: #slot_group,
            inputs: #inputs,
            build: millstream::BuildChain::new(#module::build),
            source: #source,
        }
    }
}

fn checkpoint<'a>(cx: &'a Context<'a>, settings: &'a JobSettings) -> TokenStream {
    let Some(checkpoint) = &settings.checkpoint else { return quote!(None) };
    let interval = micros(checkpoint.interval);
    let directory = path(cx, &checkpoint.directory);
    let config = quote!(millstream::CheckpointConfig::new(#interval, #directory));
    let block = checkpoint_block(checkpoint);
    match block.is_empty() {
        true => quote!(Some(#config)),
        false => quote!(Some(millstream::CheckpointConfig { #(#block,)* ..#config })),
    }
}

/// The closure that gives a folder, which may depend on params.
fn path<'a>(cx: &'a Context<'a>, folder: &'a Expr) -> TokenStream {
    let mut lowering = Lowering::new(cx, &folder.origin, Bindings::default());
    let directory = lowering.lower_borrowed(folder).tokens;
    let statements = lowering.take_statements();
    let read = lowering.uses_params.then(|| quote!(let params = params::Params::read(params)?;));
    let params = if lowering.uses_params { quote!(params) } else { quote!(_params) };
    // A plain literal needs nothing from the prelude.
    let plain = matches!(folder.kind, ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Env(_));
    let use_prelude = (!plain).then(|| {
        quote!(
            use millstream::codegen::*;
        )
    });
    quote! {
        |#params| {
            #use_prelude
            #read
            #statements
            Ok(String::from(#directory))
        }
    }
}

fn state<'a>(cx: &'a Context<'a>, settings: &'a JobSettings) -> TokenStream {
    match &settings.state {
        StateSettings::Memory => quote!(millstream::StateConfig::Memory),
        StateSettings::Disk { path: folder, memory } => {
            let (folder, memory) = (path(cx, folder), Literal::u64_unsuffixed(*memory));
            quote!(millstream::StateConfig::Disk { path: millstream::Folder::Of(#folder), memory: #memory })
        }
    }
}

/// What the block behind the folder says otherwise than by default.
fn checkpoint_block(checkpoint: &CheckpointSettings) -> Vec<TokenStream> {
    let default = CheckpointSettings::new(checkpoint.interval, checkpoint.directory.clone());
    let mut block = Vec::new();
    if checkpoint.timeout != default.timeout {
        let timeout = micros(checkpoint.timeout);
        block.push(quote!(timeout_micros: #timeout));
    }
    if checkpoint.pause != default.pause {
        let pause = micros(checkpoint.pause);
        block.push(quote!(pause_micros: #pause));
    }
    if checkpoint.tolerate != default.tolerate {
        let tolerate = number(checkpoint.tolerate);
        block.push(quote!(tolerate: #tolerate));
    }
    if checkpoint.concurrent != default.concurrent {
        let concurrent = number(checkpoint.concurrent);
        block.push(quote!(concurrent: #concurrent));
    }
    if checkpoint.keep != default.keep {
        let keep = number(checkpoint.keep);
        block.push(quote!(keep: #keep));
    }
    if checkpoint.mode == CheckpointMode::AtLeastOnce {
        block.push(quote!(mode: millstream::CheckpointMode::AtLeastOnce));
    }
    if let Some(after) = checkpoint.unaligned {
        let after = micros(after);
        block.push(quote!(unaligned_micros: Some(#after)));
    }
    block
}

fn restart(restart: &RestartSettings) -> TokenStream {
    match restart {
        RestartSettings::Default => quote!(millstream::Restart::Default),
        RestartSettings::None => quote!(millstream::Restart::None),
        RestartSettings::Exponential(backoff) if *backoff == Backoff::DEFAULT => {
            quote!(millstream::Restart::Exponential(millstream::Backoff::DEFAULT))
        }
        RestartSettings::Exponential(Backoff { first, most, factor, jitter, reset }) => {
            let (first, most, reset) = (micros(*first), micros(*most), micros(*reset));
            let (factor, jitter) = (number(*factor), number(*jitter));
            quote!(millstream::Restart::Exponential(millstream::Backoff {
                first: #first,
                most: #most,
                factor: #factor,
                jitter: #jitter,
                reset: #reset,
            }))
        }
        RestartSettings::FailureRate(FailureRate { failures, within, delay }) => {
            let (failures, within, delay) = (number(*failures), micros(*within), micros(*delay));
            quote!(millstream::Restart::FailureRate(millstream::FailureRate {
                failures: #failures,
                within: #within,
                delay: #delay,
            }))
        }
        RestartSettings::Fixed { attempts, delay } => {
            let (attempts, delay) = (number(*attempts), micros(*delay));
            quote!(millstream::Restart::Fixed { attempts: #attempts, delay_micros: #delay })
        }
    }
}

fn number(value: u32) -> Literal {
    Literal::u32_unsuffixed(value)
}

/// Where a module's file lies.
pub(super) fn file_of(module: &Ident) -> PathBuf {
    PathBuf::from("src").join(format!("{module}.rs"))
}
