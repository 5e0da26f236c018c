use millstream::prelude::*;

/// Asks a web service again and again for what is new.
#[derive(Clone, Connector)]
#[flow(replayable)]
pub struct Poll {
    /// Where to ask.
    pub url: String,
    /// Who asks.
    pub token: Option<Secret>,
    /// How long an answer may take.
    #[flow(default = "30s")]
    pub wait: Duration,
    /// How to ask.
    #[flow(words = "get, post", default = "get")]
    pub method: String,
}

impl SourceConnector for Poll {}

/// Sends rows.
#[derive(Clone, Connector)]
#[flow(name = "batch", formats = "json, csv", exactly_once)]
pub struct HttpBatch {
    /// Where to send them.
    pub url: String,
    /// How much at once.
    #[flow(size, default = "64KB")]
    pub bytes: u64,
}

impl SinkConnector for HttpBatch {}

/// Keeps a table of a web service as the stream's.
#[derive(Clone, Connector)]
#[flow(keyed)]
pub struct Mirror {
    /// Where it is.
    pub url: String,
}

impl TableSinkConnector for Mirror {}
