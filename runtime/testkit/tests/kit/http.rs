//! The sink `http`: batches of JSON lines to a service in this process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options};
use millstream_http::HttpSink;
use millstream_testkit::{SinkClaims, SinkContext, sink_suite};

use super::file_sink::Row;

/// A service that keeps what it was sent.
pub struct Service {
    url: String,
    lines: Arc<Mutex<Vec<String>>>,
}

fn serve(stream: &TcpStream, lines: &Mutex<Vec<String>>) -> Option<()> {
    let mut input = BufReader::new(stream);
    let mut output = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if input.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let head = head.to_lowercase();
        let length = head.split("content-length: ").nth(1)?.lines().next()?.trim().parse().ok()?;
        let mut body = vec![0; length];
        input.read_exact(&mut body).ok()?;
        let body = String::from_utf8(body).ok()?;
        lines.lock().unwrap_or_else(PoisonError::into_inner).extend(body.lines().map(str::to_owned));
        output.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
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
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || serve(&stream, &kept));
            }
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
