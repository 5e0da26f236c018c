//! A small web service for tests of sinks and lookups that talk to one: no more of HTTP than they need.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// A request, read to its end.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its first line and its headers, in lower case; each line ends with `\r\n`.
    pub head: String,
    /// The body.
    pub body: String,
}

/// What the service does with a request. Answers are status, headers, an empty line and a body: `204 No Content\r\n\r\n`.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answers, and goes on with the connection.
    Answer(String),
    /// Answers, and closes the connection without having said so.
    LastAnswer(String),
    /// Closes the connection.
    BreakOff,
}

/// Answers the requests of any number of connections, each on a thread of its own, until the process ends.
pub fn serve(listener: TcpListener, reply: impl Fn(Request) -> Reply + Send + Sync + 'static) {
    let reply = Arc::new(reply);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let reply = reply.clone();
            std::thread::spawn(move || connection(&stream, &*reply));
        }
    });
}

/// Ends with the connection.
fn connection(stream: &TcpStream, reply: &impl Fn(Request) -> Reply) -> Option<()> {
    let (mut input, mut output) = (BufReader::new(stream), stream);
    loop {
        let (text, last) = match reply(request(&mut input)?) {
            Reply::Answer(text) => (text, false),
            Reply::LastAnswer(text) => (text, true),
            Reply::BreakOff => return None,
        };
        output.write_all(format!("HTTP/1.1 {text}").as_bytes()).ok()?;
        if last {
            return None;
        }
    }
}

/// The next request; None: there is none any more. Without a length it has no body.
fn request(input: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if input.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|text| text.lines().next()).unwrap_or("0").trim().parse().ok()?;
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    Some(Request { head, body: String::from_utf8(body).ok()? })
}
