use std::time::Duration as StdDuration;
use millstream::prelude::*;

#[derive(Connector)]
pub struct Undocumented {
    pub url: String,
}

/// Has an option without a comment, and one of another type.
#[derive(Connector)]
#[flow(bounde)]
pub struct Half {
    pub url: String,
    /// A path.
    #[flow(defalt = "x")]
    pub path: String,
}

/// Its options have types that no option has.
#[derive(Connector)]
pub struct Typed {
    /// How long.
    pub wait: StdDuration,
}

/// Its default is no duration.
#[derive(Connector)]
pub struct Defaulted {
    /// How long.
    #[flow(default = 30)]
    pub wait: Duration,
}

impl SourceConnector for Typed {}
impl SourceConnector for Defaulted {}
impl SourceConnector for File {}

/// Neither reads nor writes.
#[derive(Connector)]
pub struct Idle;

/// Has the name of another.
#[derive(Connector)]
pub struct File;

/// Takes a format that is not there.
#[derive(Connector)]
#[flow(formats = "json, xml")]
pub struct Formats;
impl SinkConnector for Formats {}

/// Has an option that all have.
#[derive(Connector)]
pub struct Taken {
    /// The format.
    pub format: String,
    /// When.
    #[flow(every)]
    pub number: u64,
}

/// Takes no tables.
#[derive(Connector)]
#[flow(keyed)]
pub struct Keyed;
impl SinkConnector for Keyed {}
