//! What keys and aggregates are computed from: each over the columns of the sources of its job.
//!
//! A key is followed back through the operators before it, so that a column that gets another name on the way, or a function that does,
//! leaves its text as it was, and another column under the old name does not. Where a column is made of many rows or by code of the user
//! the way ends, and the column counts by its name.

use std::collections::{BTreeSet, HashMap};

use super::expr::{CastMode, Expr, ExprKind, Literal};
use super::job::{Exchange, JobGraph, Port, VertexId};
use super::join::{JoinColumnOf, JoinHow, JoinOperation, Side};
use super::kept_by::{KeptBy, KeyText};
use super::operation::{AggregateCall, Changelog, Frame, Keep, Operation, StreamType, Window, WindowTime};
use super::text::duration_text;
use super::ty::Ty;

/// A key that is computed by more than so many operations counts by the names of its columns.
const LARGEST: usize = 400;
/// So many operators are followed back.
const FURTHEST: usize = 200;
/// So many ways of rows are told apart.
const MOST_WAYS: usize = 32;

impl JobGraph {
    /// What the state of each operator is kept by, for checkpoints. Of the graph as it is written: passes would show in the texts.
    pub fn follow_keys(&self) -> Vec<KeptBy> {
        let mut origins = Origins { graph: self, known: HashMap::new(), depth: 0 };
        self.topological().into_iter().filter_map(|vertex| origins.kept_by(vertex)).collect()
    }

    fn keys_of(&self, vertex: VertexId, input: usize) -> Vec<Expr> {
        let columns = |names: &[String], rows: &StreamType| -> Vec<Expr> {
            let fields = names.iter().filter_map(|name| rows.schema.field(name));
            fields.map(|field| Expr::column(field.name.clone(), field.ty.clone())).collect()
        };
        let operation = &self.vertex(vertex).operation;
        match (operation, self.inputs(vertex).first()) {
            (Operation::Join(join), _) if join.broadcast => join.keys_of(input),
            (Operation::KeyBy(key), Some((producer, edge))) => columns(key, self.output_type(*producer, edge.port)),
            (Operation::Final, Some((producer, edge))) => match self.output_type(*producer, edge.port) {
                rows @ StreamType { changelog: Changelog::Table { key: Some(key) }, .. } => columns(key, rows),
                _ => Vec::new(),
            },
            _ => operation.required_keys(input).unwrap_or_default(),
        }
    }
}

impl JoinOperation {
    fn keys_of(&self, input: usize) -> Vec<Expr> {
        self.keys.iter().map(|key| if input == 0 { key.left.clone() } else { key.right.clone() }).collect()
    }
}

impl Operation {
    /// The keys by which an operator needs the rows of an input, where it does. Empty: all rows in one place.
    pub fn required_keys(&self, input: usize) -> Option<Vec<Expr>> {
        match self {
            Operation::Join(join) if join.lookup().is_some() || join.broadcast => None,
            Operation::Join(join) => Some(join.keys_of(input)),
            Operation::Aggregate(aggregate) => Some(aggregate.keys.iter().map(|(_, key)| key.clone()).collect()),
            Operation::Dedup(dedup) => Some(dedup.keys.clone()),
            Operation::Process(process) if process.takes_rows_anywhere() => None,
            Operation::Process(process) if input == 1 => {
                process.second.as_ref().and_then(|second| second.keyed.as_ref()).map(|keyed| keyed.keys.clone())
            }
            Operation::Process(process) => Some(process.keys.clone()),
            Operation::Top(top) => Some(top.keys.clone()),
            Operation::Combine(combine) => Some(combine.keys.clone()),
            // One order of all rows.
            Operation::Sort(_) => Some(Vec::new()),
            Operation::Over(over) => Some(over.keys.clone()),
            _ => None,
        }
    }
}

/// Follows keys back.
struct Origins<'a> {
    graph: &'a JobGraph,
    /// The ways of expressions over the rows of a port, by their text.
    known: HashMap<(VertexId, Port, String), Vec<Vec<Expr>>>,
    /// How many operators it has gone back.
    depth: usize,
}

impl Origins<'_> {
    fn kept_by(&mut self, vertex: VertexId) -> Option<KeptBy> {
        let graph = self.graph;
        let mut kept = KeptBy { window: frame(&graph.vertex(vertex).operation), ..KeptBy::new(&graph.vertex(vertex).uid) };
        for (producer, edge) in graph.inputs(vertex) {
            let mut keys = graph.keys_of(vertex, edge.input);
            if keys.is_empty() {
                continue;
            }
            // A pipeline in Rust may have given the key a name.
            if let (true, Exchange::Hash(by)) = (keys.iter().any(is_opaque), &edge.exchange) {
                keys.clone_from(by);
            }
            let keys: Vec<Expr> = keys.into_iter().map(|key| self.taken(key)).collect();
            let ways = self.of(producer, edge.port, keys.clone());
            let from: BTreeSet<String> = ways.iter().map(|way| text(way)).collect();
            kept.keys.push(match ways.iter().flatten().chain(&keys).any(is_opaque) {
                true => KeyText::default(),
                // Columns of the planner's own have names that no column of a user has.
                false if text(&keys).contains("`by ") => KeyText { text: String::new(), from },
                false => KeyText { text: text(&keys), from: if from.iter().eq([&text(&keys)]) { BTreeSet::new() } else { from } },
            });
        }
        kept.values = self.values(vertex);
        (!kept.keys.is_empty() || !kept.window.is_empty() || !kept.values.is_empty()).then_some(kept)
    }

    /// What the state of an operator is made of, beside its keys.
    fn values(&mut self, vertex: VertexId) -> Vec<(String, KeyText)> {
        let graph = self.graph;
        let Some((producer, edge)) = graph.inputs(vertex).first().copied() else { return Vec::new() };
        let mut values = Vec::new();
        for Made { name, word, of, suffixes, end } in made_of(&graph.vertex(vertex).operation) {
            let of: Vec<Expr> = of.into_iter().map(|value| self.taken(value)).collect();
            let ways = self.of(producer, edge.port, of.clone());
            if ways.iter().flatten().chain(&of).any(is_opaque) {
                continue;
            }
            let shown = |of: &[Expr]| {
                let list: Vec<String> = of.iter().zip(&suffixes).map(|(value, suffix)| format!("{value}{suffix}")).collect();
                format!("{word}{}{end}", list.join(", "))
            };
            let from: BTreeSet<String> = ways.iter().map(|way| shown(way)).collect();
            let text = shown(&of);
            let from = if from.iter().eq([&text]) { BTreeSet::new() } else { from };
            values.push((name, KeyText { text, from }));
        }
        values
    }

    /// Expressions over the rows of a port, over those that come into the job: one list for each way by which they come.
    fn of(&mut self, vertex: VertexId, port: Port, exprs: Vec<Expr>) -> Vec<Vec<Expr>> {
        let asked = (vertex, port, text(&exprs));
        if let Some(known) = self.known.get(&asked) {
            return known.clone();
        }
        if self.depth >= FURTHEST {
            return vec![named(exprs)];
        }
        let names = exprs.clone();
        self.depth += 1;
        let mut ways = self.one_step(vertex, port, exprs);
        self.depth -= 1;
        ways.sort_by_key(|way| text(way));
        ways.dedup_by_key(|way| text(way));
        if ways.len() > MOST_WAYS || ways.iter().any(|way| size(way) > LARGEST) {
            ways = vec![named(names)];
        }
        self.known.insert(asked, ways.clone());
        ways
    }

    fn one_step(&mut self, vertex: VertexId, port: Port, exprs: Vec<Expr>) -> Vec<Vec<Expr>> {
        let graph = self.graph;
        let inputs = graph.inputs(vertex);
        let operation = &graph.vertex(vertex).operation;
        let first = inputs.first().map(|(producer, edge)| (*producer, edge.port));
        // Late rows look like those that came in.
        if let (Port::Late, Some((producer, port))) = (port, first) {
            return self.of(producer, port, exprs);
        }
        let Some((producer, of)) = first.filter(|_| port == Port::Main) else {
            let fields = &graph.output_type(vertex, port).schema;
            let outside = |name: &str| fields.field(name)?.external.clone().map(ExprKind::Local);
            return vec![named(replaced(exprs, &|name| outside(name)))];
        };
        let exprs = match operation {
            Operation::Union => {
                let ways = inputs.iter().flat_map(|(producer, edge)| self.of(*producer, edge.port, exprs.clone()));
                return ways.collect();
            }
            Operation::Join(join) => return self.joined(join, vertex, &exprs),
            Operation::Process(_) | Operation::Errors | Operation::Source(_) | Operation::Sink(_) => return vec![named(exprs)],
            Operation::Project(columns) => {
                let values: HashMap<&str, Expr> =
                    columns.iter().map(|(name, value)| (name.as_str(), self.taken(value.clone()))).collect();
                replaced(exprs, &|name| values.get(name).map(|value| value.kind.clone()))
            }
            Operation::Aggregate(aggregate) => {
                let keys: Vec<Expr> = aggregate.keys.iter().map(|(_, key)| self.taken(key.clone())).collect();
                let calls: Vec<Expr> = aggregate.calls.iter().map(|call| self.called(call)).collect();
                let values: HashMap<&str, Expr> = aggregate
                    .output
                    .iter()
                    .map(|(name, value)| {
                        let mut value = self.taken(value.clone());
                        rewrite(&mut value, &mut |expr| {
                            let of = match &expr.kind {
                                ExprKind::Key(index) => keys.get(*index),
                                ExprKind::Aggregate(index) => calls.get(*index),
                                _ => None,
                            };
                            if let Some(of) = of {
                                expr.kind = of.kind.clone();
                            }
                        });
                        (name.as_str(), value)
                    })
                    .collect();
                replaced(exprs, &|name| values.get(name).map(|value| value.kind.clone()))
            }
            Operation::Over(over) => {
                let values: HashMap<&str, Expr> =
                    over.calls.iter().map(|(name, call)| (name.as_str(), self.called(&call.call))).collect();
                replaced(exprs, &|name| values.get(name).map(|value| value.kind.clone()))
            }
            Operation::Explode { list, name } => {
                let element = ExprKind::Call { function: "explode", args: vec![self.taken(list.clone())] };
                replaced(exprs, &|column| (column == name).then(|| element.clone()))
            }
            Operation::CallAsync(asked) => {
                let answer = self.taken(asked.call.clone());
                replaced(exprs, &|column| (column == asked.name).then(|| answer.kind.clone()))
            }
            Operation::Top(top) => {
                let is_rank = |column: &str| top.rank.as_deref() == Some(column);
                replaced(exprs, &|column| is_rank(column).then(|| ExprKind::Local(column.to_owned())))
            }
            Operation::Changes => replaced(exprs, &|column| (column == "op").then(|| ExprKind::Local("op".to_owned()))),
            Operation::Filter(_)
            | Operation::Watermark(_)
            | Operation::Dedup(_)
            | Operation::Sort(_)
            | Operation::Combine(_)
            | Operation::Inserts
            | Operation::KeyBy(_)
            | Operation::Final
            | Operation::Rebalance
            | Operation::Broadcast
            | Operation::PartitionBy(_) => exprs,
        };
        if size(&exprs) > LARGEST {
            // The caller takes the names.
            return vec![exprs];
        }
        self.of(producer, of, exprs)
    }

    /// Each side by itself, and then all ways of the one with all of the other.
    fn joined(&mut self, join: &JoinOperation, vertex: VertexId, exprs: &[Expr]) -> Vec<Vec<Expr>> {
        let graph = self.graph;
        let mut asked = BTreeSet::new();
        for expr in exprs {
            expr.walk(&mut |node| {
                if let ExprKind::Column(name) = &node.kind {
                    asked.insert(name.as_str());
                }
            });
        }
        let mut ways: Vec<HashMap<&str, ExprKind>> = vec![HashMap::new()];
        for column in &join.columns {
            if let JoinColumnOf::Window(bound) = column.of {
                ways[0].insert(&column.name, ExprKind::Window(bound));
            }
        }
        for side in [Side::Left, Side::Right] {
            let (mut names, mut columns) = (Vec::new(), Vec::new());
            for column in join.columns.iter().filter(|column| asked.contains(column.name.as_str())) {
                match &column.of {
                    JoinColumnOf::Side(of, name) if *of == side => {
                        names.push(column.name.as_str());
                        columns.push(Expr::column(name.clone(), Ty::Bool));
                    }
                    _ => {}
                }
            }
            let input = graph.inputs(vertex).into_iter().find(|(_, edge)| edge.input == side.input());
            let found = match input.filter(|_| !columns.is_empty()) {
                Some((producer, edge)) => self.of(producer, edge.port, columns),
                // What is looked up comes from outside.
                None => vec![named(columns)],
            };
            let mut both = Vec::new();
            for way in &ways {
                for found in &found {
                    let mut way = way.clone();
                    way.extend(names.iter().copied().zip(found.iter().map(|expr| expr.kind.clone())));
                    both.push(way);
                }
            }
            ways = both;
        }
        ways.into_iter().map(|way| named(replaced(exprs.to_vec(), &|name| way.get(name).cloned()))).collect()
    }

    /// An expression of the graph, without what does not change its value.
    fn taken(&self, mut expr: Expr) -> Expr {
        // A function of functions is in the graph before what calls it, so this ends; a mistake in that ends it, too.
        for _ in 0..16 {
            let mut called = false;
            rewrite(&mut expr, &mut |node| {
                let ExprKind::CallUser { function, args } = &node.kind else { return };
                let Some(function) = self.graph.functions.iter().find(|known| known.name == *function) else { return };
                let mut body = function.body.clone();
                let of = |name: &str| function.params.iter().zip(args).find(|((param, _), _)| param == name).map(|(_, arg)| arg);
                rewrite(&mut body, &mut |node| {
                    if let ExprKind::Local(name) = &node.kind
                        && let Some(arg) = of(name)
                    {
                        *node = arg.clone();
                    }
                });
                (*node, called) = (body, true);
            });
            if !called || size(std::slice::from_ref(&expr)) > LARGEST {
                break;
            }
        }
        rewrite(&mut expr, &mut simplify);
        expr
    }

    fn called(&self, call: &AggregateCall) -> Expr {
        let args = call.args.iter().map(|arg| self.taken(arg.clone())).collect();
        Expr::new(ExprKind::Call { function: call.function, args }, call.ty.clone())
    }
}

/// Something that an operator makes of its rows and keeps.
struct Made {
    /// In its state.
    name: String,
    /// `sum(`
    word: String,
    /// What of a row goes into it.
    of: Vec<Expr>,
    /// ` desc`, one for each.
    suffixes: Vec<&'static str>,
    /// `)`
    end: &'static str,
}

impl Made {
    fn new(name: &str, word: String, of: impl IntoIterator<Item = (Expr, &'static str)>, end: &'static str) -> Self {
        let (of, suffixes) = of.into_iter().unzip();
        Made { name: name.to_owned(), word, of, suffixes, end }
    }
}

/// What is not in it holds from then on when it changes: which rows count, and what is asked of what was added up (`0.9` of a percentile).
fn made_of(operation: &Operation) -> Vec<Made> {
    let called = |call: &AggregateCall| {
        let of = call.args.iter().filter(|arg| !matches!(arg.kind, ExprKind::Literal(_)));
        Made::new(&call.state, format!("{}(", call.function), of.map(|arg| (arg.clone(), "")), ")")
    };
    match operation {
        // In plain Rust they are closures, and have no names.
        Operation::Aggregate(aggregate) => aggregate.calls.iter().filter(|call| !call.state.is_empty()).map(called).collect(),
        Operation::Over(over) => {
            over.calls.iter().map(|(_, call)| &call.call).filter(|call| !call.state.is_empty()).map(called).collect()
        }
        Operation::Top(top) => {
            let order = top.order.iter().map(|key| (key.value.clone(), if key.descending { " desc" } else { "" }));
            Vec::from([Made::new("rows", format!("top {} by ", top.count), order, "")])
        }
        Operation::Dedup(dedup) => {
            let which = if matches!(dedup.keep, Keep::First) { "first" } else { "last" };
            let by = if dedup.time.is_some() { " by " } else { " that came" };
            Vec::from([Made::new("rows", format!("the {which}{by}"), dedup.time.iter().map(|time| (time.clone(), "")), "")])
        }
        _ => Vec::new(),
    }
}

/// Conversions and checks that the compiler puts in: a filter before the key may bring them, or a type of another operand.
fn simplify(expr: &mut Expr) {
    let null = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(Literal::Null));
    let simpler = match &mut expr.kind {
        ExprKind::Cast(CastMode::Implicit | CastMode::NotNull, inner) => Some((**inner).clone()),
        ExprKind::Field(base, _) if null(base) => Some((**base).clone()),
        ExprKind::Field(base, field) => match &base.kind {
            ExprKind::Record(fields) => fields.iter().find(|(name, _)| name == field).map(|(_, value)| value.clone()),
            _ => {
                base.ty = base.ty.required().clone();
                None
            }
        },
        ExprKind::Coalesce(left, right) if null(left) => Some((**right).clone()),
        _ => None,
    };
    if let Some(simpler) = simpler {
        *expr = simpler;
    }
}

/// With other values for columns, simplified.
fn replaced(mut exprs: Vec<Expr>, value: &dyn Fn(&str) -> Option<ExprKind>) -> Vec<Expr> {
    for expr in &mut exprs {
        rewrite(expr, &mut |node| match &node.kind {
            ExprKind::Column(name) => {
                if let Some(value) = value(name) {
                    node.kind = value;
                }
            }
            _ => simplify(node),
        });
    }
    exprs
}

/// Columns by their names, with nothing behind them.
fn named(mut exprs: Vec<Expr>) -> Vec<Expr> {
    for expr in &mut exprs {
        rewrite(expr, &mut |node| {
            if let ExprKind::Column(name) = &mut node.kind {
                node.kind = ExprKind::Local(std::mem::take(name));
            }
        });
    }
    exprs
}

/// Operands first.
fn rewrite(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    expr.for_each_child_mut(&mut |child| rewrite(child, change));
    change(expr);
}

fn size(exprs: &[Expr]) -> usize {
    let mut size = 0;
    exprs.iter().for_each(|expr| expr.walk(&mut |_| size += 1));
    size
}

fn text(exprs: &[Expr]) -> String {
    exprs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Whether it is a closure of a pipeline in Rust, of which nobody knows what it does.
fn is_opaque(expr: &Expr) -> bool {
    let mut opaque = false;
    expr.walk(&mut |node| {
        if let ExprKind::CallRust { function, args } = &node.kind {
            opaque |= args.is_empty() && function.params.is_empty() && function.path == ["closure"];
        }
    });
    opaque
}

/// The window of an operator, or what else bounds the rows that its state is made of.
fn frame(operation: &Operation) -> String {
    match operation {
        Operation::Aggregate(aggregate) => aggregate.window.as_ref().map_or_else(String::new, window),
        Operation::Top(top) => top.window.as_ref().map_or_else(String::new, window),
        Operation::Join(join) => match &join.how {
            JoinHow::Over { window: over, .. } => window(over),
            // What is kept for another distance in time has what it needs, or will have.
            JoinHow::Within { .. } => "within".to_owned(),
            JoinHow::AsOf { .. } => "as of".to_owned(),
            JoinHow::Unbounded | JoinHow::Lookup(_) => String::new(),
        },
        Operation::Over(over) => match over.frame {
            Frame::Running => "rows one by one".to_owned(),
            Frame::All => "all rows".to_owned(),
            Frame::Rows(count) => format!("last {count} rows"),
            Frame::Time(length) => format!("last {}", duration_text(length)),
            Frame::Ahead(count) => format!("{count} rows ahead"),
        },
        _ => String::new(),
    }
}

fn window(window: &Window) -> String {
    let shift = |offset: i64| if offset == 0 { String::new() } else { format!(", offset: {}", duration_text(offset)) };
    let placed = |time: &WindowTime| if matches!(time, WindowTime::Processing) { " processing_time" } else { "" };
    match window {
        Window::Tumbling { size, offset, time } => {
            format!("tumbling({}{}){}", duration_text(*size), shift(*offset), placed(time))
        }
        Window::Sliding { size, step, offset, time } => {
            format!("sliding({}, {}{}){}", duration_text(*size), duration_text(*step), shift(*offset), placed(time))
        }
        Window::Session { gap, time } => format!("session({}){}", duration_text(*gap), placed(time)),
        Window::Cumulative { max, step, offset, time } => {
            format!("cumulative({}, {}{}){}", duration_text(*max), duration_text(*step), shift(*offset), placed(time))
        }
        Window::Calendar { unit, zone, time } => format!("calendar({}, zone: {zone:?}){}", unit.word(), placed(time)),
        Window::Count { size } => format!("count({size})"),
        Window::SlidingCount { size, step } => format!("count({size}, {step})"),
        Window::Global => "global".to_owned(),
    }
}
