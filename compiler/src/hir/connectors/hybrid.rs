//! `from hybrid { history = file { .. }  live = file { .., watch: every 5s } }`: each stage is a connector of its own, whose
//! options may ask how the stages before it ended.

use std::collections::HashMap;

use millstream_runtime::connectors::channel;
use millstream_runtime::graph::SourceStage;

use super::source::{Rows, read};
use crate::hir::context::{Context, StageScope};
use crate::hir::errors::{connectors, hybrid};
use crate::source::Span;
use crate::syntax::ast::{Connector, ConnectorOption, ConnectorStage, Expr, ExprKind, OptionValue};

/// Lowers the stages of a source, in order.
pub fn lower<'a>(
    cx: &mut Context<'a>,
    connector: &'a Connector,
    stages: &'a [ConnectorStage],
    rows: &Rows<'_, 'a>,
) -> Vec<SourceStage> {
    if stages.is_empty() {
        cx.report(hybrid::no_stages(connector.name.span));
    }
    let mut first: HashMap<&str, Span> = HashMap::new();
    let mut lowered = Vec::with_capacity(stages.len());
    for (at, stage) in stages.iter().enumerate() {
        if let Some(first) = first.get(stage.name.text.as_str()) {
            cx.report(hybrid::stage_twice(&stage.name, *first));
        }
        first.insert(&stage.name.text, stage.name.span);
        if stage.connector.stages.is_some() {
            cx.report(hybrid::nested(stage.connector.name.span));
            continue;
        }
        if stage.connector.name.text == channel::NAME {
            cx.report(connectors::no_stage(&stage.connector.name));
            continue;
        }
        let names = stages.iter().map(|stage| stage.name.text.as_str()).collect();
        cx.stages = Some(StageScope { names, at, schema: rows.schema.cloned() });
        let read = read(cx, &stage.connector, rows);
        cx.stages = None;
        let given = stage.connector.options.iter().filter(|option| !is_off(option));
        let given: Vec<&str> = given.map(|option| option.name.text.as_str()).collect();
        if let (Some(spec), Some(next)) = (read.spec, stages.get(at + 1))
            && !(spec.bounded)(&given)
        {
            let watched = stage.connector.options.iter().find(|option| option.name.text == "watch");
            let span = watched.map_or(stage.connector.name.span, |option| option.span);
            cx.report(hybrid::never_ends(&stage.name, &stage.connector.name.text, &next.name, span));
        }
        lowered.push(SourceStage {
            name: stage.name.text.clone(),
            connector: stage.connector.name.text.clone(),
            options: read.options,
            format: read.format,
            format_options: read.format_options,
            range: read.range,
            origin: cx.origin(stage.span),
        });
    }
    lowered
}

/// `append: false`: as if it were not given.
fn is_off(option: &ConnectorOption) -> bool {
    matches!(&option.value, OptionValue::Expr(Expr { kind: ExprKind::Bool(false), .. }))
}
