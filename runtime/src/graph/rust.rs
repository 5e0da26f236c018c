//! What a job takes from Rust files of the user: `use rust "enrich.rs"`.
//!
//! Comes from reading the file; code generation compiles the file where it lies and calls into it.

use super::expr::{Expr, Origin};
use super::operation::StreamType;
use super::ty::Ty;
use crate::connectors::{self, ConnectorSpec};

/// A Rust file that becomes a module of the generated crate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RustModule {
    /// The path as the user named it.
    pub path: String,
    /// The crate whose file it is; None: it becomes a module of the generated crate.
    pub of_crate: Option<RustCrate>,
    /// What it makes known to the language.
    pub types: Vec<RustType>,
    pub connectors: Vec<RustConnector>,
    pub aggregates: Vec<RustAggregate>,
}

/// A crate that a pipeline takes items from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RustCrate {
    /// As Rust calls it.
    pub name: String,
    pub package: String,
    /// The folder of its manifest.
    pub folder: String,
    /// Its features that are on.
    pub features: Vec<String>,
    /// The modules around the file.
    pub within: Vec<String>,
}

/// An aggregate of the user's own: a struct that is an accumulator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RustAggregate {
    /// As the language calls it.
    pub name: String,
    pub signature: String,
    pub doc: String,
    /// Modules within the file, then the name of its struct.
    pub path: Vec<String>,
    pub result: Ty,
}

/// A connector of the user's own: a struct whose fields are its options.
#[derive(Clone, Debug)]
pub struct RustConnector {
    /// Name, options, formats, and what it promises.
    pub spec: &'static ConnectorSpec,
    /// Modules within the file, then the name of its struct.
    pub path: Vec<String>,
    /// Streams are written to it as plain rows; else as changes, as tables are.
    pub plain_rows: bool,
}

// Descriptors are kept once, see `connectors::described`.
impl PartialEq for RustConnector {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.spec, other.spec) && self.path == other.path
    }
}

impl Eq for RustConnector {}

impl std::hash::Hash for RustConnector {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.spec.name.hash(state);
        self.path.hash(state);
    }
}

/// The connector of this name: the user's own, or a built-in one.
pub fn find_connector(modules: &[RustModule], name: &str) -> Option<&'static ConnectorSpec> {
    let own = modules.iter().flat_map(|module| &module.connectors).find(|own| own.spec.name == name);
    own.map(|own| own.spec).or_else(|| connectors::find(name))
}

/// A struct or enum that the user annotated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RustType {
    /// Modules within the file, then the name.
    pub path: Vec<String>,
    /// The record or enum that it is in the language.
    pub ty: Ty,
    /// The fields of the struct in the order of the columns, or the variants of the enum in the order of the values.
    pub members: Vec<String>,
}

/// A function in a Rust file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RustFunction {
    /// Index into `JobGraph::rust`.
    pub module: usize,
    /// Modules within the file, then the name.
    pub path: Vec<String>,
    /// How each parameter is handed over.
    pub params: Vec<Passing>,
    /// The return type is a `Result`: an error is an evaluation error.
    pub fallible: bool,
    /// The value is an iterator whose items make the list.
    pub iterator: bool,
    /// It is an `async fn`; None: it gives its value at once.
    pub waits: Option<Waits>,
    /// The signature in the file.
    pub origin: Origin,
}

/// How an `async fn` is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waits {
    /// So many calls may be on their way, in each subtask.
    pub in_flight: u64,
    /// How long an answer may take, in microseconds.
    pub timeout: i64,
    /// Rows come out as they came in, not as answers come.
    pub ordered: bool,
    /// How often a call that has failed is made again.
    pub retries: u64,
    /// The pause before the first of them, in microseconds; each further one is twice as long.
    pub backoff: i64,
}

impl Waits {
    /// Of a function that says nothing of it.
    pub const DEFAULT: Waits = Waits { in_flight: 100, timeout: 30_000_000, ordered: true, retries: 0, backoff: 100_000 };

    /// Of an expression in which two functions are called one after the other. Each makes its own calls again.
    #[must_use]
    pub fn and(self, other: Waits) -> Waits {
        Waits {
            in_flight: self.in_flight.min(other.in_flight),
            timeout: self.timeout.saturating_add(other.timeout),
            ordered: self.ordered || other.ordered,
            retries: self.retries.max(other.retries),
            backoff: self.backoff.max(other.backoff),
        }
    }
}

/// A call of an `async fn`, or an expression in which some are called where their values are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct CallAsyncOperation {
    /// The call.
    pub call: Expr,
    /// The column for its value.
    pub name: String,
    /// The function, as the language calls it.
    pub function: String,
    pub waits: Waits,
}

/// How an argument reaches a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// As generated code holds it: `&str`, `&[u8]`, numbers, and options of them.
    AsIs,
    /// A value of the parameter's own type.
    Value,
    /// A reference to one.
    Reference,
    /// A slice of converted elements.
    Slice,
    /// `Option<&T>`
    OptionalReference,
}

/// Rows of several streams as one: an enum of their records. In the columns of the input, all but one of these are null.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumInput {
    /// The enum: modules within the file, then its name.
    pub path: Vec<String>,
    pub variants: Vec<EnumVariant>,
}

/// The rows of one of the streams.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumVariant {
    pub name: String,
    /// The column that holds them.
    pub column: String,
    /// Their record.
    pub record: Ty,
}

/// `with blocks by country`, `with broadcast rules`: a second stream that an operator takes.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondInput {
    /// The record of its rows; of several streams the first.
    pub input: Ty,
    /// Its rows are those of several streams.
    pub of: Option<EnumInput>,
    /// None: its rows come to every subtask.
    pub keyed: Option<KeyedInput>,
}

/// A second stream whose rows go where those of the first with the same key go.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedInput {
    pub keys: Vec<Expr>,
    /// The time column.
    pub time: Option<Expr>,
    /// The enum of both rows: modules within the file, then its name.
    pub path: Vec<String>,
    /// Its variants, for the first and for the second stream.
    pub variants: [String; 2],
}

/// `side into calm`, `side Odd into odd`: rows that an operator sends beside its own.
#[derive(Clone, Debug, PartialEq)]
pub struct SideOutput {
    /// The variant of its enum; None: the operator has one side output.
    pub variant: Option<String>,
    pub rows: StreamType,
}

impl SideOutput {
    /// `side rows`, `side rows of Odd`
    pub fn text(&self) -> String {
        self.variant.as_ref().map_or("side rows".to_owned(), |variant| format!("side rows of {variant}"))
    }
}

/// An operator in a Rust file, and what it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessOperation {
    /// Index into `JobGraph::rust`.
    pub module: usize,
    /// Modules within the file, then the name of its struct.
    pub path: Vec<String>,
    /// What state and timers belong to. Empty: all rows in one place, unless it keeps nothing.
    pub keys: Vec<Expr>,
    /// It has no state, no timers, nothing beside the keys and nothing to do at the end: each row is seen to by itself.
    pub stateless: bool,
    /// The fields of its struct, each with a value that is known when the job starts.
    pub options: Vec<(String, Expr)>,
    /// Fields that are not given have their default.
    pub defaults: bool,
    /// The struct has no fields and no braces.
    pub unit: bool,
    /// The record that it takes; the columns of the input have the names of its fields. Of several streams the first.
    pub input: Ty,
    /// Its rows are those of several streams, two that are told apart by where they come from aside (see `SecondInput::keyed`).
    pub of: Option<EnumInput>,
    /// Its second input, if it has one.
    pub second: Option<SecondInput>,
    /// The record that it makes.
    pub output: Ty,
    /// What goes out beside its rows.
    pub sides: Vec<SideOutput>,
    /// The time column of its input.
    pub time: Option<Expr>,
    /// `event`, `clock`: the timers that it hears of.
    pub timers: Vec<String>,
}

impl ProcessOperation {
    /// Whether rows need not come to one place, nor by key: it is like a `select`, and runs in the chain before it.
    pub fn takes_rows_anywhere(&self) -> bool {
        self.stateless && self.keys.is_empty()
    }
}
