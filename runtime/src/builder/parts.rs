//! What a pipeline has so far: the job graph, and for each chain the function that builds it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use super::names::{keep, keep_list};
use crate::connectors::channel::Channels;
use crate::error::{JobError, JobResult};
use crate::graph::{
    Chain, Exchange, ExchangeEdge, ExecutionGraph, Hints, JobEdge, JobGraph, JobSettings, JobVertex, Operation, Origin, Port,
    StreamType, VertexId,
};
use crate::job::{BuildChain, BuildSource, ChainSpec, ExchangeKind, InputSpec};
use crate::params::ParamSpec;

/// How a chain begins.
#[derive(Debug)]
pub struct Beginning {
    pub(super) build: BuildChain,
    pub(super) source: Option<BuildSource>,
}

/// The number of an edge between chains, which is known when the whole job is.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgeNumber(Arc<OnceLock<usize>>);

impl EdgeNumber {
    pub(super) fn get(&self) -> JobResult<usize> {
        self.0.get().copied().ok_or_else(|| JobError::new("an edge of the job has no number: a bug of the builder"))
    }
}

/// Where an operator gets rows from.
#[derive(Debug)]
pub(super) struct Producer {
    pub vertex: VertexId,
    pub port: Port,
    pub exchange: Exchange,
    /// None: both are in one chain.
    pub edge: Option<EdgeNumber>,
}

impl Producer {
    /// For whatever is next in the same chain.
    pub(super) fn new(vertex: VertexId, port: Port) -> Self {
        Producer { vertex, port, exchange: Exchange::Forward, edge: None }
    }
}

/// An edge between chains.
#[derive(Debug)]
struct Crossing {
    producer: VertexId,
    port: Port,
    consumer: VertexId,
    input: usize,
    number: EdgeNumber,
}

/// What an operator is, before it has its names.
pub(super) struct Draft<'a> {
    /// The stream that it belongs to.
    pub stream: &'a str,
    /// Given by the program.
    pub id: Option<String>,
    /// `where`, `aggregate`: the word of the language.
    pub kind: &'static str,
    pub operation: Operation,
    pub output: StreamType,
    pub hints: Hints,
    pub origin: Origin,
}

/// An operator with its names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub vertex: VertexId,
    pub uid: &'static str,
    pub name: &'static str,
}

/// A pipeline that is being built.
pub struct Parts {
    pub(super) graph: JobGraph,
    pub(super) channels: Channels,
    /// Whether the program holds ends of channels.
    pub(super) has_channels: bool,
    beginnings: HashMap<VertexId, Beginning>,
    crossings: Vec<Crossing>,
    /// How many operators of a kind a stream has.
    counts: HashMap<(String, &'static str), usize>,
    uids: BTreeSet<String>,
    streams: BTreeSet<String>,
    /// Streams that nothing stands behind yet.
    loose: BTreeMap<VertexId, (String, Origin)>,
    /// Flags of the program.
    pub(super) params: Vec<ParamSpec>,
    /// In the order in which they were made.
    mistakes: Vec<String>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("job", &self.graph.settings.name).finish_non_exhaustive()
    }
}

fn place(origin: &Origin) -> String {
    format!("{}:{}:{}", origin.file, origin.line, origin.column)
}

impl Parts {
    pub(super) fn new(settings: JobSettings) -> Self {
        Parts {
            graph: JobGraph::new(settings, Vec::new(), Vec::new()),
            channels: Channels::new(),
            has_channels: false,
            beginnings: HashMap::new(),
            crossings: Vec::new(),
            counts: HashMap::new(),
            uids: BTreeSet::new(),
            streams: BTreeSet::new(),
            loose: BTreeMap::new(),
            params: Vec::new(),
            mistakes: Vec::new(),
        }
    }

    /// Whether the pipeline has an operator yet.
    pub(super) fn is_begun(&self) -> bool {
        !self.uids.is_empty()
    }

    pub(super) fn mistake(&mut self, origin: &Origin, text: &str) {
        self.mistakes.push(format!("{}: {text}", place(origin)));
    }

    /// A name for a source or a stream, of which there must be one.
    pub(super) fn name_stream(&mut self, name: &str, origin: &Origin) {
        if name.is_empty() || name.contains(['/', '#']) {
            self.mistake(origin, &format!("`{name}` is no name of a stream: it stands in the ids of operators, before `/`"));
        }
        if !self.streams.insert(name.to_owned()) {
            self.mistake(
                origin,
                &format!("there are two streams `{name}`: their operators could not be told apart in checkpoints"),
            );
        }
    }

    /// Adds an operator.
    pub(super) fn add(&mut self, draft: Draft<'_>) -> Placed {
        let Draft { stream, id, kind, operation, output, hints, origin } = draft;
        let (uid, name) = match &operation {
            Operation::Sink(_) => (format!("sink/{stream}/{kind}"), format!("{stream} into {kind}")),
            _ => {
                let count = self.counts.entry((stream.to_owned(), kind)).or_default();
                let number = *count;
                *count += 1;
                let name = if kind == "source" { stream.to_owned() } else { format!("{stream}: {kind}") };
                (format!("{stream}/{kind}/{number}"), name)
            }
        };
        let uid = id.unwrap_or(uid);
        if !self.uids.insert(uid.clone()) {
            self.mistake(
                &origin,
                &format!("two operators have the id `{uid}`: give one of them another by `.id(\"..\")` before it"),
            );
        }
        let is_sink = matches!(operation, Operation::Sink(_));
        let (uid, name) = (keep(&uid), keep(&name));
        let vertex = JobVertex { uid: uid.to_owned(), name: name.to_owned(), operation, output, hints, origin: origin.clone() };
        let vertex = self.graph.add(vertex);
        if !is_sink {
            self.loose.insert(vertex, (stream.to_owned(), origin));
        }
        Placed { vertex, uid, name }
    }

    /// Rows of this producer come to this input of an operator.
    pub(super) fn connect(&mut self, from: &Producer, to: VertexId, input: usize) {
        self.loose.remove(&from.vertex);
        self.graph.connect(from.vertex, to, JobEdge { exchange: from.exchange.clone(), port: from.port, input });
        if let Some(number) = &from.edge {
            let crossing = Crossing { producer: from.vertex, port: from.port, consumer: to, input, number: number.clone() };
            self.crossings.push(crossing);
        }
    }

    /// The chain with this head is complete.
    pub(super) fn begin(&mut self, head: VertexId, beginning: Beginning) {
        self.beginnings.insert(head, beginning);
    }

    /// The chains of the job, and a hash of its plan.
    pub(super) fn chains(mut self) -> JobResult<(JobGraph, Vec<ChainSpec>, u64, Option<Channels>)> {
        self.check_event_time();
        for (stream, origin) in self.loose.values() {
            self.mistakes.push(format!("{}: rows of `{stream}` go nowhere: end it with a sink", place(origin)));
        }
        if !self.mistakes.is_empty() {
            return Err(JobError::usage(format!("the pipeline cannot run\n  {}", self.mistakes.join("\n  "))));
        }
        let execution = ExecutionGraph::expand(&self.graph).map_err(|errors| {
            let texts = errors.iter().map(|error| match &error.origin {
                Some(origin) => format!("{}: {}: {}", place(origin), error.title, error.label),
                None => error.title.clone(),
            });
            JobError::usage(format!("the pipeline cannot run\n  {}", texts.collect::<Vec<_>>().join("\n  ")))
        })?;
        for (number, edge) in execution.exchanges.iter().enumerate() {
            self.number(number, edge)?;
        }
        let specs = execution.chains.iter().map(|chain| self.chain(&execution, chain)).collect::<JobResult<Vec<_>>>()?;
        let fingerprint = xxhash_rust::xxh3::xxh3_64(execution.plan_text(&self.graph).as_bytes());
        Ok((self.graph, specs, fingerprint, self.has_channels.then_some(self.channels)))
    }

    fn number(&mut self, number: usize, edge: &ExchangeEdge) -> JobResult<()> {
        let same = |crossing: &Crossing| {
            (crossing.producer, crossing.port, crossing.consumer, crossing.input)
                == (edge.producer, edge.port, edge.consumer, edge.input)
        };
        let Some(found) = self.crossings.iter().position(same) else { return Err(self.bug(edge.consumer)) };
        // Two edges between the same ends are numbered in their order.
        let crossing = self.crossings.remove(found);
        crossing.number.0.set(number).map_err(|_| self.bug(edge.consumer))
    }

    fn chain(&mut self, execution: &ExecutionGraph, chain: &Chain) -> JobResult<ChainSpec> {
        let head = chain.members[0];
        let Some(Beginning { build, source }) = self.beginnings.remove(&head) else { return Err(self.bug(head)) };
        let uids = chain.members.iter().map(|member| keep(&self.graph.vertex(*member).uid)).collect();
        let inputs = execution.inputs(chain.id).map(|(number, edge)| InputSpec {
            from: edge.from.0 as usize,
            edge: number,
            exchange: match edge.exchange {
                Exchange::Forward => ExchangeKind::Forward,
                Exchange::Hash(_) => ExchangeKind::Hash,
                Exchange::Rebalance => ExchangeKind::Rebalance,
                Exchange::Broadcast => ExchangeKind::Broadcast,
            },
        });
        Ok(ChainSpec {
            name: keep(&chain.name),
            uids: keep_list(uids),
            parallelism: chain.parallelism,
            slot_group: keep(&chain.slot_group),
            inputs: inputs.collect(),
            build,
            source,
        })
    }

    fn bug(&self, vertex: VertexId) -> JobError {
        let name = &self.graph.vertex(vertex).name;
        JobError::new(format!("`{name}` does not stand where the plan has it: a bug of the builder"))
    }
}
