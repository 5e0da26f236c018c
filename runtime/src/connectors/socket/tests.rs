//! Against a server in this process: lines in pieces, connections that end and break, a server that comes late or never.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::fetch::SocketFetcher;
use super::source::{SocketSource, SocketSplit};
use crate::formats::{Framing, JsonFormat};
use crate::options::Options;
use crate::source::fetch::{Fetched, SplitFetcher};
use millstream_macros::Record;

#[derive(Clone, Debug, Record)]
struct Row {
    #[allow(dead_code)]
    id: i64,
}

fn fetcher(address: &str, header: bool, give_up_after: Duration) -> SocketFetcher {
    let mut fetcher = SocketFetcher::new("lines", Framing::Lines, header, give_up_after);
    fetcher.add(SocketSplit { address: address.to_owned() }).unwrap();
    fetcher
}

fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Fetches until so many records are there.
fn take(fetcher: &mut SocketFetcher, count: usize) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut records: Vec<String> = Vec::new();
    while records.len() < count {
        assert!(Instant::now() < deadline, "only {records:?} came");
        match fetcher.fetch().unwrap() {
            Fetched::Chunk(_, chunk) => records.extend(
                chunk
                    .records
                    .iter()
                    .map(|&(at, len)| String::from_utf8_lossy(&chunk.bytes[at as usize..][..len as usize]).into()),
            ),
            Fetched::Nothing(wait) => std::thread::sleep(wait.min(Duration::from_millis(20))),
            Fetched::End(_) => panic!("a socket has no end"),
        }
    }
    records
}

fn accept(listener: &TcpListener, fetcher: &mut SocketFetcher) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(matches!(fetcher.fetch().unwrap(), Fetched::Nothing(_)));
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nodelay(true).unwrap();
            return stream;
        }
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn lines_come_whole_however_they_are_sent_and_over_several_connections() {
    let (listener, address) = listener();
    let mut fetcher = fetcher(&address, false, Duration::from_secs(30));
    let mut server = accept(&listener, &mut fetcher);
    server.write_all(b"one\ntw").unwrap();
    assert_eq!(take(&mut fetcher, 1), ["one"]);
    server.write_all(b"o\nthree\nfour").unwrap();
    assert_eq!(take(&mut fetcher, 2), ["two", "three"]);
    drop(server);
    assert_eq!(take(&mut fetcher, 1), ["four"], "closed in good order: the last line is whole");
    let mut server = accept(&listener, &mut fetcher);
    server.write_all(b"five\n").unwrap();
    assert_eq!(take(&mut fetcher, 1), ["five"]);
}

#[test]
fn each_connection_brings_its_header() {
    let (listener, address) = listener();
    let mut fetcher = fetcher(&address, true, Duration::from_secs(30));
    for _ in 0..2 {
        let mut server = accept(&listener, &mut fetcher);
        server.write_all(b"id,name\n1,x\n").unwrap();
        assert_eq!(take(&mut fetcher, 1), ["1,x"]);
    }
}

#[test]
fn a_server_may_come_late_but_not_never() {
    let (listener, address) = listener();
    drop(listener);
    let mut patient = fetcher(&address, false, Duration::from_secs(30));
    assert!(matches!(patient.fetch().unwrap(), Fetched::Nothing(_)));
    let late = TcpListener::bind(&address).unwrap();
    let mut server = accept(&late, &mut patient);
    server.write_all(b"at last\n").unwrap();
    assert_eq!(take(&mut patient, 1), ["at last"]);
    drop((late, server));

    let mut hasty = fetcher(&address, false, Duration::from_millis(200));
    let deadline = Instant::now() + Duration::from_secs(30);
    let error = loop {
        match hasty.fetch() {
            Err(error) => break error,
            Ok(_) => std::thread::sleep(Duration::from_millis(10)),
        }
        assert!(Instant::now() < deadline);
    };
    let message = error.message();
    assert!(message.starts_with(&format!("cannot connect to `{address}`: ")), "{message}");
    assert!(message.contains("attempts within 0 s (`give_up_after`); is a server listening"), "{message}");
}

#[test]
fn a_paused_split_is_not_read_from() {
    let (listener, address) = listener();
    let mut fetcher = fetcher(&address, false, Duration::from_secs(30));
    let mut server = accept(&listener, &mut fetcher);
    fetcher.set_paused(&address, true);
    server.write_all(b"one\n").unwrap();
    assert!(matches!(fetcher.fetch().unwrap(), Fetched::Nothing(_)));
    fetcher.set_paused(&address, false);
    assert_eq!(take(&mut fetcher, 1), ["one"]);
}

#[test]
fn an_address_has_a_host_and_a_port() {
    for address in ["localhost", ":9000", "localhost:", "localhost:http"] {
        let options = Options::new().with("address", address);
        let error = SocketSource::<Row, JsonFormat>::from_options(&options).unwrap_err();
        assert!(error.message().contains("write host and port"), "{error}");
    }
}
