//! Several processes on one directory: at once, one after the other, and one that was paused for too long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};

use super::holder::Holder;
use super::record::Record;
use super::{EXPIRES, Lease, name_of, put};
use crate::checkpoint::{Manifest, sample};
use crate::coordinator::Contents;
use crate::coordinator::storage::CheckpointStore;
use crate::error::{ErrorKind, JobResult};

const JOB: &str = "flight_delays";

/// A directory of its own: the leases of one process are told by its name.
struct Directory {
    objects: Arc<dyn ObjectStore>,
    shown: String,
}

impl Directory {
    fn new(name: &str) -> Self {
        Directory { objects: Arc::new(InMemory::new()), shown: name.to_owned() }
    }

    async fn take(&self) -> JobResult<Lease> {
        Lease::take(self.objects.clone(), self.shown.clone(), false).await
    }

    async fn open(&self) -> JobResult<CheckpointStore> {
        CheckpointStore::over(self.objects.clone(), Some(&self.shown)).await
    }

    /// Takes it without waiting for anybody: nothing here takes time but the waits.
    fn take_at_once(&self) -> Lease {
        self.take().now_or_never().expect("it waits").unwrap()
    }

    /// The first wrote a checkpoint and was paused, the second has taken the directory over.
    async fn overtaken(&self) -> (CheckpointStore, CheckpointStore) {
        let first = self.open().await.unwrap();
        first.write(manifest(1), Contents::default()).await.unwrap();
        first.pause();
        let second = self.open().await.unwrap();
        assert_eq!(newest(&second).await, Some(1));
        (first, second)
    }

    /// Somebody holds it who is not heard of.
    async fn held_by(&self, holder: Holder) {
        put(&*self.objects, 1, &Record { holder, ..Record::default() }).await.unwrap();
    }
}

fn manifest(checkpoint: u64) -> Manifest {
    Manifest { checkpoint, files: Vec::new(), ..sample() }
}

async fn newest(store: &CheckpointStore) -> Option<u64> {
    store.latest(JOB).await.unwrap().checkpoint.map(|checkpoint| checkpoint.manifest.checkpoint)
}

/// C79
#[tokio::test]
async fn of_several_that_start_at_once_one_runs_and_the_others_say_which() {
    let directory = Directory::new("at once");
    for _ in 0..5 {
        let taken = futures_util::future::join_all((0..8).map(|_| directory.take())).await;
        let (held, refused): (Vec<_>, Vec<_>) = taken.into_iter().partition(Result::is_ok);
        assert_eq!((held.len(), refused.len()), (1, 7));
        for refused in refused {
            let said = refused.unwrap_err();
            let holder = format!("another process (process {} on `", std::process::id());
            assert!(said.message().contains(&holder) && said.message().contains("`at once`"), "{said}");
        }
    }
}

#[tokio::test]
async fn a_holder_that_lives_is_not_disturbed_however_long_somebody_waits() {
    let directory = Directory::new("lives");
    let lease = directory.take().await.unwrap();
    for _ in 0..3 {
        assert!(directory.take().await.unwrap_err().message().contains("another process"));
        lease.check().await.unwrap();
    }
}

#[tokio::test]
async fn nobody_waits_for_one_that_ended_well_or_is_known_to_be_dead() {
    let directory = Directory::new("ended");
    let lease = directory.take_at_once();
    assert!(directory.take().now_or_never().is_none(), "for one that lives it waits");
    lease.release().await;
    drop(directory.take_at_once());
    // Dropped without a word.
    let third = directory.take_at_once();
    assert_eq!(third.epoch(), 3);
    // kill -9, on this machine.
    let directory = Directory::new("killed");
    directory.held_by(Holder { began: 1, ..Holder::own() }).await;
    drop(directory.take_at_once());
}

#[tokio::test]
async fn one_elsewhere_that_is_not_heard_of_is_taken_for_dead_after_a_while() {
    let directory = Directory::new("elsewhere");
    directory.held_by(Holder { host: "b".into(), boot: "another".into(), ..Holder::own() }).await;
    let began = Instant::now();
    let lease = directory.take().await.unwrap();
    assert!(began.elapsed() >= EXPIRES, "{:?}", began.elapsed());
    assert_eq!(lease.epoch(), 2);
}

/// Paused for minutes, and gone on with.
#[tokio::test]
async fn one_that_lost_the_directory_completes_nothing_more() {
    let directory = Directory::new("paused");
    let (first, second) = directory.overtaken().await;
    let error = first.write(manifest(2), Contents::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Permanent, "no restart cures it: {error}");
    assert!(error.message().contains("has lost the checkpoint directory `paused` to process"), "{error}");
    let error = tokio::time::timeout(Duration::from_secs(5), first.lost()).await.expect("it is told");
    assert!(error.message().contains("has lost"), "{error}");
    // What it wrote is there, and counts for nobody: not for the second, not for those that follow.
    assert_eq!(second.ids().await.unwrap(), [1, 2]);
    assert_eq!(newest(&second).await, Some(1));
    assert!(second.latest(JOB).await.unwrap().warnings[0].contains("had lost the directory"));
    assert!(first.clear().await.is_err(), "nor does it remove anything");
    // The number is taken: the second fails once, and goes on with the next.
    assert!(
        second.write(manifest(2), Contents::default()).await.unwrap_err().message().contains("another process has written one")
    );
    second.write(manifest(3), Contents::default()).await.unwrap();
    drop(second);
    let third = directory.open().await.unwrap();
    assert_eq!(newest(&third).await, Some(3));
}

/// Whoever goes on after a pause removes nothing of what the next holder has written under the same number, and takes nothing back.
#[tokio::test]
async fn one_that_lost_the_directory_takes_nothing_from_the_next_holder() {
    let directory = Directory::new("nothing taken");
    let (first, second) = directory.overtaken().await;
    second.write(manifest(2), Contents::default()).await.unwrap();
    let error = first.write(manifest(2), Contents::default()).await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Permanent && error.message().contains("has lost"),
        "what is wrong with the number: {error}"
    );
    first.abandon(2).await;
    assert_eq!(newest(&second).await, Some(2));
    // A restart that found the newest of the next holder: its sinks would take back what is behind that.
    first.go_on_from(2, 2, &sample().run);
    let error = first.give_up_newer().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Permanent && error.message().contains("has lost"), "{error}");
    second.abandon(2).await;
    assert_eq!(newest(&second).await, Some(1), "its own it removes");
}

/// It was paused between the manifest and the look whether it still holds the directory.
#[tokio::test]
async fn a_manifest_that_the_next_holder_finds_counts_for_both() {
    let directory = Directory::new("between");
    let (first, second) = directory.overtaken().await;
    second.write(manifest(2), Contents::default()).await.unwrap();
    assert!(first.write(manifest(3), Contents::default()).await.is_err());
    assert_eq!(newest(&second).await, Some(2));
}

/// What a process that was overtaken completed later counts no more, and stands in nobody's place.
#[tokio::test]
async fn what_came_too_late_is_not_among_those_that_are_kept() {
    let directory = Directory::new("too late");
    let (first, second) = directory.overtaken().await;
    second.write(manifest(2), Contents::default()).await.unwrap();
    assert!(first.write(manifest(3), Contents::default()).await.is_err());
    assert_eq!(second.ids().await.unwrap(), [1, 2, 3]);
    second.write(manifest(4), Contents::default()).await.unwrap();
    second.retain(4, 2).await.unwrap();
    assert_eq!(second.ids().await.unwrap(), [2, 4]);
    second.remove(4).await.unwrap();
    assert_eq!(newest(&second).await, Some(2));
}

#[tokio::test]
async fn what_the_job_went_back_behind_counts_no_more() {
    let directory = Directory::new("given up");
    let store = directory.open().await.unwrap();
    for id in 1..=4 {
        store.write(manifest(id), Contents::default()).await.unwrap();
    }
    store.go_on_from(2, 4, &sample().run);
    assert_eq!(newest(&store).await, Some(4), "nothing has happened yet");
    store.give_up_newer().await.unwrap();
    assert_eq!(newest(&store).await, Some(2));
    store.write(manifest(5), Contents::default()).await.unwrap();
    assert_eq!(newest(&store).await, Some(5));
    store.retain(5, 2).await.unwrap();
    assert_eq!(store.ids().await.unwrap(), [2, 5], "3 and 4 are not among those that are kept");
    drop(store);
    let next = directory.open().await.unwrap();
    next.remove(5).await.unwrap();
    assert_eq!(newest(&next).await, Some(2));
}

#[tokio::test]
async fn numbers_that_begin_anew_after_a_run_count() {
    let directory = Directory::new("anew");
    let store = directory.open().await.unwrap();
    store.write(manifest(2), Contents::default()).await.unwrap();
    // The third was begun when the process before was killed.
    store.go_on_from(2, 3, &sample().run);
    store.give_up_newer().await.unwrap();
    // The run is done.
    store.clear().await.unwrap();
    store.release().await;
    drop(store);
    let next = directory.open().await.unwrap();
    for id in 1..=3 {
        next.write(manifest(id), Contents::default()).await.unwrap();
        next.retain(id, 2).await.unwrap();
    }
    assert_eq!(next.ids().await.unwrap(), [2, 3]);
    drop(next);
    assert_eq!(newest(&directory.open().await.unwrap()).await, Some(3), "the third of the run before is another one");
}

#[tokio::test]
async fn a_record_that_is_not_whole_is_an_error_that_names_it() {
    let directory = Directory::new("torn");
    directory.objects.put(&name_of(4), b"{\"holder\":"[..].into()).await.unwrap();
    let said = directory.take().await.unwrap_err();
    assert!(said.message().contains("`torn/.lease-000004`") && said.message().contains("damaged"), "{said}");
}
