//! Checkpoints on a disk: whole, damaged, of others; and in a store that fails for a while, for good, or after it has done what it
//! was asked for.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contents::Contents;
use super::files::{FILE_SIZE, Landing};
use super::storage::{CheckpointStore, Found};
use crate::checkpoint::{FORMAT, MANIFEST, Manifest, Part, StateEntry, sample};
use crate::error::{ErrorKind, JobResult};
use crate::storage::faulty::{Faulty, Request};

fn manifest(checkpoint: u64) -> Manifest {
    Manifest { checkpoint, epoch: 0, files: Vec::new(), ..sample() }
}

/// Enough for two data files.
fn parts(checkpoint: u64) -> Contents {
    let entry = |part| StateEntry { uid: "u".into(), state: "s".into(), schema: "int64".into(), subtask: 0, part };
    let mut large = vec![0; FILE_SIZE];
    large[0] = u8::try_from(checkpoint).unwrap();
    vec![entry(Part::Group(3, large)), entry(Part::Item(vec![7; 100]))].into()
}

/// A store with the checkpoints 1 and 2, then damaged.
async fn damaged(damage: impl FnOnce(&Path)) -> (tempfile::TempDir, JobResult<Found>) {
    let directory = tempfile::tempdir().unwrap();
    let store = CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap();
    store.write(manifest(1), parts(1)).await.unwrap();
    store.write(manifest(2), parts(2)).await.unwrap();
    damage(&directory.path().join("checkpoint-000002"));
    let found = store.latest("flight_delays").await;
    (directory, found)
}

fn number(found: &JobResult<Found>) -> Option<u64> {
    found.as_ref().ok()?.checkpoint.as_ref().map(|checkpoint| checkpoint.manifest.checkpoint)
}

#[tokio::test]
async fn the_newest_whole_checkpoint_is_found() {
    let (_directory, found) = damaged(|_| {}).await;
    assert_eq!(number(&found), Some(2));
    let found = found.unwrap();
    assert_eq!(found.warnings, [""; 0]);
    let checkpoint = found.checkpoint.unwrap();
    assert_eq!((checkpoint.entries.len(), checkpoint.groups.len()), (1, 1));
    let group = checkpoint.groups[0].bytes.read().unwrap().unwrap();
    assert_eq!((group[0], group.len()), (2, FILE_SIZE));
}

#[tokio::test]
async fn a_damaged_checkpoint_is_reported_and_the_one_before_is_used() {
    let flip = |path: PathBuf| {
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    };
    let cut = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    };
    let cases: [(&str, Box<dyn FnOnce(&Path)>); 6] = [
        ("0000-1.state` is damaged: its checksum is wrong", Box::new(|folder| flip(folder.join("0000-1.state")))),
        ("0001-1.state` is damaged: 1", Box::new(|folder| cut(folder.join("0001-1.state")))),
        ("0001-1.state` is missing", Box::new(|folder| std::fs::remove_file(folder.join("0001-1.state")).unwrap())),
        ("manifest.json` is damaged: its checksum", Box::new(|folder| flip(folder.join(MANIFEST)))),
        ("manifest.json` is damaged: its end", Box::new(|folder| cut(folder.join(MANIFEST)))),
        ("manifest.json` is damaged: it is empty", Box::new(|folder| std::fs::write(folder.join(MANIFEST), "").unwrap())),
    ];
    for (expected, damage) in cases {
        let (_directory, found) = damaged(damage).await;
        assert_eq!(number(&found), Some(1), "{expected}");
        let warnings = found.unwrap().warnings;
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{expected}: {warnings:?}");
    }
}

#[tokio::test]
async fn a_checkpoint_that_never_completed_counts_for_nothing() {
    let (_directory, found) = damaged(|folder| std::fs::remove_file(folder.join(MANIFEST)).unwrap()).await;
    assert_eq!(number(&found), Some(1));
    let found = found.unwrap();
    assert_eq!((found.warnings.len(), found.highest), (0, 2), "no warning, but its number is not used again");
}

#[tokio::test]
async fn nothing_whole_is_no_silent_start_from_the_beginning() {
    let (_directory, found) = damaged(|folder| {
        std::fs::write(folder.join(MANIFEST), "").unwrap();
        std::fs::write(folder.with_file_name("checkpoint-000001").join(MANIFEST), "{").unwrap();
    })
    .await;
    let message = found.unwrap_err().message().to_owned();
    assert!(message.contains("checkpoint-000001") && message.contains("--fresh"), "{message}");
}

/// An attempt that begins when storage does not answer is tried again; what is wrong for good ends the job.
#[tokio::test]
async fn what_cannot_be_read_now_is_told_from_what_is_damaged() {
    let (directory, found) = damaged(|folder| {
        for folder in [folder, &folder.with_file_name("checkpoint-000001")] {
            let manifest = folder.join(MANIFEST);
            std::fs::remove_file(&manifest).unwrap();
            std::os::unix::fs::symlink(&manifest, &manifest).unwrap();
        }
    })
    .await;
    assert_eq!(found.unwrap_err().kind(), ErrorKind::Transient);
    let newest = directory.path().join("checkpoint-000002");
    for path in [directory.path(), &newest] {
        let error = CheckpointStore::named(path, "flight_delays", &Landing::Memory).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transient, "{error}");
        assert!(error.message().starts_with(&format!("cannot resume from `{}`: ", path.display())), "{error}");
    }
    std::fs::remove_file(newest.join(MANIFEST)).unwrap();
    std::fs::write(newest.join(MANIFEST), "{").unwrap();
    let error = CheckpointStore::named(&newest, "flight_delays", &Landing::Memory).await.unwrap_err();
    assert!(error.kind() != ErrorKind::Transient && error.message().contains("is damaged"), "{error}");
}

#[tokio::test]
async fn another_jobs_checkpoints_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap();
    assert!(store.latest("x").await.unwrap().checkpoint.is_none());
    store.write(manifest(1), parts(1)).await.unwrap();
    let message = store.latest("other").await.unwrap_err().message().to_owned();
    assert!(message.contains("belongs to the job `flight_delays`"), "{message}");
}

/// One of before would have the job do again what the newest has committed.
#[tokio::test]
async fn one_of_a_newer_version_is_refused_and_none_before_it_is_used() {
    let (_directory, found) = damaged(|folder| {
        let path = folder.join(MANIFEST);
        let text = std::fs::read_to_string(&path).unwrap();
        let newer = text.lines().next().unwrap().replace(&format!("\"format\":{FORMAT}"), "\"format\":77");
        let checksum = xxhash_rust::xxh3::xxh3_64(newer.as_bytes());
        std::fs::write(&path, format!("{newer}\nxxh3 {checksum:016x}\n")).unwrap();
    })
    .await;
    let message = found.unwrap_err().message().to_owned();
    let said =
        format!("checkpoint-000002/manifest.json` was written by a newer version (format 77, this one knows {FORMAT}); build");
    assert!(message.contains(&said), "{message}");
}

/// As by a program that the process before has started, and that does not run yet.
#[tokio::test]
async fn a_lock_that_is_about_to_go_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let shown = directory.path().to_str().unwrap();
    drop(CheckpointStore::open(shown).await.unwrap());
    let lock = std::fs::File::open(directory.path().join(".lock")).unwrap();
    lock.lock().unwrap();
    let (opened, ()) = tokio::join!(CheckpointStore::open(shown), async {
        tokio::task::yield_now().await;
        drop(lock);
    });
    opened.unwrap();
}

#[tokio::test]
async fn a_second_process_is_kept_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let first = CheckpointStore::open(path).await.unwrap();
    assert!(CheckpointStore::open(path).await.unwrap_err().message().contains("another process"));
    drop(first);
    assert!(CheckpointStore::open(path).await.is_ok());
}

#[tokio::test]
async fn old_checkpoints_go_and_the_newest_stay() {
    let directory = tempfile::tempdir().unwrap();
    let store = CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap();
    for id in 1..=4 {
        store.write(manifest(id), parts(id)).await.unwrap();
    }
    std::fs::remove_file(directory.path().join("checkpoint-000003").join(MANIFEST)).unwrap();
    store.retain(4, 2).await.unwrap();
    let mut ids = store.ids().await.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, [2, 4], "3 never completed");
    store.clear().await.unwrap();
    assert_eq!(store.ids().await.unwrap(), [0; 0]);
}

const JOB: &str = "flight_delays";

/// A store with the checkpoints 1 and 2.
async fn two_checkpoints() -> (Faulty, CheckpointStore) {
    let faulty = Faulty::default();
    let store = CheckpointStore::over(Arc::new(faulty.clone()), None).await.unwrap();
    store.write(manifest(1), parts(1)).await.unwrap();
    store.write(manifest(2), parts(2)).await.unwrap();
    (faulty, store)
}

async fn newest(store: &CheckpointStore) -> Option<u64> {
    store.latest(JOB).await.unwrap().checkpoint.map(|checkpoint| checkpoint.manifest.checkpoint)
}

#[tokio::test]
async fn a_read_that_fails_for_a_while_is_no_damage() {
    let (faulty, store) = two_checkpoints().await;
    for name in ["000002/manifest.json", "000002/0000.state"] {
        faulty.fail(Request::Get, name, io::ErrorKind::TimedOut, 3);
        assert_eq!(newest(&store).await, Some(2), "{name}");
    }
    assert_eq!(store.latest(JOB).await.unwrap().warnings, [""; 0]);
}

/// A part of a job goes on from its own files, whatever has become of the others.
#[tokio::test]
async fn what_is_left_out_is_not_looked_at() {
    let (faulty, store) = two_checkpoints().await;
    faulty.fail(Request::Get, "000002/0000.state", io::ErrorKind::PermissionDenied, u32::MAX);
    let left_out = ["checkpoint-000002/0000.state".to_owned()].into();
    let checkpoint = store.read_without("checkpoint-000002", JOB, &left_out).await.ok().flatten().unwrap();
    assert_eq!((checkpoint.groups.len(), checkpoint.entries.len(), checkpoint.manifest.files.len()), (0, 1, 2));
    assert!(store.read("checkpoint-000002", JOB).await.is_err());
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_no_failure() {
    let (faulty, store) = two_checkpoints().await;
    for name in ["0001.state", "manifest.json"] {
        faulty.fail(Request::PutAnswer, &format!("000003/{name}"), io::ErrorKind::TimedOut, 1);
    }
    store.write(manifest(3), parts(3)).await.unwrap();
    assert_eq!(newest(&store).await, Some(3));
}

/// An older checkpoint in its place would bring back what the newest has committed.
#[tokio::test]
async fn a_checkpoint_that_cannot_be_read_is_an_error_and_none_before_it_is_used() {
    let (faulty, store) = two_checkpoints().await;
    for (name, kind) in [
        ("000002/manifest.json", io::ErrorKind::TimedOut),
        ("000002/manifest.json", io::ErrorKind::PermissionDenied),
        ("000002/0001.state", io::ErrorKind::TimedOut),
        ("000002/0001.state", io::ErrorKind::PermissionDenied),
    ] {
        faulty.fail(Request::Get, name, kind, u32::MAX);
        let error = store.latest(JOB).await.unwrap_err();
        let said = error.message();
        assert!(said.contains(&format!("`memory/checkpoint-{name}` cannot be read: ")), "{said}");
        assert!(said.contains("--from memory/checkpoint-000001"), "{said}");
        faulty.mend();
        assert_eq!(newest(&store).await, Some(2));
    }
}

/// C75
#[tokio::test]
async fn a_full_disk_fails_one_checkpoint_and_leaves_nothing_of_it() {
    let (faulty, store) = two_checkpoints().await;
    for name in ["0000.state", "0001.state", "manifest.json"] {
        faulty.fail(Request::Put, &format!("000003/{name}"), io::ErrorKind::StorageFull, u32::MAX);
        let error = store.write(manifest(3), parts(3)).await.unwrap_err();
        assert!(error.message().contains(&format!("cannot write `memory/checkpoint-000003/{name}`: ")), "{error}");
        assert_eq!(error.kind(), ErrorKind::Transient);
        let found = store.latest(JOB).await.unwrap();
        assert_eq!((found.highest, found.checkpoint.unwrap().manifest.checkpoint), (2, 2), "its room is free again");
        faulty.mend();
    }
    store.write(manifest(3), parts(3)).await.unwrap();
    assert_eq!(newest(&store).await, Some(3));
}

#[tokio::test]
async fn retention_keeps_what_it_cannot_look_at() {
    let (faulty, store) = two_checkpoints().await;
    store.write(manifest(3), parts(3)).await.unwrap();
    faulty.fail(Request::Get, "000001/manifest.json", io::ErrorKind::TimedOut, u32::MAX);
    store.retain(3, 1).await.unwrap();
    faulty.mend();
    store.remove(3).await.unwrap();
    assert_eq!(newest(&store).await, Some(1), "2 was removed, and nobody knew of 1");
    store.retain(3, 0).await.unwrap();
    assert_eq!(newest(&store).await, None);
}
