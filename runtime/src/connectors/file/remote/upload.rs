//! An upload in the background: bytes go in, parts go out, and at the end it waits to be completed.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, sync_channel};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use futures_util::{StreamExt, TryStreamExt};
use object_store::PutPayload;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::committable::{UploadedFile, marker_text};
use crate::error::{JobError, JobResult};
use crate::storage::{Objects, key_of, retried, root_cause, spawn};

/// The least size of a part but the last is 5 MB everywhere.
const PART: usize = 8 * 1024 * 1024;

/// There may be 10,000 parts: larger files have larger ones.
const MOST_PARTS: u64 = 5000;

/// Parts of one upload that are on their way at once.
const AT_ONCE: usize = 3;

/// Bytes of a writer that wait to be sent, at most: with more, it takes no rows.
const MOST_WAITING: usize = 64 * 1024 * 1024;

/// Where an upload goes.
#[derive(Clone, Debug)]
pub(crate) struct UploadTarget {
    pub store: Arc<dyn Objects>,
    /// The bucket, for people: `s3://bucket`.
    pub bucket: String,
    /// Of the object, in the bucket.
    pub key: String,
    /// The folder of markers, in the bucket.
    pub markers: String,
    /// The name of this one's.
    pub marker: String,
    /// A file of this size is closed.
    pub roll_size: u64,
}

/// What waits to be sent by all uploads of a writer.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    waiting: AtomicUsize,
    waker: AtomicWaker,
}

impl Flow {
    /// Ready when the writer may take more rows.
    pub(crate) fn poll_ready(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.waiting.load(SeqCst) <= MOST_WAITING {
            return Poll::Ready(());
        }
        self.waker.register(context.waker());
        if self.waiting.load(SeqCst) <= MOST_WAITING { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Bytes that wait to be sent. They are counted until it is dropped: when they are sent, and when they never will be.
#[derive(Debug)]
struct Waiting {
    len: usize,
    flow: Arc<Flow>,
}

impl Waiting {
    fn new(len: usize, flow: Arc<Flow>) -> Self {
        flow.waiting.fetch_add(len, SeqCst);
        Waiting { len, flow }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.flow.waiting.fetch_sub(self.len, SeqCst);
        self.flow.waker.wake();
    }
}

type Part = (Vec<u8>, Waiting);

/// An object that is being written. Dropped before its end, the upload is aborted.
#[derive(Debug)]
pub(crate) struct Upload {
    key: String,
    parts: UnboundedSender<Part>,
    buffer: Vec<u8>,
    part: usize,
    size: u64,
    flow: Arc<Flow>,
    ended: Arc<AtomicBool>,
    result: Receiver<JobResult<UploadedFile>>,
}

/// An upload to which nothing is added any more.
#[derive(Debug)]
pub(crate) struct Ending {
    size: u64,
    key: String,
    result: Receiver<JobResult<UploadedFile>>,
}

impl Upload {
    /// Begins when there is something to send.
    pub(crate) fn start(target: UploadTarget, flow: Arc<Flow>) -> JobResult<Self> {
        let (parts, receiver) = unbounded_channel();
        let (sender, result) = sync_channel(1);
        let ended = Arc::new(AtomicBool::new(false));
        let part = usize::try_from(target.roll_size / MOST_PARTS).unwrap_or(PART).max(PART);
        let key = target.key.clone();
        let sending = Sending { target, ended: ended.clone() };
        spawn(async move {
            // Nobody waits for it any more: the attempt has ended.
            let _ = sender.send(sending.send(receiver).await);
        })?;
        Ok(Upload { key, parts, buffer: Vec::new(), part, size: 0, flow, ended, result })
    }

    fn send(&mut self) {
        let part = std::mem::take(&mut self.buffer);
        let waiting = Waiting::new(part.len(), self.flow.clone());
        // If nobody takes it, the end says why.
        let _ = self.parts.send((part, waiting));
    }

    /// Nothing more comes.
    pub(crate) fn end(mut self) -> Ending {
        // An empty part is sent where there is no other.
        if !self.buffer.is_empty() || self.size == 0 {
            self.send();
        }
        self.ended.store(true, SeqCst);
        Ending { size: self.size, key: self.key, result: self.result }
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = bytes.len().min(self.part - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..len]);
        self.size += len as u64;
        if self.buffer.len() == self.part {
            self.send();
        }
        Ok(len)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Ending {
    /// Waits until all parts are there; the committable. Blocks.
    pub(crate) fn wait(self) -> JobResult<Vec<u8>> {
        let lost = || JobError::transient(format!("the upload of `{}` has ended by itself", self.key));
        let file = self.result.recv().map_err(|_| lost())??;
        Ok(UploadedFile { size: self.size, ..file }.encode())
    }
}

/// The half in the background.
struct Sending {
    target: UploadTarget,
    ended: Arc<AtomicBool>,
}

impl Sending {
    async fn send(self, mut parts: UnboundedReceiver<Part>) -> JobResult<UploadedFile> {
        let UploadTarget { store, bucket, key, markers, marker, .. } = &self.target;
        let path = key_of(key.as_str());
        let failed =
            |error: object_store::Error| JobError::transient(format!("cannot write `{bucket}/{key}`: {}", root_cause(&error)));
        let Some(first) = parts.recv().await else { return Err(JobError::transient("an upload was given up")) };
        let mut first = Some(first);
        // Made once too often, an upload has no parts and no marker.
        let upload = retried(|| store.create_multipart(&path)).await.map_err(failed)?;
        let marker_path = key_of(format!("{markers}/{marker}"));
        let text = PutPayload::from(marker_text(key, &upload));
        let sent = async {
            retried(|| store.put_opts(&marker_path, text.clone(), Default::default())).await.map_err(failed)?;
            let numbered = futures_util::stream::poll_fn(|context| match first.take() {
                Some(part) => Poll::Ready(Some(part)),
                None => parts.poll_recv(context),
            });
            let sending = numbered.enumerate().map(|(number, (part, waiting))| {
                let (path, upload) = (&path, &upload);
                async move {
                    let part = PutPayload::from(part);
                    let result = retried(|| store.put_part(path, upload, number, part.clone())).await;
                    drop(waiting);
                    result.map(|part| part.content_id)
                }
            });
            sending.buffered(AT_ONCE).try_collect::<Vec<String>>().await.map_err(failed)
        }
        .await;
        match sent {
            Ok(parts) if self.ended.load(SeqCst) => {
                Ok(UploadedFile { key: key.clone(), marker: marker.clone(), upload, parts, size: 0 })
            }
            unfinished => {
                // As far as that goes; what stays is found by its marker.
                if store.abort_multipart(&path, &upload).await.is_ok() {
                    let _ = object_store::ObjectStoreExt::delete(&**store, &marker_path).await;
                }
                unfinished.and(Err(JobError::transient("an upload was given up")))
            }
        }
    }
}
