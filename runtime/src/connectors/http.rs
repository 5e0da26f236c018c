//! `http`: a sink that posts batches of rows to a web service, and a table that is asked there key by key. The descriptor: the
//! code is in the crate `millstream-http`, which only pipelines that use it compile.

use super::{ConnectorSpec, LookupSpec, OptionSpec, OptionTy, SinkSpec};

/// The connector.
pub static SPEC: ConnectorSpec = ConnectorSpec {
    name: "http",
    doc: "A web service. A sink posts batches of rows to it, as JSON lines. Every row arrives at least once: after a failure those \
          since the last checkpoint are sent again. A lookup gets the rows of a key: an object, or a list of them; 404 means that \
          there are none. Answers 408, 429 and 5xx, refused connections and time-outs are tried again with growing pauses; any \
          other refusal ends the job.",
    feature: Some("http"),
    source: None,
    lookup: Some(LookupSpec {
        rust: "millstream::http::HttpLookup",
        options: &[
            OptionSpec::required(
                "url",
                OptionTy::String,
                "What to get, with each column of the key in braces: `https://example.com/rates/{currency}`.",
            ),
            OptionSpec::optional(
                "authorization",
                OptionTy::String,
                "",
                "The header of that name, such as `$TOKEN` with `Bearer ..` in it.",
            ),
            OptionSpec::optional("in_flight", OptionTy::Int, "16", "Requests at the same time, per subtask."),
            OptionSpec::optional("timeout", OptionTy::Duration, "10s", "How long a request may take; then it is made again."),
            OptionSpec::optional(
                "retries",
                OptionTy::Int,
                "5",
                "How often a key is asked for again, after 100 ms, 200 ms and so on up to 30 s, or when the service says \
                 (Retry-After). Then the job fails, and restarts if it may.",
            ),
        ],
        formats: &["json"],
        by_key: true,
    }),
    sink: Some(SinkSpec {
        rust: "millstream::http::HttpSink",
        options: &[
            OptionSpec::required(
                "url",
                OptionTy::String,
                "Where to: `https://example.com/rows`, or `$URL` from the environment.",
            ),
            OptionSpec::optional(
                "authorization",
                OptionTy::String,
                "",
                "The header of that name, such as `$TOKEN` with `Bearer ..` in it.",
            ),
            OptionSpec::optional("batch", OptionTy::Int, "500", "Rows in a request, at most."),
            OptionSpec::optional("batch_bytes", OptionTy::Size, "4MB", "Bytes in a request, at most."),
            OptionSpec::optional("max_row", OptionTy::Size, "1MB", "Bytes of one row, at most; a larger one ends the job."),
            OptionSpec::optional("flush_after", OptionTy::Duration, "1s", "How long a row waits for a batch to fill."),
            OptionSpec::optional("in_flight", OptionTy::Int, "4", "Requests at the same time, per subtask."),
            OptionSpec::optional(
                "buffer",
                OptionTy::Int,
                "10000",
                "Rows that may wait in memory, per subtask; when it is full, the pipeline waits. More than `batch`.",
            ),
            OptionSpec::optional("timeout", OptionTy::Duration, "30s", "How long a request may take; then it is made again."),
            OptionSpec::optional(
                "retries",
                OptionTy::Int,
                "10",
                "How often a row is sent again, after 100 ms, 200 ms and so on up to 30 s, or when the service asks for it \
                 (Retry-After). Then the job fails, and restarts if it may.",
            ),
        ],
        formats: &["json", "text"],
        accepts_tables: false,
        needs_key: false,
        exactly_once: false,
    }),
};
