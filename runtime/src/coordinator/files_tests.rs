//! More state than memory on its way to the store, and what goes wrong in the middle of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use futures_util::{FutureExt, StreamExt};
use object_store::ObjectStore;

use super::contents::{Contents, LazyPart, LazyPiece};
use super::files::FILE_SIZE;
use super::storage::{CheckpointStore, Written};
use crate::checkpoint::{DataFile, Manifest, Piece, pieces, sample};
use crate::error::{ErrorKind, JobError, JobResult};
use crate::operator::KeyGroupPart;
use crate::storage::faulty::{Faulty, Request};

const JOB: &str = "flight_delays";

/// Pieces of so many key groups, each of which fills a file. `before` is called when one is about to be encoded.
fn contents(
    checkpoint: u64,
    since: u64,
    groups: u16,
    before: impl Fn(u16) -> JobResult<()> + Clone + Send + Sync + 'static,
) -> Contents {
    let piece = Piece { checkpoint, since, live: 1 };
    let make = |group| {
        let before = before.clone();
        let part = KeyGroupPart::new(group, move |out| {
            before(group)?;
            piece.table(&[], out);
            pieces::write_table(&[], since == 0, out);
            pieces::put(&[u8::try_from(checkpoint).unwrap()], &vec![u8::try_from(group).unwrap(); FILE_SIZE], out);
            pieces::end(out);
            pieces::end(out);
            Ok(())
        });
        let (uid, state, schema) = ("u".into(), "s".into(), "int64".into());
        LazyPiece { uid, state, schema, subtask: 0, group, piece, weight: 0, part: LazyPart::new(part.part) }
    };
    Contents { pieces: (0..groups).map(make).collect(), ..Contents::default() }
}

fn manifest(checkpoint: u64, files: Vec<DataFile>) -> Manifest {
    Manifest { checkpoint, epoch: 0, files, ..sample() }
}

fn stored(faulty: &Faulty) -> usize {
    faulty.objects.list(None).collect::<Vec<_>>().now_or_never().unwrap().len()
}

/// The newest that can be used: its number, and of each key group the checkpoints that it is made of. And what was said of others.
async fn newest(store: &CheckpointStore) -> (u64, Vec<Vec<u8>>, Vec<String>) {
    let found = store.latest(JOB).await.unwrap();
    let checkpoint = found.checkpoint.unwrap();
    let of = |bytes: &[u8]| bytes[1..].chunks(FILE_SIZE + 1).map(|entry| entry[0]).collect();
    let groups = checkpoint.groups.iter().map(|group| of(&group.bytes.read().unwrap().unwrap())).collect();
    (checkpoint.manifest.checkpoint, groups, found.warnings)
}

#[tokio::test]
async fn no_more_is_encoded_than_is_on_its_way() {
    let faulty = Arc::new(Faulty::default());
    let store = CheckpointStore::reader(faulty.clone(), "memory".into());
    // All are slow at first.
    faulty.fail(Request::Put, "000001/", io::ErrorKind::TimedOut, 12);
    let (encoded, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let count = {
        let (faulty, encoded, most) = (faulty.clone(), encoded.clone(), most.clone());
        move |_| {
            let waiting = encoded.fetch_add(1, SeqCst) + 1 - stored(&faulty);
            most.fetch_max(waiting, SeqCst);
            Ok(())
        }
    };
    let written = store.write(manifest(1, Vec::new()), contents(1, 0, 40, count)).await.unwrap();
    assert_eq!((written.to_build_upon.len(), encoded.load(SeqCst)), (40, 40));
    let most = most.load(SeqCst);
    assert!((3..=5).contains(&most), "{most} files at a time");
    assert_eq!(newest(&store).await.1, vec![vec![1]; 40]);
}

fn files_of(written: &Written) -> Vec<DataFile> {
    written.to_build_upon.iter().map(|file| file.file.clone()).collect()
}

/// Three key groups, and what has changed in them.
async fn building(store: &CheckpointStore) -> Vec<DataFile> {
    let base = store.write(manifest(1, Vec::new()), contents(1, 0, 3, |_| Ok(()))).await.unwrap();
    let more = store.write(manifest(2, files_of(&base)), contents(2, 1, 3, |_| Ok(()))).await.unwrap();
    assert_eq!(newest(store).await, (2, vec![vec![1, 2]; 3], vec![]));
    [files_of(&base), files_of(&more)].concat()
}

#[tokio::test]
async fn what_fails_in_the_middle_leaves_nothing() {
    let faulty = Arc::new(Faulty::default());
    let store = CheckpointStore::reader(faulty.clone(), "memory".into());
    let files = building(&store).await;
    let before = stored(&faulty);
    faulty.fail(Request::Put, "000003/0001.state", io::ErrorKind::StorageFull, 1);
    let whole = contents(3, 2, 3, |_| Ok(()));
    let error = store.write(manifest(3, files.clone()), whole.clone()).await.unwrap_err();
    assert!(error.message().contains("cannot write `memory/checkpoint-000003/0001.state`"), "{error}");
    assert!(!whole.unreadable.load(SeqCst), "the next checkpoint may have it");
    assert_eq!(stored(&faulty), before);

    let broken = contents(3, 2, 3, |group| match group {
        1 => Err(JobError::new("the disk is gone")),
        _ => Ok(()),
    });
    let error = store.write(manifest(3, files.clone()), broken.clone()).await.unwrap_err();
    assert!(error.message().contains("u has no part of it: the disk is gone"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Transient);
    assert!(broken.unreadable.load(SeqCst));
    let panics = contents(3, 2, 3, |group| if group == 1 { panic!("too fragile") } else { Ok(()) });
    let error = store.write(manifest(3, files.clone()), panics.clone()).await.unwrap_err();
    assert!(error.message().contains("too fragile") && panics.unreadable.load(SeqCst), "{error}");
    assert_eq!(stored(&faulty), before);

    // What is encoded when it is written can be written again.
    store.write(manifest(3, files), whole).await.unwrap();
    assert_eq!(newest(&store).await, (3, vec![vec![1, 2, 3]; 3], vec![]));
}

/// On a disk: key groups are read from there when they are wanted, and not before it is known that all of them are whole.
#[tokio::test]
async fn a_damaged_file_in_the_middle_is_said_and_the_one_before_is_used() {
    let directory = tempfile::tempdir().unwrap();
    let store = CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap();
    let files = building(&store).await;
    store.write(manifest(3, files.clone()), contents(3, 2, 3, |_| Ok(()))).await.unwrap();
    let damage = |id: u64, name: &str| {
        let path = directory.path().join(crate::checkpoint::folder_of(id)).join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    };
    assert_eq!(newest(&store).await, (3, vec![vec![1, 2, 3]; 3], vec![]));
    damage(3, &files[4].name);
    let (id, groups, warnings) = newest(&store).await;
    assert_eq!((id, groups), (2, vec![vec![1, 2]; 3]));
    assert!(warnings[0].contains(&format!("{}` is damaged: its checksum is wrong", files[4].name)), "{warnings:?}");
    // What the others build upon.
    damage(1, &files[2].name);
    let message = store.latest(JOB).await.unwrap_err().message().to_owned();
    assert!(message.contains("on which `checkpoint-000002` builds, is damaged"), "{message}");
}
