//! Sources that cannot be read again, in a job that takes checkpoints: what its author hopes for does not hold.

use millstream_runtime::connectors;
use millstream_runtime::graph::{Operation, RustModule, find_connector};

use super::errors::connectors as errors;
use super::program::Node;
use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// A warning for each, at its place.
pub fn lossy(rust: &[RustModule], nodes: &[Node], spans: &[Span]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (node, span) in nodes.iter().zip(spans) {
        let Operation::Source(source) = &node.operation else { continue };
        let own = std::iter::once(source.connector.as_str());
        for connector in own.chain(source.stages.iter().map(|stage| stage.connector.as_str())) {
            let spec = find_connector(rust, connector).and_then(|spec| spec.source.as_ref());
            // Whoever writes `channel` holds the other end.
            if connector != connectors::channel::NAME && spec.is_some_and(|spec| !spec.replayable) {
                found.push(errors::not_replayable(*span, &node.name, connector));
            }
        }
    }
    found
}
