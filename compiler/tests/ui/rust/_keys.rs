use millstream::prelude::*;

#[derive(Clone, Record)]
pub struct Rate {
    #[flow(key)]
    pub currency: String,
    pub rate: f64,
}

#[derive(Clone, Record)]
pub struct Plain {
    pub currency: String,
    pub rate: f64,
}

/// Its key is that of the sink, and cannot be one.
#[derive(Clone, Record, Sink)]
#[sink(of = averages, into = puts { url: "x" })]
pub struct Average {
    #[flow(key)]
    pub rates: Map<String, f64>,
    pub n: i64,
}

/// Puts rows under their key.
#[derive(Connector)]
#[flow(keyed)]
pub struct Puts {
    /// Where.
    pub url: String,
}

impl TableSinkConnector for Puts {}
