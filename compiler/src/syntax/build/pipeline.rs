//! Pipelines: a stream's name and the operators behind it.

use millstream_grammar::{Pair, Rule};

use super::{Builder, no_name};
use crate::syntax::ast::*;
use crate::syntax::{errors, recover};

impl Builder<'_> {
    /// `flights | where .. | select ..`
    pub fn pipeline(&mut self, pair: Pair<'_, Rule>) -> Pipeline {
        let span = self.span(&pair);
        let mut pipeline = Pipeline { input: no_name(span), alias: None, stages: Vec::new(), span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::wrong_from => {
                    let span = self.span(&inner);
                    self.report(errors::needless_from(span));
                }
                Rule::name => pipeline.input = self.name(&inner),
                Rule::alias => pipeline.alias = self.row_alias(inner),
                Rule::slot => pipeline.stages.push(self.slot(inner)),
                _ => {}
            }
        }
        pipeline
    }

    /// `| @id("x") where ..`
    fn slot(&mut self, pair: Pair<'_, Rule>) -> Stage {
        let attributes = self.attributes(&pair);
        let mut stage = Stage { kind: StageKind::Error, attributes, span: self.span(&pair) };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::missing_pipe => {
                    let start = inner.as_span().start();
                    let at = self.at(start, start);
                    self.report(errors::missing_pipe(at));
                }
                Rule::stage => {
                    stage.span = self.span(&inner);
                    stage.kind = self.stage(inner);
                }
                Rule::bad_stage => {
                    let span = inner.as_span();
                    stage.span = self.span(&inner);
                    let kind = &mut stage.kind;
                    self.within(span.start(), span.end(), |builder| {
                        recover::part(builder, Rule::stage_only, span.as_str(), &mut |builder, pair| *kind = builder.stage(pair));
                    });
                }
                _ => {}
            }
        }
        stage
    }
}
