//! What the stages of a hybrid source ask of the stages before them.

use std::collections::BTreeSet;

use millstream_runtime::graph::{ConnectorOption, Expr, ExprKind, OptionValue, SourceOperation, StageFact};

/// The columns whose greatest values are asked for, each once.
pub fn asked_columns(source: &SourceOperation) -> BTreeSet<String> {
    let mut columns = BTreeSet::new();
    let mut look = |expr: &Expr| {
        expr.walk(&mut |expr| {
            if let ExprKind::StageEnd(_, StageFact::Max(column)) = &expr.kind {
                columns.insert(column.clone());
            }
        });
    };
    for stage in &source.stages {
        each(&stage.options, &mut look);
        each(&stage.format_options, &mut look);
    }
    columns
}

fn each(options: &[ConnectorOption], look: &mut dyn FnMut(&Expr)) {
    for option in options {
        match &option.value {
            OptionValue::Value(expr) => look(expr),
            OptionValue::Block(_, inner) => each(inner, look),
            OptionValue::Word(_) | OptionValue::Columns(_) | OptionValue::Size(_) => {}
        }
    }
}
