//! Completes uploads, any number of times with the same result, and aborts those that nobody knows any more.

use std::collections::BTreeSet;

use futures_util::TryStreamExt;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::committable::{UploadedFile, parse_marker};
use crate::connectors::file::sink::Existing;
use crate::error::{JobError, JobResult};
use crate::notice::notice;
use crate::sink::{CommitOutcome, CommitRequest, Committer, SinkStart};
use crate::storage::{Begun, Remote, block, key_of, retried, root_cause};

/// The committing half of the file sink in a bucket.
#[derive(Debug)]
pub(crate) struct RemoteCommitter(Inner);

#[derive(Clone, Debug)]
struct Inner {
    remote: Remote,
    /// The folder of markers, in the bucket.
    markers: String,
    /// What the names of this run's files begin with: `part-<run>-`.
    prefix: String,
    existing: Existing,
    /// What the restored checkpoint holds is being committed.
    recovering: bool,
}

impl RemoteCommitter {
    pub(crate) fn new(remote: Remote, markers: String, prefix: String, existing: Existing) -> Self {
        RemoteCommitter(Inner { remote, markers, prefix, existing, recovering: false })
    }
}

impl Inner {
    fn store(&self) -> &dyn ObjectStore {
        &*self.remote.store
    }

    fn failed(&self, what: &str, key: &str, error: &Error) -> JobError {
        JobError::transient(format!("cannot {what} `{}/{key}`: {}", self.remote.bucket(), root_cause(error)))
    }

    /// Objects of a folder that can be seen, at any depth.
    async fn visible(&self) -> JobResult<Vec<ObjectMeta>> {
        let folder = key_of(self.remote.path.as_str());
        let found = retried(|| self.store().list(Some(&folder)).try_collect::<Vec<ObjectMeta>>()).await;
        let mut found = found.map_err(|error| self.failed("list", &self.remote.path, &error))?;
        found.retain(|object| {
            let within = object.location.prefix_match(&folder).into_iter().flatten();
            within.into_iter().all(|part| !part.as_ref().starts_with('.'))
        });
        found.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(found)
    }

    async fn delete(&self, path: &Path) -> JobResult<()> {
        match retried(|| self.store().delete(path)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("remove", path.as_ref(), &error)),
        }
    }

    /// Fails where output of others is in the way.
    async fn agree(&self) -> JobResult<()> {
        match (self.existing, self.visible().await?.first()) {
            (Existing::Fail, Some(first)) => Err(JobError::new(format!(
                "the output folder `{}` already holds files (`{}/{}`); give the sink `existing: replace` or `existing: append`, start with \
                 --replace, or choose another folder",
                self.remote.shown,
                self.remote.bucket(),
                first.location
            ))),
            _ => Ok(()),
        }
    }

    /// Removes the output of others, if that is to be replaced.
    async fn replace(&self) -> JobResult<()> {
        if !matches!(self.existing, Existing::Replace) {
            return Ok(());
        }
        for object in self.visible().await? {
            if object.location.filename().is_some_and(|name| name.starts_with("part-")) {
                self.delete(&object.location).await?;
            }
        }
        // Nobody goes on with what was begun here.
        self.abort_listed("part-", &BTreeSet::new()).await
    }

    async fn start(&self, start: &SinkStart) -> JobResult<()> {
        if let SinkStart::Fresh = start {
            return self.agree().await;
        }
        // Whether the place can be reached at all.
        self.visible().await.map(drop)
    }

    /// Completes an upload. Whatever the answer is, it is the object that counts: a second completion is answered in as many ways
    /// as there are stores. Names are those of one run, so that an object of this name and size is the one.
    async fn commit_one(&self, request: &mut CommitRequest, file: UploadedFile) -> JobResult<()> {
        let path = key_of(file.key.as_str());
        let marker = key_of(format!("{}/{}", self.markers, file.marker));
        let parts = file.parts.iter().map(|id| PartId { content_id: id.clone() }).collect();
        if let Err(error) = self.remote.store.complete_multipart(&path, &file.upload, parts).await {
            match retried(|| self.store().head(&path)).await {
                Ok(found) if found.size == file.size => request.already_committed(),
                Ok(found) => {
                    notice(&format!(
                        "warning: `{}/{path}` has been changed since it was committed: {} bytes, it had {}",
                        self.remote.bucket(),
                        found.size,
                        file.size
                    ));
                    request.already_committed();
                }
                Err(Error::NotFound { .. }) if self.gone(&error) => match retried(|| self.store().head(&marker)).await {
                    // The marker goes after the commit.
                    Err(Error::NotFound { .. }) if self.recovering => {
                        notice(&format!("warning: `{}/{path}` was committed and is not there any more", self.remote.bucket()));
                        request.already_committed();
                        return Ok(());
                    }
                    Ok(_) | Err(Error::NotFound { .. }) => {
                        let reason = root_cause(&error);
                        request.failed(format!(
                            "the upload of `{}/{path}` is gone ({reason}): was it aborted?",
                            self.remote.bucket()
                        ));
                        return Ok(());
                    }
                    Err(error) => {
                        request.retry_later(format!("cannot commit `{}/{path}`: {}", self.remote.bucket(), root_cause(&error)));
                        return Ok(());
                    }
                },
                Err(_) => {
                    request.retry_later(format!("cannot commit `{}/{path}`: {}", self.remote.bucket(), root_cause(&error)));
                    return Ok(());
                }
            }
        }
        // If it stays, the next start removes it.
        let _ = self.store().delete(&marker).await;
        Ok(())
    }

    /// Whether this answer to a completion means that there is no such upload, and not that the store cannot be reached.
    fn gone(&self, error: &Error) -> bool {
        matches!(error, Error::NotFound { .. } | Error::PermissionDenied { .. }) || root_cause(error).contains("NoSuchUpload")
    }

    /// Aborts all uploads of the run but these.
    async fn abort_all_but(&self, keep: &[UploadedFile]) -> JobResult<()> {
        self.abort_marked(&keep.iter().map(|file| file.marker.as_str()).collect()).await?;
        let uploads: BTreeSet<&str> = keep.iter().map(|file| file.upload.as_str()).collect();
        self.abort_listed(&self.prefix, &uploads).await
    }

    /// Those that the store still lists, for files whose names begin so: a process that died before it had stored a marker, or that
    /// never got the answer to its request, leaves them without one.
    async fn abort_listed(&self, name: &str, keep: &BTreeSet<&str>) -> JobResult<()> {
        let folder = self.remote.key("");
        let begun = match retried(|| self.remote.uploads.begun(&folder)).await {
            Ok(begun) => begun,
            // They hold no bytes, or have markers.
            Err(Error::PermissionDenied { .. } | Error::NotImplemented { .. }) => return Ok(()),
            Err(error) => return Err(self.failed("list the uploads of", &self.remote.path, &error)),
        };
        for Begun { key, upload } in begun {
            let own = key.rsplit('/').next().is_some_and(|file| file.starts_with(name));
            if own && !keep.contains(upload.as_str()) {
                self.abort(&key, &upload).await?;
            }
        }
        Ok(())
    }

    async fn abort(&self, key: &str, upload: &str) -> JobResult<()> {
        let (path, upload) = (key_of(key), upload.to_owned());
        match retried(|| self.remote.store.abort_multipart(&path, &upload)).await {
            Ok(()) => Ok(()),
            // It was completed or aborted before.
            Err(error) if self.gone(&error) => Ok(()),
            Err(error) => Err(self.failed("abort the upload of", key, &error)),
        }
    }

    /// Those that have a marker.
    async fn abort_marked(&self, keep: &BTreeSet<&str>) -> JobResult<()> {
        let folder = key_of(self.markers.as_str());
        let markers = retried(|| self.store().list(Some(&folder)).try_collect::<Vec<ObjectMeta>>()).await;
        for marker in markers.map_err(|error| self.failed("list", &self.markers, &error))? {
            if marker.location.filename().is_some_and(|name| keep.contains(name)) {
                continue;
            }
            let failed = |error: Error| self.failed("read", marker.location.as_ref(), &error);
            let text = match retried(|| async { self.store().get(&marker.location).await?.bytes().await }).await {
                Ok(text) => text,
                Err(Error::NotFound { .. }) => continue,
                Err(error) => return Err(failed(error)),
            };
            if let Some((key, upload)) = std::str::from_utf8(&text).ok().and_then(parse_marker) {
                self.abort(key, upload).await?;
            }
            self.delete(&marker.location).await?;
        }
        Ok(())
    }

    /// An older checkpoint than the newest was taken: what later ones had committed will come again.
    async fn roll_back_to(&self, checkpoint: u64) -> JobResult<()> {
        for object in self.visible().await? {
            let later = object
                .location
                .filename()
                .and_then(|name| number_of(name, &self.prefix))
                .is_some_and(|number| number > checkpoint);
            if later {
                notice(&format!(
                    "warning: `{}/{}` is of a checkpoint later than {checkpoint} and is written again",
                    self.remote.bucket(),
                    object.location
                ));
                self.delete(&object.location).await?;
            }
        }
        Ok(())
    }
}

/// The number in `part-<run>-<subtask>-<number>-<n>.json`: of the first checkpoint that could hold the file.
fn number_of(name: &str, prefix: &str) -> Option<u64> {
    let mut parts = name.strip_prefix(prefix)?.split('-');
    parts.next()?.parse::<u32>().ok()?;
    parts.next()?.parse().ok()
}

impl Committer for RemoteCommitter {
    fn start(&mut self, start: &SinkStart) -> JobResult<()> {
        self.0.recovering = matches!(start, SinkStart::Resumed { .. });
        let (inner, start) = (self.0.clone(), *start);
        block(async move { inner.start(&start).await })?
    }

    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()> {
        let inner = self.0.clone();
        let mut own = requests.to_vec();
        let (own, result) = block(async move {
            let mut result = Ok(());
            let mut put_off: Option<String> = None;
            for request in &mut own {
                // In order: what comes behind one that is put off is, too. What is left alone would count as committed.
                if let Some(reason) = &put_off {
                    request.retry_later(reason);
                    continue;
                }
                result = match UploadedFile::decode(request.committable()) {
                    Ok(file) => inner.commit_one(request, file).await,
                    Err(error) => Err(error),
                };
                match request.outcome() {
                    _ if result.is_err() => break,
                    CommitOutcome::RetryLater(reason) => put_off = Some(reason.clone()),
                    _ => {}
                }
            }
            (own, result)
        })?;
        requests.clone_from_slice(&own);
        result
    }

    fn discard_unknown(&mut self, start: &SinkStart, waiting: &[Vec<u8>]) -> JobResult<()> {
        self.0.recovering = false;
        let keep = waiting.iter().map(|bytes| UploadedFile::decode(bytes)).collect::<JobResult<Vec<_>>>()?;
        let (inner, start) = (self.0.clone(), *start);
        block(async move {
            match start {
                SinkStart::Resumed { checkpoint } => inner.roll_back_to(checkpoint).await?,
                SinkStart::Fresh => inner.replace().await?,
            }
            inner.abort_all_but(&keep).await
        })?
    }

    fn finish(&mut self) -> JobResult<()> {
        let inner = self.0.clone();
        block(async move { inner.abort_all_but(&[]).await })?
    }
}
