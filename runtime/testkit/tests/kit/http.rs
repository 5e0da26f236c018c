//! The sink `http`: batches of JSON lines to a service in this process.

use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options};
use millstream_http::HttpSink;
use millstream_testkit::files::Row;
use millstream_testkit::http::{Reply, serve};
use millstream_testkit::{SinkClaims, SinkContext, sink_suite};

/// A service that keeps what it was sent.
pub struct Service {
    url: String,
    lines: Arc<Mutex<Vec<String>>>,
}

impl SinkContext for Service {
    type Row = Row;
    type Sink = HttpSink<Row, JsonFormat>;
    const NAME: &'static str = "http";
    const CLAIMS: SinkClaims = SinkClaims::AT_LEAST_ONCE;

    fn open() -> JobResult<Self> {
        let failed = |error: std::io::Error| JobError::io("no service", &error);
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let url = format!("http://{}/rows", listener.local_addr().map_err(failed)?);
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = lines.clone();
        serve(listener, move |request| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).extend(request.body.lines().map(str::to_owned));
            Reply::Answer("200 OK\r\ncontent-length: 0\r\n\r\n".to_owned())
        });
        Ok(Service { url, lines })
    }

    fn address(&self) -> String {
        self.url.clone()
    }

    fn at(address: &str) -> JobResult<Self> {
        Ok(Service { url: address.to_owned(), lines: Arc::default() })
    }

    fn row(&self, number: u64) -> Row {
        Row::of(number)
    }

    fn sink(&self) -> JobResult<Self::Sink> {
        HttpSink::from_options(&Options::new().with("url", self.url.clone()).with("batch", 50_i64))
    }

    fn read(&self) -> JobResult<Vec<Row>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|line| Row::parse(line)).collect()
    }
}

sink_suite!(Service);
