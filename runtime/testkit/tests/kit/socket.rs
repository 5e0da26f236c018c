//! The socket source: a server in this process, one connection, lines that are sent once.

use std::io::{ErrorKind, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use millstream::connectors::socket::SocketSource;
use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options, Record};
use millstream_testkit::{Boundedness, Delivery, SourceClaims, SourceContext, Splits, source_suite};

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Number {
    pub number: i64,
}

/// A server that sends what is written to whoever is connected, or to the next who is.
pub struct Server {
    address: String,
    rows: AtomicI64,
    unsent: Arc<Mutex<String>>,
}

/// Whether the other side has closed the connection; what it says is of no interest.
fn is_closed(client: &TcpStream) -> bool {
    match client.peek(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

/// Sends until the store is gone.
fn serve(listener: &TcpListener, unsent: &Weak<Mutex<String>>) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut client: Option<TcpStream> = None;
    while let Some(unsent) = unsent.upgrade() {
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true)?;
            client = Some(stream);
        }
        client = client.filter(|client| !is_closed(client));
        if let Some(client) = &mut client {
            let text = std::mem::take(&mut *unsent.lock().unwrap_or_else(PoisonError::into_inner));
            client.set_nonblocking(false)?;
            // Lost if the reader has just gone: it is told at most once.
            let _ = client.write_all(text.as_bytes());
            client.set_nonblocking(true)?;
        }
        drop(unsent);
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

impl SourceContext for Server {
    type Source = SocketSource<Number, JsonFormat>;
    const NAME: &'static str = "socket";
    const CLAIMS: SourceClaims =
        SourceClaims { delivery: Delivery::AtMostOnce, boundedness: Boundedness::Unbounded, splits: Splits::One, grows: true };

    fn open() -> JobResult<Self> {
        let failed = |error: std::io::Error| JobError::io("no server", &error);
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?.to_string();
        let unsent = Arc::default();
        let sent = Arc::downgrade(&unsent);
        std::thread::spawn(move || serve(&listener, &sent));
        Ok(Server { address, rows: AtomicI64::new(0), unsent })
    }

    fn write(&self, _split: u32, rows: u32) -> JobResult<Vec<Number>> {
        let first = self.rows.fetch_add(i64::from(rows), SeqCst);
        let rows: Vec<_> = (first..first + i64::from(rows)).map(|number| Number { number }).collect();
        let lines: String = rows.iter().map(|row| format!("{{\"number\":{}}}\n", row.number)).collect();
        self.unsent.lock().unwrap_or_else(PoisonError::into_inner).push_str(&lines);
        Ok(rows)
    }

    fn source(&self, _bounded: bool) -> JobResult<Self::Source> {
        SocketSource::from_options(&Options::new().with("address", self.address.clone()))
    }
}

source_suite!(Server);
