//! Warnings for what is defined and never used. Only in the file that the user named: libraries may hold more.

use std::collections::HashSet;

use super::collect::{Owner, StreamItem};
use super::context::Context;
use super::errors::names;
use super::lower::read_names;
use crate::diagnostics::Diagnostic;

/// Reports unused params, and sources and streams that reach no sink.
pub fn report(cx: &mut Context<'_>) {
    // Where there is no sink at all, planning says so.
    if cx.items.sinks.is_empty() {
        return;
    }
    let reached = reached(cx);
    let items = &cx.items;
    let sources = items.sources.iter().map(|entry| ("source", &entry.node.name));
    let streams = items.streams.iter().map(|entry| ("stream", &entry.node.name));
    let late = items.late.iter().map(|late| ("stream", late.name));
    let lookups = items.lookups.iter().map(|entry| ("lookup", &entry.node.name));
    let all = sources.chain(streams).chain(late).chain(lookups);
    let unused = all.filter(|(_, name)| cx.is_main(name.span) && !reached.contains(name.text.as_str()));
    let mut found: Vec<Diagnostic> = unused.map(|(what, name)| names::unused_stream(what, name)).collect();
    let params = items.params.iter().map(|entry| &entry.node.name);
    let unused = params.filter(|name| cx.is_main(name.span) && !cx.used_params.contains(&name.text));
    found.extend(unused.map(names::unused_param));
    cx.diags.extend(found);
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
                Owner::Source(owner) => {
                    next.push(&items.sources[owner].node.name.text);
                    continue;
                }
                Owner::Sink(_) | Owner::Job => continue,
            },
            _ => continue,
        };
        next.extend(read_names(pipeline).map(|name| name.text.as_str()));
    }
    reached
}
