//! What a checkpoint takes from the operators of one subtask.
//!
//! Taking it is cheap: parts share the state with the operator, which encodes what it wants to change before it has its turn.

use std::fmt;
use std::sync::Arc;

use crate::checkpoint::{Piece, without_defaults};
use crate::error::JobResult;

/// Collects the state of all operators of a chain for one checkpoint.
#[derive(Debug)]
pub struct SnapshotBuilder {
    checkpoint: u64,
    form: Form,
    operators: Vec<OperatorSnapshot>,
}

/// How keyed state goes into a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All of it, by itself.
    Whole,
    /// In [pieces](crate::checkpoint::pieces).
    Pieces {
        /// The checkpoint.
        checkpoint: u64,
        /// What has changed since this one, which was the last that was taken; 0: everything, for others to build upon.
        since: u64,
    },
}

impl SnapshotBuilder {
    /// Of this checkpoint.
    pub fn new(checkpoint: u64) -> Self {
        SnapshotBuilder { checkpoint, form: Form::Whole, operators: Vec::new() }
    }

    /// Of this checkpoint, with keyed state in pieces: what has changed since `since`, which was the last that was taken; 0: everything.
    pub fn in_pieces(checkpoint: u64, since: u64) -> Self {
        SnapshotBuilder::of(checkpoint, Form::Pieces { checkpoint, since })
    }

    /// Of this checkpoint, with keyed state in this form.
    pub fn of(checkpoint: u64, form: Form) -> Self {
        SnapshotBuilder { checkpoint, form, operators: Vec::new() }
    }

    /// The number of the checkpoint.
    pub fn checkpoint(&self) -> u64 {
        self.checkpoint
    }

    /// The place for the state of this operator.
    pub fn operator(&mut self, uid: &Arc<str>) -> &mut OperatorSnapshot {
        self.operators.push(OperatorSnapshot { uid: uid.clone(), states: Vec::new(), form: self.form });
        let last = self.operators.len() - 1;
        &mut self.operators[last]
    }

    /// Operators that have state, in the order of the chain.
    pub fn into_operators(self) -> Vec<OperatorSnapshot> {
        self.operators.into_iter().filter(|operator| !operator.states.is_empty()).collect()
    }
}

/// The state of one operator of one subtask.
#[derive(Debug)]
pub struct OperatorSnapshot {
    /// Whose state it is.
    pub uid: Arc<str>,
    /// An operator may have several.
    pub states: Vec<StateSnapshot>,
    form: Form,
}

impl OperatorSnapshot {
    /// How keyed state is wanted. Whatever comes as a whole is right, too.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Adds state that goes with keys: it follows its key group when the parallelism changes.
    pub fn keyed(&mut self, name: &str, schema: String, groups: Vec<KeyGroupPart>) {
        self.states.push(StateSnapshot::new(name, &schema, StateParts::Keyed(groups)));
    }

    /// The same in pieces: one for each key group, also of those that have nothing.
    pub fn in_pieces(&mut self, name: &str, schema: String, groups: Vec<KeyGroupPart>) {
        self.states.push(StateSnapshot::new(name, &schema, StateParts::Pieces(groups)));
    }

    /// Adds state that goes with no key: items are dealt out anew when the parallelism changes.
    pub fn list(&mut self, name: &str, schema: String, items: Vec<Vec<u8>>) {
        self.states.push(StateSnapshot::new(name, &schema, StateParts::List(items)));
    }

    /// Adds state that goes with no key, as `encode` gives its items later.
    pub fn shared(
        &mut self,
        name: &str,
        schema: String,
        spread: Spread,
        encode: impl FnOnce() -> JobResult<Vec<Vec<u8>>> + Send + 'static,
    ) {
        let parts = StateParts::Shared(spread, SharedItems(Box::new(encode)));
        self.states.push(StateSnapshot::new(name, &schema, parts));
    }
}

/// One named state.
#[derive(Debug)]
pub struct StateSnapshot {
    /// Unique in its operator.
    pub name: String,
    /// The types in it: compared at restore.
    pub schema: String,
    /// The data.
    pub parts: StateParts,
}

impl StateSnapshot {
    fn new(name: &str, schema: &str, parts: StateParts) -> Self {
        StateSnapshot { name: name.to_owned(), schema: without_defaults(schema).into_owned(), parts }
    }
}

/// The data of a state.
#[derive(Debug)]
pub enum StateParts {
    /// One part per key group that has any.
    Keyed(Vec<KeyGroupPart>),
    /// Pieces of key groups.
    Pieces(Vec<KeyGroupPart>),
    /// Encoded items.
    List(Vec<Vec<u8>>),
    /// Items that are not encoded yet, and who gets them.
    Shared(Spread, SharedItems),
}

/// Who gets items of a state without key after a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Each goes to one subtask: the one that had it, or with another parallelism the next in turn.
    Deal,
    /// Every subtask gets all.
    All,
    /// Every subtask has the same; a new one gets the copy of an old one.
    Copy,
}

/// Items that wait to be encoded.
pub struct SharedItems(Box<dyn FnOnce() -> JobResult<Vec<Vec<u8>>> + Send>);

impl SharedItems {
    /// Encodes them, on any thread.
    pub fn encode(self) -> JobResult<Vec<Vec<u8>>> {
        (self.0)()
    }
}

impl fmt::Debug for SharedItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedItems")
    }
}

/// The state of one key group.
pub struct KeyGroupPart {
    /// The number of the key group.
    pub group: u16,
    /// Encodes it, on any thread.
    pub part: Arc<dyn EncodePart>,
    /// What a piece says of itself, and about how many bytes it has in memory until it is encoded. None: it is no piece.
    piece: Option<(Piece, usize)>,
}

impl KeyGroupPart {
    /// The state of a key group, which `encode` appends to its argument.
    pub fn new(group: u16, encode: impl Fn(&mut Vec<u8>) -> JobResult<()> + Send + Sync + 'static) -> Self {
        KeyGroupPart { group, part: Arc::new(Encoder(encode)), piece: None }
    }

    /// A piece of a key group, which `encode` appends to its argument, once. `weight`: about how many bytes it has in memory until then.
    pub fn piece(
        group: u16,
        piece: Piece,
        weight: usize,
        encode: impl Fn(&mut Vec<u8>) -> JobResult<()> + Send + Sync + 'static,
    ) -> Self {
        KeyGroupPart { piece: Some((piece, weight)), ..KeyGroupPart::new(group, encode) }
    }

    /// What a piece says of itself, and its weight.
    pub(crate) fn as_piece(&self) -> Option<(Piece, usize)> {
        self.piece
    }
}

impl fmt::Debug for KeyGroupPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyGroupPart").field("group", &self.group).finish_non_exhaustive()
    }
}

/// State that waits to be encoded.
pub trait EncodePart: Send + Sync {
    /// Appends the encoded state. What lies on disk may not be readable.
    fn encode(&self, out: &mut Vec<u8>) -> JobResult<()>;
}

struct Encoder<F>(F);

impl<F: Fn(&mut Vec<u8>) -> JobResult<()> + Send + Sync> EncodePart for Encoder<F> {
    fn encode(&self, out: &mut Vec<u8>) -> JobResult<()> {
        (self.0)(out)
    }
}
