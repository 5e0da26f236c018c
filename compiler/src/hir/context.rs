//! What lowering carries along: the items, what is already known of them, and the diagnostics.

use std::collections::{HashMap, HashSet};

use millstream_runtime::aggregates::{self, AggregateSpec};
use millstream_runtime::connectors::{self as catalog, ConnectorSpec};
use millstream_runtime::graph::{Origin, Schema, Ty, Waits};

use super::collect::Items;
use super::facts::Facts;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::Name;

/// Shared by all parts of lowering.
pub struct Context<'a> {
    pub sources: &'a SourceMap,
    pub items: Items<'a>,
    pub diags: Diagnostics,
    /// Records and enums by name.
    pub records: HashMap<&'a str, Ty>,
    /// Params by name.
    pub params: HashMap<&'a str, Ty>,
    /// The user's own functions, by name.
    pub functions: HashMap<&'a str, FunctionType>,
    /// Names from Rust files, and where they are defined there.
    pub rust_functions: HashMap<&'a str, Span>,
    pub rust_types: HashMap<&'a str, Span>,
    /// Records of Rust files with a column of event time, by name.
    pub event_times: HashMap<&'a str, &'a str>,
    /// Columns of the key of such records, by name.
    pub record_keys: HashMap<&'a str, &'a [Name]>,
    /// Operators of Rust files by name.
    pub rust_operators: std::collections::BTreeMap<&'a str, super::rust::Operator<'a>>,
    /// Aggregates of Rust files by name.
    pub aggregates: std::collections::BTreeMap<&'a str, super::rust::OwnAggregate>,
    /// Connectors of Rust files by name, and where they are named.
    pub connectors: std::collections::BTreeMap<&'a str, (&'static ConnectorSpec, Span)>,
    /// The Rust files.
    pub rust: &'a [crate::rust::RustFile],
    pub used_params: HashSet<String>,
    /// While the options of a stage of a hybrid source are lowered: what they may ask.
    pub stages: Option<StageScope<'a>>,
    /// What an editor wants to know.
    pub facts: Option<Facts>,
}

/// The stages of a hybrid source, as the options of one of them see them.
#[derive(Clone, Debug)]
pub struct StageScope<'a> {
    /// All of them, in order.
    pub names: Vec<&'a str>,
    /// The one whose options are lowered: only those before it have ended.
    pub at: usize,
    /// None after a mistake.
    pub schema: Option<Schema>,
}

/// What a call of a user's function needs to know.
#[derive(Clone, Debug)]
pub struct FunctionType {
    pub params: Vec<(String, Ty)>,
    pub result: Ty,
    /// It is an `async fn` of a Rust file, or calls one.
    pub waits: Option<Waits>,
}

impl Context<'_> {
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diags.push(diagnostic);
    }

    /// Reports a value that does not fit; the label lists the words that do in backticks, and a word near one of them is pointed out.
    pub fn report_value(&mut self, diagnostic: Diagnostic) {
        let span = diagnostic.primary.span;
        let known = (span.file.0 as usize) < self.sources.files().count();
        let text = if known { self.sources.text(span).to_owned() } else { String::new() };
        self.report(super::errors::near_word(diagnostic, &text));
    }

    /// How the async function of this name is called; None: it is none.
    pub fn waits(&self, name: &str) -> Option<Waits> {
        self.functions.get(name).and_then(|function| function.waits)
    }

    /// What to say of a name that a Rust file has, but not for others, or not with the features of its crate. The name is that of the language.
    pub fn left_out(&self, name: &Name) -> Option<Diagnostic> {
        self.rust.iter().find_map(|file| {
            if let Some((_, module)) = file.concealed.iter().find(|(concealed, _)| *concealed == name.text) {
                return Some(crate::rust::concealed(name, module));
            }
            let (_, feature) = file.left_out.iter().find(|(left_out, _)| *left_out == name.text)?;
            Some(crate::rust::needs_feature(name, feature, file.of_crate.as_ref().map(|of| of.name.as_str())))
        })
    }

    /// What to say of a struct or enum of a Rust file that is no record.
    pub fn not_annotated(&self, name: &Name) -> Option<Diagnostic> {
        let plain = self.rust.iter().flat_map(|file| &file.plain_types).find(|plain| plain.text == name.text)?;
        Some(crate::rust::type_not_annotated(&name.text, name.span, plain.span))
    }

    /// What to say of a connector that nobody knows.
    pub fn unknown_connector(&self, name: &Name, candidates: &[&str]) -> Diagnostic {
        self.left_out(name).unwrap_or_else(|| super::errors::connectors::unknown_connector(name, candidates))
    }

    /// The aggregate function of this name: a built-in one, or the user's own.
    pub fn aggregate(&self, name: &str) -> Option<&'static AggregateSpec> {
        aggregates::find(name).or_else(|| self.aggregates.get(name).map(|own| own.spec))
    }

    /// The connector of this name: the user's own, or a built-in one.
    pub fn connector(&self, name: &str) -> Option<&'static ConnectorSpec> {
        self.connectors.get(name).map(|(spec, _)| *spec).or_else(|| catalog::find(name))
    }

    /// All connectors that have such a side.
    pub fn connectors_with(&self, side: impl Fn(&ConnectorSpec) -> bool) -> Vec<&'static str> {
        let own = self.connectors.values().map(|(spec, _)| *spec);
        own.chain(catalog::CONNECTORS.iter().copied()).filter(|spec| side(spec)).map(|spec| spec.name).collect()
    }

    /// Whether a place is in the file that the user named.
    pub fn is_main(&self, span: Span) -> bool {
        span.file == self.items.main
    }

    /// A place, as the running job and the generated code name it.
    pub fn origin(&self, span: Span) -> Origin {
        if span.file.0 as usize >= self.sources.files().count() {
            return Origin::default();
        }
        let file = self.sources.file(span.file);
        let (line, column) = file.line_column(span.start);
        Origin { file: file.path.clone(), line, column, text: one_line(self.sources.text(span)) }
    }

    /// The text of a span on one line, shortened.
    pub fn text(&self, span: Span) -> String {
        match (span.file.0 as usize) < self.sources.files().count() {
            true => one_line(self.sources.text(span)),
            false => String::new(),
        }
    }
}

/// White space runs become one blank; at most about 80 characters are kept.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut line = String::with_capacity(text.len().min(LONGEST));
    let mut blank = false;
    let mut kept = 0;
    for (count, c) in text.chars().enumerate() {
        if count >= LONGEST * 4 || kept >= LONGEST {
            line.push('…');
            break;
        }
        match c.is_whitespace() {
            true => blank = !line.is_empty(),
            false => {
                if std::mem::take(&mut blank) {
                    line.push(' ');
                }
                line.push(c);
                kept += 1;
            }
        }
    }
    line
}
