//! What Rust files of a pipeline name: `use millstream::prelude::*;`.

pub use crate::aggregates::{Accumulator, Retract};
pub use crate::connectors::own::{Connector, Secret, SinkConnector, SourceConnector, TableKey, TableSinkConnector};
pub use crate::error::{JobError, JobResult};
pub use crate::formats::Format;
pub use crate::operator::Failure;
pub use crate::operators::{Context, NoBroadcast, NoSide, Process, SharedContext, SideOutputs};
pub use crate::record::{Change, ChangeKind, Record};
pub use crate::state::kinds::{AggregatingState, ListState, MapState, Reduce, ReducingState, ValueState};
pub use crate::state::{BroadcastState, OperatorList, Shared, State, UnionList};
pub use crate::value::{Bytes, Date, Decimal, Duration, EvalError, Json, Map, Str, Time, Timestamp, Uuid};
pub use crate::waiting::{blocking, sleep};
pub use millstream_macros::{Connector, Record, Shared, SideOutputs, Sink, Source, State, aggregate, function, operator};
