//! The operators of a pipeline, one file each: from what was written to an operation and what its rows look like.

mod aggregate;
mod call_async;
mod columns;
mod combine;
mod dedup;
mod explode;
mod join;
mod join_time;
pub mod over;
mod physical;
mod process;
mod process_inputs;
mod select;
mod sort;
mod tables;
mod top;
mod union;
mod watermark;
mod where_;
mod window;

pub use call_async::waits_of;
pub use columns::named_columns;
pub use watermark::watermark;
pub use window::KINDS as WINDOWS;

use millstream_runtime::graph::{Operation, StreamType};

use super::attributes;
use super::flow::Flow;
use super::lower::{Lowering, NewNode, Place};
use crate::syntax::ast::{Name, Stage, StageKind};

/// Lowers one operator.
pub fn lower<'a>(lowering: &mut Lowering<'a>, place: &Place, stage: &'a Stage, input: Flow) -> Flow {
    if let Some(facts) = &mut lowering.cx.facts {
        facts.input(stage.span, &input);
    }
    let mut at = At { lowering, place, stage };
    match &stage.kind {
        StageKind::Where(condition) => where_::lower(&mut at, condition, input),
        StageKind::Select(items) => select::lower(&mut at, items, input),
        StageKind::Explode { list, name } => explode::lower(&mut at, list, name, input),
        StageKind::Union(others) => union::lower(&mut at, others, input),
        StageKind::Watermark(expr) => watermark::lower(&mut at, expr, input),
        StageKind::Dedup { by, keep, within, late_into } => {
            dedup::lower(&mut at, by, *keep, (within.as_ref(), late_into.as_ref()), input)
        }
        StageKind::Aggregate(aggregate) => aggregate::lower(&mut at, aggregate, input),
        StageKind::Top(top) => top::lower(&mut at, top, input),
        StageKind::Sort(sort) => sort::lower(&mut at, sort, input),
        StageKind::Combine { how, all, others } => combine::lower(&mut at, *how, all.is_some(), others, input),
        StageKind::Distinct => combine::distinct(&mut at, input),
        StageKind::Join(join) => join::lower(&mut at, join, input),
        StageKind::Process(process) => process::lower(&mut at, process, input),
        StageKind::Final => tables::lower_final(&mut at, input),
        StageKind::Changes => tables::lower_changes(&mut at, input),
        StageKind::Rebalance => physical::rebalance(&mut at, input),
        StageKind::Broadcast => physical::broadcast(&mut at, input),
        StageKind::PartitionBy(keys) => physical::partition(&mut at, keys, input),
        StageKind::Error => {
            attributes::operator(&mut at.lowering.cx, &stage.attributes, "an operator");
            Flow::broken(&input.name)
        }
    }
}

/// The operator that is lowered, and where it stands.
pub struct At<'l, 'p, 'a> {
    pub lowering: &'l mut Lowering<'a>,
    pub place: &'p Place,
    pub stage: &'a Stage,
}

impl<'a> At<'_, '_, 'a> {
    pub fn report(&mut self, diagnostic: crate::diagnostics::Diagnostic) {
        self.lowering.cx.report(diagnostic);
    }

    /// Adds the operator over one input; what else was known of the input's rows stays known.
    pub fn add(&mut self, word: &'static str, operation: Operation, input: Flow, output: StreamType) -> Flow {
        let inputs = vec![(input.node, input.port)];
        self.add_over(word, operation, inputs, input, output)
    }

    /// Adds an operator that nobody wrote, in front of the one that is lowered, which has the attributes.
    pub fn add_plain(&mut self, word: &'static str, operation: Operation, input: Flow, output: StreamType) -> Flow {
        let inputs = vec![(input.node, input.port)];
        let (place, span, attributes) = (self.place, self.stage.span, attributes::Attributes::default());
        let node = self.lowering.add(NewNode { place, word, attributes, operation, inputs, output: output.clone(), span });
        Flow { node, port: millstream_runtime::graph::Port::Main, ty: output, name: self.place.name.clone(), ..input }
    }

    /// Defines the stream of `late into x`: rows as they came in.
    pub fn late_rows(&mut self, into: Option<&'a Name>, rows: Flow, flow: &Flow) {
        if let Some(name) = into {
            let late = Flow { node: flow.node, port: millstream_runtime::graph::Port::Late, name: name.text.clone(), ..rows };
            self.lowering.define_late(name, late);
        }
    }

    /// Adds the operator over any inputs; `known` is what is known of its rows.
    pub fn add_over(
        &mut self,
        word: &'static str,
        operation: Operation,
        inputs: Vec<(super::NodeId, millstream_runtime::graph::Port)>,
        known: Flow,
        output: StreamType,
    ) -> Flow {
        let attributes = attributes::operator(&mut self.lowering.cx, &self.stage.attributes, "an operator");
        let (place, span) = (self.place, self.stage.span);
        let node = self.lowering.add(NewNode { place, word, attributes, operation, inputs, output: output.clone(), span });
        Flow { node, port: millstream_runtime::graph::Port::Main, ty: output, name: self.place.name.clone(), ..known }
    }
}
