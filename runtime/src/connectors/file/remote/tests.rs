//! Uploads and their completion, in a store in memory.

use std::io::Write;
use std::sync::{Arc, Mutex};

use futures_util::TryStreamExt;
use futures_util::future::BoxFuture;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};

use super::committable::UploadedFile;
use super::{Flow, RemoteCommitter, Upload, UploadTarget};
use crate::connectors::file::sink::Existing;
use crate::sink::{CommitOutcome, CommitRequest, Committer, SinkStart};
use crate::storage::faulty::{Faulty, Request};
use crate::storage::{Begun, BegunList, Remote, block};

const MARKERS: &str = "out/.millstream-run-1";

struct Bucket(Arc<Faulty>, Arc<Listed>);

/// Uploads that the bucket lists.
#[derive(Debug, Default)]
struct Listed(Mutex<Vec<Begun>>);

impl BegunList for Listed {
    fn begun<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Begun>, Error>> {
        let begun = self.0.lock().unwrap().iter().filter(|begun| begun.key.starts_with(prefix)).cloned().collect();
        Box::pin(async move { Ok(begun) })
    }
}

impl Bucket {
    fn new() -> Self {
        Bucket(Arc::default(), Arc::default())
    }

    fn remote(&self) -> Remote {
        Remote { store: self.0.clone(), uploads: self.1.clone(), path: "out".into(), shown: "s3://bucket/out".into() }
    }

    fn committer(&self) -> RemoteCommitter {
        RemoteCommitter::new(self.remote(), MARKERS.into(), "part-run-".into(), Existing::Fail)
    }

    fn target(&self, name: &str) -> UploadTarget {
        UploadTarget {
            store: self.0.clone(),
            bucket: "s3://bucket".into(),
            key: format!("out/part-run-0-{name}.json"),
            markers: MARKERS.into(),
            marker: name.into(),
            roll_size: 1 << 20,
        }
    }

    /// The committable of an upload of these bytes.
    fn upload(&self, name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut upload = Upload::start(self.target(name), Arc::new(Flow::default())).unwrap();
        upload.write_all(bytes).unwrap();
        upload.end().wait().unwrap()
    }

    /// All objects: names and sizes.
    fn objects(&self) -> Vec<(String, u64)> {
        let store = self.0.clone();
        let found = block(async move { store.list(None).try_collect::<Vec<_>>().await }).unwrap().unwrap();
        let mut objects: Vec<_> = found.into_iter().map(|object| (object.location.to_string(), object.size)).collect();
        objects.sort();
        objects
    }
}

fn commit(committer: &mut RemoteCommitter, committables: &[Vec<u8>]) -> Vec<CommitOutcome> {
    let mut requests: Vec<_> = committables.iter().map(|bytes| CommitRequest::new(1, 0, bytes.clone())).collect();
    committer.commit(&mut requests).unwrap();
    requests.iter().map(|request| request.outcome().clone()).collect()
}

#[test]
fn nothing_is_seen_before_the_commit_and_a_second_one_changes_nothing() {
    let bucket = Bucket::new();
    let large = vec![b'x'; 20 * 1024 * 1024];
    let committables = [bucket.upload("1-0", b"abc"), bucket.upload("1-1", &large)];
    assert_eq!(UploadedFile::decode(&committables[1]).unwrap().parts.len(), 3);
    let names: Vec<_> = bucket.objects().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [format!("{MARKERS}/1-0"), format!("{MARKERS}/1-1")]);
    let mut committer = bucket.committer();
    assert_eq!(commit(&mut committer, &committables), [CommitOutcome::Committed, CommitOutcome::Committed]);
    let expected = [("out/part-run-0-1-0.json".to_owned(), 3), ("out/part-run-0-1-1.json".to_owned(), 20 * 1024 * 1024)];
    assert_eq!(bucket.objects(), expected);
    let again = commit(&mut bucket.committer(), &committables);
    assert_eq!(again, [CommitOutcome::AlreadyCommitted, CommitOutcome::AlreadyCommitted]);
    assert_eq!(bucket.objects(), expected);
}

/// A store that does not answer now puts off what comes behind as well: what nobody has tried is not committed.
#[test]
fn what_comes_behind_an_upload_that_is_put_off_is_put_off_too() {
    let bucket = Bucket::new();
    let committables = [bucket.upload("1-0", b"first"), bucket.upload("1-1", b"second"), bucket.upload("1-2", b"third")];
    let mut committer = bucket.committer();
    bucket.0.fail(Request::Complete, "1-1", std::io::ErrorKind::TimedOut, 1);
    let outcomes = commit(&mut committer, &committables);
    assert_eq!(outcomes[0], CommitOutcome::Committed);
    assert!(outcomes[1..].iter().all(|outcome| matches!(outcome, CommitOutcome::RetryLater(_))), "{outcomes:?}");
    assert_eq!(commit(&mut committer, &committables[1..]), [CommitOutcome::Committed, CommitOutcome::Committed]);
    let names: Vec<_> = bucket.objects().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["out/part-run-0-1-0.json", "out/part-run-0-1-1.json", "out/part-run-0-1-2.json"]);
}

#[test]
fn what_no_checkpoint_holds_goes_and_what_is_too_new_is_taken_back() {
    let bucket = Bucket::new();
    let held = bucket.upload("1-0", b"held");
    let later = bucket.upload("5-0", b"later");
    bucket.upload("2-0", b"unknown");
    commit(&mut bucket.committer(), &[later]);
    let mut committer = bucket.committer();
    let start = SinkStart::Resumed { checkpoint: 1 };
    committer.start(&start).unwrap();
    assert_eq!(commit(&mut committer, &[held]), [CommitOutcome::Committed]);
    committer.discard_unknown(&start, &[]).unwrap();
    assert_eq!(bucket.objects(), [("out/part-run-0-1-0.json".to_owned(), 4)]);
}

/// A process died before it had stored the marker.
#[test]
fn uploads_without_a_marker_are_aborted_if_they_are_of_this_run() {
    let bucket = Bucket::new();
    let begin = |key: &str| {
        let (store, path) = (bucket.0.clone(), Path::from(key));
        let upload = block(async move { store.create_multipart(&path).await }).unwrap().unwrap();
        bucket.1.0.lock().unwrap().push(Begun { key: key.to_owned(), upload: upload.clone() });
        upload
    };
    let own = begin("out/day=1/part-run-0-1-0.json");
    let held = begin("out/part-run-0-2-0.json");
    let of_others = begin("out/part-other-0-1-0.json");
    let held_file = UploadedFile {
        key: "out/part-run-0-2-0.json".into(),
        marker: "2-0".into(),
        upload: held.clone(),
        parts: Vec::new(),
        size: 0,
    };
    let start = SinkStart::Resumed { checkpoint: 1 };
    bucket.committer().discard_unknown(&start, &[held_file.encode()]).unwrap();
    let exists = |upload: &str| {
        let (store, upload) = (bucket.0.clone(), upload.to_owned());
        block(async move { store.put_part(&Path::from("any"), &upload, 0, b"x".to_vec().into()).await }).unwrap().is_ok()
    };
    assert_eq!([exists(&own), exists(&held), exists(&of_others)], [false, true, true]);
}

#[test]
fn an_upload_that_is_dropped_leaves_nothing() {
    let bucket = Bucket::new();
    let mut upload = Upload::start(bucket.target("1-0"), Arc::new(Flow::default())).unwrap();
    upload.write_all(&vec![0; 9 * 1024 * 1024]).unwrap();
    drop(upload);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !bucket.objects().is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?}", bucket.objects());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn what_exists_is_refused_or_replaced() {
    let bucket = Bucket::new();
    let store = bucket.0.clone();
    block(async move {
        for name in ["out/part-old-0.json", "out/kept.txt", "out/.hidden/x", "outside/part-0"] {
            store.put(&Path::from(name), b"x".to_vec().into()).await.unwrap();
        }
    })
    .unwrap();
    let error = bucket.committer().start(&SinkStart::Fresh).unwrap_err();
    assert!(error.message().contains("`s3://bucket/out` already holds files (`s3://bucket/out/kept.txt`)"), "{error}");
    let mut committer = RemoteCommitter::new(bucket.remote(), MARKERS.into(), "part-run-".into(), Existing::Replace);
    let names = || bucket.objects().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let before = names();
    committer.start(&SinkStart::Fresh).unwrap();
    assert_eq!(names(), before, "another sink may refuse");
    committer.discard_unknown(&SinkStart::Fresh, &[]).unwrap();
    assert_eq!(names(), ["out/.hidden/x", "out/kept.txt", "outside/part-0"]);
}
