//! Storage for checkpoints: slow, failing, losing answers, and keeping half of what was being written when the process died.

use std::io::ErrorKind;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use millstream_runtime::checkpoint::Manifest;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};

use crate::world::SimWorld;

/// The longest that a request takes, in microseconds.
const SLOW: u64 = 30_000;

/// The name of the state that holds rows on their way.
const IN_FLIGHT: &[u8] = b"#in_flight/";

/// In a manifest: a file of another checkpoint.

#[derive(Clone)]
pub(crate) struct SimStore(Arc<SimWorld>);

impl SimStore {
    pub(crate) fn new(world: Arc<SimWorld>) -> Self {
        SimStore(world)
    }

    /// Before a request: it takes its time, and may fail.
    async fn ask(&self, what: &str, path: &str) -> Result<()> {
        tokio::time::sleep(self.0.moment(SLOW)).await;
        self.alive().await;
        if self.0.is_out() || self.0.unlucky(&format!("{what} {path} fails"), 10) { Err(refused()) } else { Ok(()) }
    }

    async fn alive(&self) {
        if self.0.frozen() {
            std::future::pending::<()>().await;
        }
    }

    /// The checkpoint whose manifest this is.
    fn manifest(path: &Path) -> Option<u64> {
        path.as_ref().strip_suffix("/manifest.json")?.strip_prefix("checkpoint-")?.parse().ok()
    }
}

fn refused() -> Error {
    Error::Generic { store: "simulated", source: Box::new(std::io::Error::from(ErrorKind::TimedOut)) }
}

impl std::fmt::Debug for SimStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SimStore")
    }
}

impl std::fmt::Display for SimStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("simulated")
    }
}

#[async_trait]
impl ObjectStore for SimStore {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.ask("put", path.as_ref()).await?;
        // Manifests and leases appear as a whole; of data files nobody has said that they are there.
        let torn = path.as_ref().ends_with(".state");
        if torn && self.0.unlucky(&format!("half of {path} is written"), 8) {
            let bytes: Vec<u8> = payload.into_iter().flatten().collect();
            let half = bytes[..bytes.len() / 2].to_vec();
            self.0.objects.put_opts(path, half.into(), options).await?;
            self.0.freeze();
            self.alive().await;
            return Err(refused());
        }
        if payload.iter().any(|bytes| bytes.windows(IN_FLIGHT.len()).any(|part| part == IN_FLIGHT)) {
            self.0.overtake();
        }
        let manifest = SimStore::manifest(path).map(|_| payload.iter().flatten().copied().collect::<Vec<u8>>());
        let result = self.0.objects.put_opts(path, payload, options).await?;
        if let Some(checkpoint) = SimStore::manifest(path) {
            self.0.complete(checkpoint, manifest.and_then(|bytes| Manifest::from_bytes(&bytes).ok()).as_ref());
        }
        self.0.log(&format!("put {path}"));
        if SimStore::manifest(path).is_some() && self.0.is_unsaid() {
            return Err(refused());
        }
        if self.0.unlucky(&format!("the answer to put {path} is lost"), 10) { Err(refused()) } else { Ok(result) }
    }

    async fn put_multipart_opts(&self, path: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.ask("put", path.as_ref()).await?;
        self.0.objects.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.ask("get", path.as_ref()).await?;
        self.0.objects.get_opts(path, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let asked = paths.then(move |path| {
            let store = store.clone();
            async move {
                let path = path?;
                store.ask("delete", path.as_ref()).await?;
                store.0.log(&format!("delete {path}"));
                if let Some(checkpoint) = SimStore::manifest(&path) {
                    store.0.removed(checkpoint);
                }
                Ok(path)
            }
        });
        self.0.objects.delete_stream(asked.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.objects.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.ask("list", "").await?;
        self.0.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.ask("copy", from.as_ref()).await?;
        self.0.objects.copy_opts(from, to, options).await
    }
}
