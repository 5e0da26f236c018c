//! A store of objects in memory that fails on purpose.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartId, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Get,
    Put,
    /// It is done, and then said to have failed: the answer got lost.
    PutAnswer,
    Delete,
    /// Of an upload in parts.
    Complete,
}

#[derive(Debug)]
struct Fault {
    request: Request,
    /// A part of the object's name.
    name: String,
    kind: ErrorKind,
    times: u32,
}

/// The store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faulty {
    pub objects: Arc<InMemory>,
    faults: Arc<Mutex<Vec<Fault>>>,
}

impl Faulty {
    /// The next `times` requests for objects with `name` in their names fail.
    pub fn fail(&self, request: Request, name: &str, kind: ErrorKind, times: u32) {
        self.faults.lock().unwrap().push(Fault { request, name: name.to_owned(), kind, times });
    }

    /// All is well from here.
    pub fn mend(&self) {
        self.faults.lock().unwrap().clear();
    }

    fn check(&self, request: Request, path: &Path) -> Result<()> {
        let mut faults = self.faults.lock().unwrap();
        let hit = |fault: &&mut Fault| fault.request == request && fault.times > 0 && path.as_ref().contains(&fault.name);
        match faults.iter_mut().find(hit) {
            None => Ok(()),
            Some(fault) => {
                fault.times -= 1;
                Err(Error::Generic { store: "faulty", source: Box::new(std::io::Error::from(fault.kind)) })
            }
        }
    }
}

impl std::fmt::Display for Faulty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("faulty")
    }
}

#[async_trait::async_trait]
impl MultipartStore for Faulty {
    async fn create_multipart(&self, path: &Path) -> Result<MultipartId> {
        self.objects.create_multipart(path).await
    }

    async fn put_part(&self, path: &Path, id: &MultipartId, part: usize, data: PutPayload) -> Result<PartId> {
        self.objects.put_part(path, id, part, data).await
    }

    async fn complete_multipart(&self, path: &Path, id: &MultipartId, parts: Vec<PartId>) -> Result<PutResult> {
        self.check(Request::Complete, path)?;
        self.objects.complete_multipart(path, id, parts).await
    }

    async fn abort_multipart(&self, path: &Path, id: &MultipartId) -> Result<()> {
        self.objects.abort_multipart(path, id).await
    }
}

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.check(Request::Put, path)?;
        let result = self.objects.put_opts(path, payload, options).await?;
        self.check(Request::PutAnswer, path)?;
        Ok(result)
    }

    async fn put_multipart_opts(&self, path: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.objects.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.check(Request::Get, path)?;
        self.objects.get_opts(path, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let faulty = self.clone();
        let checked = paths.map(move |path| {
            let path = path?;
            faulty.check(Request::Delete, &path)?;
            Ok(path)
        });
        self.objects.delete_stream(checked.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.objects.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.objects.copy_opts(from, to, options).await
    }
}
