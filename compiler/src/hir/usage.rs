//! Warnings for what is defined and never used. Only in the file that the user named: libraries may hold more.

use std::collections::HashSet;

use super::collect::{Owner, StreamItem};
use super::context::Context;
use super::errors::names;
use super::lower::read_names;

/// Reports unused params, and sources and streams that reach no sink.
pub fn report(cx: &mut Context<'_>) {
    let mut found = Vec::new();
    if cx.items.sinks.is_empty() {
        found.extend(no_sink(cx));
    } else {
        let reached = reached(cx);
        let items = &cx.items;
        let sources = items.sources.iter().map(|entry| ("source", &entry.node.name));
        let streams = items.streams.iter().map(|entry| ("stream", &entry.node.name));
        let late = items.late.iter().map(|late| ("stream", late.name));
        let unused = sources.chain(streams).chain(late).filter(|(_, name)| !reached.contains(name.text.as_str()));
        found.extend(unused.filter(|(_, name)| cx.is_main(name.span)).map(|(what, name)| names::unused_stream(what, name)));
        let params = items.params.iter().map(|entry| &entry.node.name);
        let unused = params.filter(|name| cx.is_main(name.span) && !cx.used_params.contains(&name.text));
        found.extend(unused.map(names::unused_param));
    }
    cx.diags.extend(found);
}

fn no_sink(cx: &Context<'_>) -> Option<crate::diagnostics::Diagnostic> {
    let items = &cx.items;
    let streams: Vec<&str> = items
        .sources
        .iter()
        .map(|entry| &entry.node.name)
        .chain(items.streams.iter().map(|entry| &entry.node.name))
        .filter(|name| cx.is_main(name.span))
        .map(|name| name.text.as_str())
        .collect();
    let span = match &items.job {
        Some(job) => job.node.name.span,
        // A file without `job` may be there for others to use.
        None => return None,
    };
    Some(names::no_sink(span, &streams))
}

/// Names of all streams that some sink reads, directly or not.
fn reached<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let items = &cx.items;
    let mut reached = HashSet::new();
    let mut next: Vec<&'a str> =
        items.sinks.iter().flat_map(|entry| read_names(&entry.node.pipeline)).map(|name| name.text.as_str()).collect();
    while let Some(name) = next.pop() {
        if !reached.insert(name) {
            continue;
        }
        let pipeline = match items.stream_names.get(name) {
            Some(StreamItem::Stream(index)) => &items.streams[*index].node.pipeline,
            Some(StreamItem::Late(index)) => match items.late[*index].owner {
                Owner::Stream(owner) => {
                    next.push(&items.streams[owner].node.name.text);
                    continue;
                }
                Owner::Sink(_) => continue,
            },
            _ => continue,
        };
        next.extend(read_names(pipeline).map(|name| name.text.as_str()));
    }
    reached
}
