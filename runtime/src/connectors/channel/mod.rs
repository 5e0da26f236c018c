//! `channel`: rows from and to the program that runs the job.
//!
//! A program that starts the job holds a [`Sender`] for each such source and a [`Receiver`] for each such sink. The job finds
//! its ends of them in the [`Channels`] that it is started with.

#[cfg(feature = "engine")]
mod channels;
#[cfg(feature = "engine")]
mod queue;
#[cfg(feature = "engine")]
mod receiver;
#[cfg(feature = "engine")]
mod sender;
#[cfg(feature = "engine")]
mod sink;
#[cfg(feature = "engine")]
mod source;
#[cfg(all(test, feature = "engine"))]
mod tests;

#[cfg(feature = "engine")]
pub use {
    channels::Channels,
    receiver::{Receiver, TryReceive},
    sender::{Closed, Sender, TrySend},
    sink::{ChannelSink, ChannelWriter},
    source::{ChannelReader, ChannelSource, ChannelSplit},
};

use super::{ConnectorSpec, OptionSpec, OptionTy, SinkSpec, SourceSpec};

/// What it is called: the compiler lets it stand only in a job that is part of a program.
pub const NAME: &str = "channel";

/// Rows that wait where `capacity` is not given.
pub const CAPACITY: u64 = 1024;

const CAPACITY_OPTION: OptionSpec =
    OptionSpec::optional("capacity", OptionTy::Count, "1024", "Rows that wait at most: a sender waits while there are so many.");

/// The connector.
pub static SPEC: ConnectorSpec = ConnectorSpec {
    name: NAME,
    feature: None,
    doc: "The Rust program that the job is part of (`flow!`, `include_flow!`, `millstream_build`): it sends rows and receives them. \
          One reader reads what is sent, whatever the parallelism. In a job with checkpoints rows since the last one are kept and \
          given again when the job starts again within the program; when the program ends they are gone.",
    source: Some(SourceSpec {
        rust: "millstream::connectors::channel::ChannelSource",
        options: &[CAPACITY_OPTION],
        formats: &[],
        replayable: false,
        bounded: |_| false,
        columns: None,
    }),
    sink: Some(SinkSpec {
        rust: "millstream::connectors::channel::ChannelSink",
        options: &[CAPACITY_OPTION],
        formats: &[],
        accepts_tables: true,
        needs_key: false,
        exactly_once: false,
    }),
    lookup: None,
};
