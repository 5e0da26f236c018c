//! Answers HTTP requests with the metrics, one after the other, on a thread of its own.
//!
//! No more of HTTP than a scraper needs: one short request per connection, `GET /metrics`.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use crate::error::{JobError, JobResult};

/// A client that is slower is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest request that is read.
const LONGEST: usize = 16 * 1024;

/// A listening server; it ends when dropped.
#[derive(Debug)]
pub(crate) struct MetricsServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl MetricsServer {
    /// Listens on an address such as `127.0.0.1:9249`.
    pub(crate) fn start(address: &str, render: impl Fn() -> String + Send + 'static) -> JobResult<Self> {
        let failed = |error: &std::io::Error| {
            let hint = match error.kind() {
                std::io::ErrorKind::AddrInUse => "; give another port, or 0 for any that is free",
                std::io::ErrorKind::InvalidInput => "; it takes a host and a port, such as 127.0.0.1:9249",
                _ => "",
            };
            JobError::usage(format!("cannot show metrics on `{address}`: {error}{hint}"))
        };
        let listener = TcpListener::bind(address).map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().name("metrics".to_owned());
        let spawned = thread.spawn(move || {
            for client in listener.incoming() {
                if stopped.load(SeqCst) {
                    return;
                }
                match client {
                    // A client that is gone or slow is its own trouble.
                    Ok(client) => drop(answer(client, &render)),
                    // No more files may be open, perhaps: that does not pass at once.
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            }
        });
        spawned.map_err(|error| JobError::io("cannot start the thread that shows metrics", &error))?;
        Ok(MetricsServer { address, stop })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        // Wakes the thread up.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(100));
    }
}

fn answer(mut client: TcpStream, render: &impl Fn() -> String) -> std::io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = client.read(&mut part)?;
        if read == 0 || request.len() > LONGEST {
            return Ok(());
        }
        request.extend_from_slice(&part[..read]);
    }
    let line = String::from_utf8_lossy(&request);
    let mut words = line.split_ascii_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    let (status, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", render()),
        ("GET" | "HEAD", _) => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes())?;
    if method != "HEAD" {
        client.write_all(body.as_bytes())?;
    }
    client.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &MetricsServer, request: &str) -> String {
        let mut client = TcpStream::connect(server.address()).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn only_metrics_are_answered() {
        let server = MetricsServer::start("127.0.0.1:0", || "rows 1\n".to_owned()).unwrap();
        let good = ask(&server, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(
            good.starts_with("HTTP/1.1 200 OK\r\n") && good.ends_with("Content-Length: 7\r\nConnection: close\r\n\r\nrows 1\n")
        );
        assert!(ask(&server, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(ask(&server, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        // One that says nothing holds nobody up for long.
        drop(TcpStream::connect(server.address()).unwrap());
        assert!(ask(&server, "HEAD /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
        let error = MetricsServer::start(&server.address().to_string(), String::new).unwrap_err();
        assert!(error.message().contains("give another port"), "{error}");
        let error = MetricsServer::start("9249", String::new).unwrap_err();
        assert!(error.message().starts_with("cannot show metrics on `9249`: "), "{error}");
    }
}
