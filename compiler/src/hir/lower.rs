//! The way from syntax trees to a program: definitions first, then streams, those that others read first.

use std::collections::{HashMap, HashSet};

use millstream_runtime::graph::errors::error_stream;
use millstream_runtime::graph::{Hints, Operation, Port, StreamType};

use super::attributes::{self, Attributes};
use super::collect::{Owner, StreamItem, collect};
use super::context::Context;
use super::errors::{joins, names, tables};
use super::facts::Facts;
use super::flow::{Alias, Flow};
use super::program::{Node, NodeId, Program};
use super::resolve::order::order;
use super::{connectors, definitions, growth, lookups, replay, rust, settings, stages, travel, usage};
use crate::diagnostics::Diagnostics;
use crate::rust::RustFile;
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::{self, Attribute, Name, Pipeline, StageKind};

/// Resolves names and types. The program is only of use when there are no errors among the diagnostics.
pub fn lower(sources: &SourceMap, files: &[(FileId, ast::File)], rust: &[RustFile]) -> (Program, Diagnostics) {
    let (program, diags, _) = lower_all(sources, files, rust, None);
    (program, diags)
}

/// The same, with what an editor wants to know; `facts` says for which place.
pub fn lower_with_facts(
    sources: &SourceMap,
    files: &[(FileId, ast::File)],
    rust: &[RustFile],
    facts: Facts,
) -> (Program, Diagnostics, Facts) {
    let (program, diags, facts) = lower_all(sources, files, rust, Some(facts));
    (program, diags, facts.unwrap_or_default())
}

fn lower_all(
    sources: &SourceMap,
    files: &[(FileId, ast::File)],
    rust: &[RustFile],
    facts: Option<Facts>,
) -> (Program, Diagnostics, Option<Facts>) {
    let mut diags = Diagnostics::default();
    let items = collect(files, rust, &mut diags);
    let cx = Context {
        sources,
        items,
        diags,
        records: HashMap::new(),
        params: HashMap::new(),
        functions: HashMap::new(),
        rust_functions: HashMap::new(),
        rust_types: HashMap::new(),
        event_times: HashMap::new(),
        record_keys: HashMap::new(),
        rust_operators: Default::default(),
        aggregates: Default::default(),
        connectors: Default::default(),
        rust,
        used_params: HashSet::new(),
        stages: None,
        facts,
    };
    let mut lowering = Lowering {
        cx,
        nodes: Vec::new(),
        spans: Vec::new(),
        flows: HashMap::new(),
        lookups: HashMap::new(),
        uids: HashMap::new(),
        ttl: None,
        ordinals: HashMap::new(),
    };
    lowering.cx.items.broken.extend(rust.iter().flat_map(|file| &file.broken).map(String::as_str));
    let (modules, mut functions) = rust::lower(&mut lowering.cx, rust);
    definitions::enums(&mut lowering.cx);
    definitions::records(&mut lowering.cx);
    let params = definitions::params(&mut lowering.cx);
    functions.extend(definitions::functions(&mut lowering.cx));
    let settings = settings::lower(&mut lowering.cx);
    lowering.ttl = settings.ttl;
    lowering.lookups = lookups::lower(&mut lowering.cx);
    lowering.streams();
    if !lowering.cx.diags.has_errors() && lowering.cx.items.broken.is_empty() {
        usage::report(&mut lowering.cx);
        let growing = growth::growing(&modules, &lowering.nodes, &lowering.spans);
        lowering.cx.diags.extend(growing);
        lowering.cx.diags.extend(travel::without_effect(&lowering.nodes, &lowering.spans));
        if settings.checkpoint.is_some() {
            lowering.cx.diags.extend(replay::lossy(&modules, &lowering.nodes, &lowering.spans));
        }
    }
    let mut facts = lowering.cx.facts.take();
    if let Some(facts) = &mut facts {
        facts.names(&lowering.cx, lowering.flows.iter().chain(&lowering.lookups));
    }
    (Program { settings, params, functions, rust: modules, nodes: lowering.nodes }, lowering.cx.diags, facts)
}

/// What grows while streams are lowered.
pub struct Lowering<'a> {
    pub cx: Context<'a>,
    nodes: Vec<Node>,
    /// Where each node stands in the text.
    spans: Vec<Span>,
    flows: HashMap<&'a str, Flow>,
    /// What lookups stand for behind `join`.
    lookups: HashMap<&'a str, Flow>,
    /// Where each uid was given, to keep them apart.
    uids: HashMap<String, Span>,
    /// The job's `ttl`.
    ttl: Option<i64>,
    /// How many operators of one word an item has so far.
    ordinals: HashMap<String, u32>,
}

/// The item whose pipeline is lowered.
pub struct Place {
    /// What uids begin with: the item's name, or its `@id`.
    pub uid: String,
    /// For people.
    pub name: String,
    /// Of the item; an operator's own come before.
    pub hints: Hints,
}

/// A node about to be added.
pub struct NewNode<'p> {
    pub place: &'p Place,
    /// The operator's word in uids.
    pub word: &'static str,
    pub attributes: Attributes,
    pub operation: Operation,
    pub inputs: Vec<(NodeId, Port)>,
    pub output: StreamType,
    pub span: Span,
}

impl<'a> Lowering<'a> {
    /// Lowers sources, streams and sinks.
    fn streams(&mut self) {
        let items = &self.cx.items;
        let (sources, streams, late) = (items.sources.len(), items.streams.len(), items.late.len());
        let at = |item: StreamItem| match item {
            StreamItem::Source(index) => index,
            StreamItem::Stream(index) => sources + index,
            StreamItem::Late(index) => sources + streams + index,
        };
        let reads = |pipeline: &'a Pipeline| -> Vec<usize> {
            read_names(pipeline).filter_map(|name| items.stream_names.get(name.text.as_str()).map(|item| at(*item))).collect()
        };
        let owner = |owner: Owner| match owner {
            Owner::Source(index) => Some(index),
            Owner::Stream(index) => Some(sources + index),
            Owner::Sink(index) => Some(sources + streams + late + index),
            Owner::Job => None,
        };
        let mut needs: Vec<Vec<usize>> = vec![Vec::new(); sources];
        needs.extend(items.streams.iter().map(|entry| reads(&entry.node.pipeline)));
        needs.extend(items.late.iter().map(|late| owner(late.owner).into_iter().collect()));
        needs.extend(items.sinks.iter().map(|entry| reads(&entry.node.pipeline)));
        let (sorted, circles) = order(&needs);
        let name = |index: usize| -> &'a Name {
            match index {
                index if index < sources => &items.sources[index].node.name,
                index if index < sources + streams => &items.streams[index - sources].node.name,
                index if index < sources + streams + late => items.late[index - sources - streams].name,
                index => &items.sinks[index - sources - streams - late].node.pipeline.input,
            }
        };
        let rounds: Vec<Vec<(&'a str, Span)>> = circles
            .iter()
            .map(|circle| circle.iter().map(|index| (name(*index).text.as_str(), name(*index).span)).collect())
            .collect();
        for round in &rounds {
            self.cx.report(names::cycle("stream", round));
        }
        let ends = sources..sources + streams + late;
        let sorted = by_use(&needs, &sorted, &ends);
        self.job_errors();
        for index in sorted {
            match index {
                index if index < sources => self.source(index),
                index if index < sources + streams => self.stream(index - sources),
                index if index < sources + streams + late => {}
                index => self.sink(index - sources - streams - late),
            }
        }
    }

    /// The stream of `on error: into x` in the job: its rows come from all operators, which planning connects.
    fn job_errors(&mut self) {
        let Some(late) = self.cx.items.late.iter().find(|late| late.owner == Owner::Job) else { return };
        let (name, text) = (late.name, late.name.text.clone());
        let place = Place { uid: text.clone(), name: text.clone(), hints: Hints::default() };
        let ty = error_stream().clone();
        let node = self.add(NewNode {
            place: &place,
            word: "errors",
            attributes: Attributes::default(),
            operation: Operation::Errors,
            inputs: Vec::new(),
            output: ty.clone(),
            span: name.span,
        });
        self.define_late(name, Flow { node, ty, unknown: false, ..Flow::broken(&text) });
    }

    fn source(&mut self, index: usize) {
        let (item, source) = (self.cx.items.sources[index].item, self.cx.items.sources[index].node);
        let attributes = attributes::operator(&mut self.cx, &item.attributes, "a source");
        let from = self.nodes.len();
        let flow = connectors::source::lower(self, source, attributes, item);
        self.ttl_counts(&item.attributes, from, &flow);
        self.flows.insert(&source.name.text, flow);
    }

    fn stream(&mut self, index: usize) {
        let (item, stream) = (self.cx.items.streams[index].item, self.cx.items.streams[index].node);
        let known = attributes::operator(&mut self.cx, &item.attributes, "a stream");
        let name = stream.name.text.clone();
        if let Some((id, span)) = &known.id {
            self.claim(id, *span);
        }
        let uid = known.id.map_or_else(|| name.clone(), |(id, _)| id);
        let place = Place { uid, name: name.clone(), hints: known.hints };
        let from = self.nodes.len();
        let mut flow = self.pipeline(&place, &stream.pipeline);
        self.ttl_counts(&item.attributes, from, &flow);
        flow.name = name;
        // The first of its name counts.
        self.flows.entry(&stream.name.text).or_insert(flow);
    }

    fn sink(&mut self, index: usize) {
        let (item, sink) = (self.cx.items.sinks[index].item, self.cx.items.sinks[index].node);
        let known = attributes::operator(&mut self.cx, &item.attributes, "a sink");
        let input = &sink.pipeline.input.text;
        let place = Place { uid: format!("sink/{input}"), name: input.clone(), hints: known.hints.clone() };
        let from = self.nodes.len();
        let flow = self.pipeline(&place, &sink.pipeline);
        if let Some(facts) = &mut self.cx.facts {
            facts.input(sink.connector.span, &flow);
        }
        self.ttl_counts(&item.attributes, from, &flow);
        connectors::sink::lower(self, &place, sink, flow, known, item.span);
    }

    fn pipeline(&mut self, place: &Place, pipeline: &'a Pipeline) -> Flow {
        let mut flow = self.named(&pipeline.input);
        let alias = pipeline.alias.as_ref();
        if let Some(alias) = alias.filter(|alias| flow.ty.schema.field(&alias.text).is_some()) {
            self.cx.report(joins::alias_is_a_column(alias));
        }
        let columns = flow.fields().iter().map(|field| (field.name.clone(), field.name.clone())).collect();
        flow.aliases = vec![Alias { name: alias.unwrap_or(&pipeline.input).text.clone(), columns }];
        for stage in &pipeline.stages {
            let from = self.nodes.len();
            flow = stages::lower(self, place, stage, flow);
            self.ttl_counts(&stage.attributes, from, &flow);
        }
        stages::named_columns(self, place, pipeline.span, flow)
    }

    /// The rows that a stream's name stands for.
    pub fn named(&mut self, name: &Name) -> Flow {
        if let Some(flow) = self.flows.get(name.text.as_str()) {
            return flow.clone();
        }
        if self.lookups.contains_key(name.text.as_str()) {
            self.cx.report(joins::lookup_is_no_stream(name));
            return Flow::broken(&name.text);
        }
        // One that takes part in a circle is known, and reported already.
        let items = &self.cx.items;
        let known = items.stream_names.contains_key(name.text.as_str()) || items.broken.contains(name.text.as_str());
        if !known && !name.text.is_empty() {
            let candidates: Vec<&str> = self.cx.items.stream_names.keys().copied().collect();
            let diagnostic = names::unknown_stream(name, &candidates);
            self.cx.report(diagnostic);
        }
        Flow::broken(&name.text)
    }

    /// The rows of the lookup of this name, to be joined.
    pub fn lookup(&self, name: &Name) -> Option<Flow> {
        self.lookups.get(name.text.as_str()).cloned()
    }

    /// Defines the stream of `late into x` or `on error into x`.
    pub fn define_late(&mut self, name: &'a Name, flow: Flow) {
        self.flows.entry(&name.text).or_insert(flow);
    }

    /// Adds a node, with its stable id.
    pub fn add(&mut self, new: NewNode<'_>) -> NodeId {
        let key = format!("{}/{}", new.place.uid, new.word);
        let ordinal = self.ordinals.entry(key.clone()).or_insert(0);
        let made = match new.word {
            // A sink's id is its own name; only further ones of the same kind are counted.
            _ if new.place.uid.starts_with("sink/") && matches!(new.operation, Operation::Sink(_)) => match *ordinal {
                0 => key,
                n => format!("{key}/{n}"),
            },
            _ => format!("{key}/{ordinal}"),
        };
        *ordinal += 1;
        let uid = match new.attributes.id {
            Some((id, span)) => {
                self.claim(&id, span);
                id
            }
            None => made,
        };
        let name = match &new.operation {
            Operation::Source(_) => new.place.name.clone(),
            Operation::Sink(sink) => format!("{} into {}", new.place.name, sink.connector),
            _ => format!("{}: {}", new.place.name, new.word),
        };
        let own = new.attributes.hints;
        let hints = Hints {
            parallelism: own.parallelism.or(new.place.hints.parallelism),
            slot_group: own.slot_group.or_else(|| new.place.hints.slot_group.clone()),
            no_chain: own.no_chain || new.place.hints.no_chain,
            ttl: own.ttl.or(new.place.hints.ttl).or(self.ttl).filter(|_| new.operation.keeps_keys()),
        };
        let id = NodeId(self.nodes.len() as u32);
        let origin = self.cx.origin(new.span);
        self.spans.push(new.span);
        self.nodes.push(Node { id, uid, name, operation: new.operation, inputs: new.inputs, output: new.output, hints, origin });
        id
    }

    /// Reports a `@ttl` by which none of the nodes from `from` on, those of its operator or item, forgets anything.
    fn ttl_counts(&mut self, attributes: &[Attribute], from: usize, flow: &Flow) {
        let Some((_, span)) = attributes::ttl_of(attributes).filter(|_| !flow.unknown) else { return };
        if !self.nodes[from..].iter().any(|node| node.operation.keeps_keys()) {
            self.cx.report(tables::nothing_to_forget(span));
        }
    }

    /// Takes an `@id`; reports one that is taken.
    fn claim(&mut self, id: &str, span: Span) {
        match self.uids.get(id) {
            Some(first) => {
                let diagnostic = names::id_twice(id, span, *first);
                self.cx.report(diagnostic);
            }
            None => {
                self.uids.insert(id.to_owned(), span);
            }
        }
    }
}

/// Puts sources in the order in which streams read them, and sinks in that of their streams: where they are written, in this file or beside
/// a record in Rust, makes no other plan. `needs` has sources before `inner`, and sinks behind it.
fn by_use(needs: &[Vec<usize>], sorted: &[usize], inner: &std::ops::Range<usize>) -> Vec<usize> {
    let mut place = vec![usize::MAX; needs.len()];
    for (number, need) in needs[inner.clone()].iter().flatten().enumerate() {
        place[*need] = place[*need].min(number);
    }
    let (mut sources, rest): (Vec<usize>, Vec<usize>) = sorted.iter().partition(|index| **index < inner.start);
    sources.sort_by_key(|index| (place[*index], *index));
    // What a sink writes its errors into comes behind it, and may be read.
    let needed: HashSet<usize> = needs.iter().flatten().copied().collect();
    let (mut sinks, rest): (Vec<usize>, Vec<usize>) =
        rest.into_iter().partition(|index| *index >= inner.end && !needed.contains(index));
    let ordered: Vec<usize> = sources.into_iter().chain(rest).collect();
    for (number, index) in ordered.iter().enumerate() {
        place[*index] = number;
    }
    sinks.sort_by_key(|index| needs[*index].first().map(|input| place[*input]));
    ordered.into_iter().chain(sinks).collect()
}

/// The names of streams that a pipeline reads.
pub fn read_names(pipeline: &Pipeline) -> impl Iterator<Item = &Name> {
    let others = pipeline.stages.iter().flat_map(|stage| {
        let (names, with): (&[Name], &[ast::WithInput]) = match &stage.kind {
            StageKind::Union(names) | StageKind::Combine { others: names, .. } => (names, &[]),
            StageKind::Join(join) => (std::slice::from_ref(&join.right), &[]),
            StageKind::Process(process) => (&[], &process.with),
            _ => (&[], &[]),
        };
        names.iter().chain(with.iter().map(|with| &with.stream))
    });
    std::iter::once(&pipeline.input).chain(others)
}
