//! What generated code may name: `use millstream::codegen::*`.
//!
//! Hidden from the documentation: its users are the code generator and the derive macros.

pub use crate::aggregates::{Accumulator, Retract};
pub use crate::chain::{Chain, ChainBuilder, SourceConfig};
pub use crate::connectors::own::{
    Connector, SinkConnector, SourceConnector, derived as connector, own_sink, own_source, own_stream_sink, own_table_sink,
};
pub use crate::error::{JobError, JobResult};
#[cfg(feature = "zones")]
pub use crate::graph::CalendarUnit;
pub use crate::graph::{ErrorPolicy, Frame, JoinKind, Side};
pub use crate::lookup;
pub use crate::operator::*;
pub use crate::operators::*;
pub use crate::options::Options;
pub use crate::params::{ParamSpec, ParamValues, environment};
pub use crate::record::{Change, ChangeKind, FieldError, Key, Record, key_hash};
pub use crate::sink::Sink;
pub use crate::source::hybrid::{Hybrid, Summary, Switch, raise, raise_to};
pub use crate::source::{Between, ErasedSource, Source, erase_source};
pub use crate::state::kinds::{AggregatingState, ListState, MapState, Reduce, ReducingState, ValueState};
pub use crate::state::{BroadcastState, OperatorList, Shared, SharedState, State, StateError, StateReader, UnionList};
#[cfg(feature = "zones")]
pub use crate::time::Calendar;
pub use crate::time::{Cumulative, Global, Sliding, Tumbling, WindowBounds};
pub use crate::value::compare::Compare;
pub use crate::value::logic::contains_or_null;
pub use crate::value::text::{Print, format as concat_text, like, text};
pub use crate::value::{
    AsKey, At, Bytes, Convert, Date, Decimal, Duration, EvalError, FloatKey, Json, Map, ParseError, Regex, RequiredAt, Str, Time,
    Timestamp, Uuid, arith, cast, compare, dynamic_pattern, list_get, logic, pattern, required,
};
pub use crate::{aggregates, formats, functions};
pub use crate::{flow_enum, format_text};
pub use millstream_macros::{Record, Shared, SideOutputs, State};
pub use std::cmp::Reverse;

/// What derived code names.
pub mod derive {
    pub use crate::formats::json::JsonReader;
    pub use crate::graph::TimeUnit;
    pub use crate::record::derived::*;
    pub use crate::record::enumeration::enum_is_copied;
    pub use crate::record::{CellWriter, Column, FieldError, Record, Row, Slot, Value};
    pub use crate::state::{StateError, StateReader, default_in_schema};
    pub use crate::value::Str;
    pub use crate::value::compare::Compare;
}
