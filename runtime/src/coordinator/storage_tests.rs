//! Checkpoints in a store that fails for a while, for good, or after it has done what it was asked for.

use std::io::ErrorKind;
use std::sync::Arc;

use super::storage::CheckpointStore;
use super::storage::tests::{manifest, parts};
use crate::storage::faulty::{Faulty, Request};

const JOB: &str = "flight_delays";

/// A store with the checkpoints 1 and 2.
async fn two_checkpoints() -> (Faulty, CheckpointStore) {
    let faulty = Faulty::default();
    let store = CheckpointStore::over(Arc::new(faulty.clone()));
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
        faulty.fail(Request::Get, name, ErrorKind::TimedOut, 3);
        assert_eq!(newest(&store).await, Some(2), "{name}");
    }
    assert_eq!(store.latest(JOB).await.unwrap().warnings, [""; 0]);
}

/// An older checkpoint in its place would bring back what the newest has committed.
#[tokio::test]
async fn a_checkpoint_that_cannot_be_read_is_an_error_and_none_before_it_is_used() {
    let (faulty, store) = two_checkpoints().await;
    for (name, kind) in [
        ("000002/manifest.json", ErrorKind::TimedOut),
        ("000002/manifest.json", ErrorKind::PermissionDenied),
        ("000002/0001.state", ErrorKind::TimedOut),
        ("000002/0001.state", ErrorKind::PermissionDenied),
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
        faulty.fail(Request::Put, &format!("000003/{name}"), ErrorKind::StorageFull, u32::MAX);
        let error = store.write(manifest(3), parts(3)).await.unwrap_err();
        assert!(error.message().contains(&format!("cannot write `memory/checkpoint-000003/{name}`: ")), "{error}");
        assert_eq!(error.kind(), crate::error::ErrorKind::Transient);
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
    faulty.fail(Request::Get, "000001/manifest.json", ErrorKind::TimedOut, u32::MAX);
    store.retain(3, 1).await.unwrap();
    faulty.mend();
    store.remove(3).await.unwrap();
    assert_eq!(newest(&store).await, Some(1), "2 was removed, and nobody knew of 1");
    store.retain(3, 0).await.unwrap();
    assert_eq!(newest(&store).await, None);
}
