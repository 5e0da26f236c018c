//! A local S3 server for tests: buckets are folders, objects are files. Connections break when a test wants that.

mod store;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::RwLock;

use store::Store;

const KEY: &str = "test-key";
const SECRET: &str = "test-secret";

/// How connections break.
#[derive(Debug, Default)]
struct Breaks {
    /// So many more connections break.
    left: AtomicI64,
    /// After so many bytes of answers.
    after: AtomicU64,
    /// Nobody is there.
    down: AtomicBool,
    /// How many have broken.
    broken: AtomicU64,
}

/// The server. It ends with the test.
#[derive(Debug)]
pub struct Server {
    root: PathBuf,
    address: SocketAddr,
    breaks: Arc<Breaks>,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    /// Starts a server on a folder, with a bucket `data` in it.
    pub fn start(root: &Path) -> std::io::Result<Self> {
        Server::start_at(root, "127.0.0.1:0")
    }

    /// The same, at this address.
    pub fn start_at(root: &Path, address: &str) -> std::io::Result<Self> {
        std::fs::create_dir_all(root.join("data"))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let mut builder = S3ServiceBuilder::new(Store::open(root)?);
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = builder.build();
        let inner = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let inner_address = inner.local_addr()?;
        // Folders are removed when no request is at work.
        let at_work = Arc::new(RwLock::new(()));
        let shared = at_work.clone();
        runtime.spawn(async move {
            while let Ok((socket, _)) = inner.accept().await {
                let (service, at_work) = (service.clone(), shared.clone());
                // What was begun is done to its end, also for a client that is gone: half a completion is none of S3's.
                let handle = service_fn(move |request| {
                    let (service, at_work) = (service.clone(), at_work.clone());
                    let done = tokio::spawn(async move {
                        let _at_work = at_work.read().await;
                        hyper::service::Service::call(&service, request).await
                    });
                    async move { done.await.unwrap_or_else(|error| Err(s3s::HttpError::new(Box::new(error)))) }
                });
                tokio::spawn(async move {
                    let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), handle).await;
                });
            }
        });
        // A bucket has no folders: what is left of one when its last object goes would be listed for ever.
        let data = root.join("data");
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(200)).await;
                if let Ok(_alone) = at_work.try_write() {
                    remove_empty(&data);
                }
            }
        });
        let outer = runtime.block_on(TcpListener::bind(address))?;
        let address = outer.local_addr()?;
        let breaks = Arc::new(Breaks::default());
        let shared = breaks.clone();
        runtime.spawn(async move {
            while let Ok((socket, _)) = outer.accept().await {
                tokio::spawn(pass_on(socket, inner_address, shared.clone()));
            }
        });
        Ok(Server { root: root.to_owned(), address, breaks, _runtime: runtime })
    }

    /// The environment of a process that uses it.
    pub fn environment(&self) -> Vec<(String, String)> {
        environment(&self.address.to_string())
    }

    /// Host and port.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// What the bucket `data` holds, as files.
    pub fn bucket(&self) -> PathBuf {
        self.root.join("data")
    }

    /// Of the next connections so many break, each when it has answered so many bytes.
    pub fn break_connections(&self, connections: i64, after: u64) {
        self.breaks.after.store(after, SeqCst);
        self.breaks.left.store(connections, SeqCst);
    }

    /// Whether nobody answers.
    pub fn set_down(&self, down: bool) {
        self.breaks.down.store(down, SeqCst);
    }

    /// How many connections have broken.
    pub fn broken(&self) -> u64 {
        self.breaks.broken.load(SeqCst)
    }

    /// Uploads that were begun and neither completed nor aborted.
    pub fn pending_uploads(&self) -> usize {
        let names = std::fs::read_dir(&self.root).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".upload-") && name.to_string_lossy().ends_with(".json")).count()
    }
}

/// Removes folders below this one that have been empty for a while.
fn remove_empty(folder: &Path) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        remove_empty(&path);
        let old = std::fs::metadata(&path).and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
        if old.is_some_and(|old| old > Duration::from_secs(1)) {
            // Fails where something is in it.
            let _ = std::fs::remove_dir(&path);
        }
    }
}

/// The environment of a process that uses the server at this address.
pub fn environment(address: &str) -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![
        pair("AWS_ACCESS_KEY_ID", KEY),
        pair("AWS_SECRET_ACCESS_KEY", SECRET),
        pair("AWS_REGION", "us-east-1"),
        pair("AWS_ENDPOINT_URL", &format!("http://{address}")),
    ]
}

/// Passes a connection on to the server itself, until it is to break.
async fn pass_on(mut client: TcpStream, server: SocketAddr, breaks: Arc<Breaks>) {
    if breaks.down.load(SeqCst) {
        return;
    }
    let Ok(server) = TcpStream::connect(server).await else { return };
    let (mut from_server, mut to_server) = server.into_split();
    let (mut from_client, mut to_client) = client.split();
    let up = async {
        let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
        let _ = to_server.shutdown().await;
    };
    let down = async {
        let mut buffer = vec![0; 16 * 1024];
        let mut sent = 0_u64;
        loop {
            let len = match from_server.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(len) => len,
            };
            if breaks.down.load(SeqCst) {
                return;
            }
            sent += len as u64;
            let after = breaks.after.load(SeqCst);
            if sent > after && breaks.left.fetch_update(SeqCst, SeqCst, |left| (left > 0).then(|| left - 1)).is_ok() {
                breaks.broken.fetch_add(1, SeqCst);
                let _ = to_client.write_all(&buffer[..len / 2]).await;
                return;
            }
            if to_client.write_all(&buffer[..len]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}
