//! The service that the connectors talk to: a log of partitions, and a table that rows are staged for and committed to.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use millstream::{JobError, JobResult};
use millstream_testkit::http::{Reply, Request, serve};

#[derive(Default)]
struct Store {
    partitions: Vec<Vec<String>>,
    staged: BTreeMap<String, String>,
    /// Checkpoint, id, rows.
    committed: Vec<(u64, String, String)>,
}

impl Store {
    /// The rows that were added, and those of keys that stand.
    fn table(&self) -> Vec<String> {
        let (mut rows, mut by_key) = (Vec::new(), BTreeMap::new());
        for line in self.committed.iter().flat_map(|(.., rows)| rows.lines()) {
            match (line.strip_prefix('+').and_then(|line| line.split_once('\t')), line.strip_prefix('-')) {
                (Some((key, row)), _) => drop(by_key.insert(key, row.to_owned())),
                (None, Some(key)) => drop(by_key.remove(key)),
                (None, None) => rows.push(line.to_owned()),
            }
        }
        rows.extend(by_key.into_values());
        rows
    }
}

#[derive(Default)]
struct Shared {
    store: Mutex<Store>,
    grown: Condvar,
}

impl Shared {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs until the process ends.
pub struct Service {
    pub url: String,
    shared: Arc<Shared>,
}

impl Service {
    pub fn start() -> JobResult<Self> {
        let failed = |error: std::io::Error| JobError::io("no service", &error);
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let url = format!("http://{}", listener.local_addr().map_err(failed)?);
        let shared = Arc::<Shared>::default();
        let own = shared.clone();
        serve(listener, move |request| answer(&own, &request));
        Ok(Service { url, shared })
    }

    /// Adds a row to a partition, which is made where it is not there.
    pub fn add(&self, partition: usize, row: String) {
        let mut store = self.shared.store();
        while store.partitions.len() <= partition {
            store.partitions.push(Vec::new());
        }
        store.partitions[partition].push(row);
        self.shared.grown.notify_all();
    }

    /// The rows that can be seen.
    #[allow(dead_code, reason = "each test file uses a part of this")]
    pub fn table(&self) -> Vec<String> {
        self.shared.store().table()
    }
}

/// `after` in `/0?after=7&rows=100`
fn number(query: &str, name: &str) -> u64 {
    let value = query.split(['?', '&', ' ']).find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn answer(shared: &Shared, request: &Request) -> Reply {
    let line = request.head.lines().next().unwrap_or_default();
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (status, body) = match (method, path.trim_start_matches('/').split_once('/')) {
        ("put", Some(("staged", id))) => {
            shared.store().staged.insert(id.to_owned(), request.body.clone());
            (200, String::new())
        }
        ("post", Some(("commit", id))) => commit(&mut shared.store(), id, number(query, "checkpoint")),
        ("post", None) if path == "/discard" => {
            let (mut store, after) = (shared.store(), number(query, "after"));
            store.staged.retain(|id, _| request.body.lines().any(|waiting| waiting == id));
            store.committed.retain(|(checkpoint, ..)| *checkpoint <= after);
            (200, String::new())
        }
        ("get", None) if path == "/table" => (200, shared.store().table().into_iter().map(|row| row + "\n").collect()),
        ("get", None) if path == "/" => (200, shared.store().partitions.len().to_string()),
        ("get", None) => (200, rows(shared, path.trim_start_matches('/').parse().unwrap_or(usize::MAX), query)),
        _ => (404, format!("nothing answers `{line}`")),
    };
    Reply::Answer(format!("{status} so\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
}

fn commit(store: &mut Store, id: &str, checkpoint: u64) -> (u16, String) {
    if store.committed.iter().any(|(_, known, _)| known == id) {
        return (200, "known".to_owned());
    }
    match store.staged.remove(id) {
        Some(rows) => {
            store.committed.push((checkpoint, id.to_owned(), rows));
            (200, "new".to_owned())
        }
        None => (409, format!("{id} is not staged")),
    }
}

/// Rows behind those that are known, once there are some; none after `wait` milliseconds.
fn rows(shared: &Shared, partition: usize, query: &str) -> String {
    let (after, most) = (number(query, "after") as usize, number(query, "rows") as usize);
    let wait = Duration::from_millis(number(query, "wait"));
    let none_yet = |store: &mut Store| store.partitions.get(partition).is_none_or(|rows| rows.len() <= after);
    let waited = shared.grown.wait_timeout_while(shared.store(), wait, none_yet);
    let (store, _) = waited.unwrap_or_else(PoisonError::into_inner);
    let rows = store.partitions.get(partition).and_then(|rows| rows.get(after..)).unwrap_or_default();
    rows.iter().take(most).map(|row| format!("{row}\n")).collect()
}
