//! A lease on a directory of checkpoints: of several processes of a job one runs, and one that lost it completes nothing more.
//!
//! Each holder has an epoch and a record `.lease-000007`, which it makes with a request that succeeds once, whoever asks. While it
//! lives it renews the record. Whoever finds a record watches it by its own clock: if it does not change for [`EXPIRES`], the
//! holder is taken for dead and the next epoch is begun. On the same machine nobody waits: there a holder that has ended is seen
//! at once, by the lock on a local directory or by its process number.
//!
//! Being taken for dead is no harm: a holder that was only paused looks for a later epoch *after* it has written a manifest and
//! before the checkpoint counts, and a new holder begins its epoch *before* it looks for the newest checkpoint. So either the old
//! one finds that it has lost the directory, and commits nothing, or the new one finds the manifest and goes on from there; then
//! both commit the same. A manifest that comes later still is behind the fence that the new holder has set, and counts no more.
//!
//! On a network file system this holds where exclusive creation does and names are looked up afresh within [`EXPIRES`]; a lock
//! that works there, too, only makes it faster.

mod holder;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use record::{GivenUp, Range};

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::sync::watch;

use crate::checkpoint::{MANIFEST, folder_of};
use crate::error::{JobError, JobResult};
use crate::notice::notice;
use crate::seam::Instant;
use crate::storage::{create, retried, root_cause};
use holder::Holder;
use record::Record;

/// A holder that is not heard of for so long is taken for dead.
const EXPIRES: Duration = if cfg!(test) { Duration::from_millis(400) } else { Duration::from_secs(15) };

/// How often a holder is heard of.
const RENEWED: Duration = if cfg!(test) { Duration::from_millis(40) } else { Duration::from_secs(5) };

/// How often somebody who waits looks.
const LOOK: Duration = if cfg!(test) { Duration::from_millis(10) } else { Duration::from_millis(500) };

/// Somebody who waits has looked so often before it takes a holder for dead: one that was itself stopped for a while has not.
const LOOKS: u128 = EXPIRES.as_millis() / LOOK.as_millis() / 2;

/// Records of so many earlier epochs stay.
const RECORDS: u64 = 32;

const NAME: &str = ".lease-";

/// Leases of this process: a record that names this process and is not among them is of one that was dropped.
static LIVE: LazyLock<Mutex<HashSet<(String, u64)>>> = LazyLock::new(Mutex::default);

/// A directory that this process holds.
#[derive(Debug)]
pub(crate) struct Lease {
    inner: Arc<Inner>,
    renewal: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct Inner {
    store: Arc<dyn ObjectStore>,
    /// The directory, for people.
    shown: String,
    epoch: u64,
    /// Nobody else on this machine can hold it.
    locked: bool,
    record: tokio::sync::Mutex<Record>,
    /// It is lost: why.
    lost: watch::Sender<Option<String>>,
}

impl Lease {
    /// Takes the lease, or says who holds it. Waits where that may be somebody who has died. `locked`: this process holds a lock that
    /// keeps out all others on this machine.
    pub(super) async fn take(store: Arc<dyn ObjectStore>, shown: String, locked: bool) -> JobResult<Self> {
        let cannot = |error: Error| {
            JobError::new(format!("cannot take the lease of the checkpoint directory `{shown}`: {}", root_cause(&error)))
        };
        let held = epochs(&*store).await.map_err(cannot)?;
        let before = held.last().copied().unwrap_or(0);
        let mut record = Record { holder: Holder::own(), ..Record::default() };
        if before > 0 {
            let found = wait_for_its_end(&*store, before, &shown, locked).await?;
            record.given_up = found.given_up;
        }
        let epoch = before + 1;
        match create(&*store, &name_of(epoch), record.to_bytes(), locked).await {
            Ok(()) => {}
            Err(Error::AlreadyExists { .. }) => {
                let other = read(&*store, epoch).await.map_err(cannot)?;
                return Err(held_by(&shown, other.as_ref().map(|(record, _)| record)));
            }
            Err(error) => return Err(cannot(error)),
        }
        // From here on, whoever held it before sees that it does not any more. What it has completed until now counts.
        let complete = newest_complete(&*store).await.map_err(cannot)?;
        record.given_up.add_fence(epoch, complete);
        record.beat = 1;
        put(&*store, epoch, &record).await.map_err(cannot)?;
        for old in held.into_iter().filter(|&old| old + RECORDS < epoch) {
            let _ = store.delete(&name_of(old)).await;
        }
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).insert((shown.clone(), epoch));
        let record = tokio::sync::Mutex::new(record);
        let inner = Arc::new(Inner { store, shown, epoch, locked, record, lost: watch::channel(None).0 });
        let renewal = tokio::spawn(renew(inner.clone()));
        Ok(Lease { inner, renewal })
    }

    /// As a process that is stopped: it is not heard of.
    #[cfg(test)]
    pub(super) fn pause(&self) {
        self.renewal.abort();
    }

    pub(super) fn epoch(&self) -> u64 {
        self.inner.epoch
    }

    /// Whether nobody else on this machine can hold it.
    pub(super) fn locked(&self) -> bool {
        self.inner.locked
    }

    /// An error when somebody else has taken the directory, which no restart cures, or when that cannot be found out.
    pub(super) async fn check(&self) -> JobResult<()> {
        self.inner.check().await
    }

    /// Waits until somebody else has taken the directory.
    pub(super) async fn lost(&self) -> JobError {
        let mut lost = self.inner.lost.subscribe();
        let why = lost.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        match why {
            Some(why) => JobError::new(why),
            None => std::future::pending().await,
        }
    }

    /// Checkpoints that count no more.
    pub(super) async fn given_up(&self) -> GivenUp {
        self.inner.record.lock().await.given_up.clone()
    }

    /// Checkpoints of a run behind `from` up to `to` count no more.
    pub(super) async fn give_up(&self, from: u64, to: u64, run: String) -> JobResult<()> {
        self.check().await?;
        let mut record = self.inner.record.lock().await;
        record.given_up.add_range(Range { from, to, by: self.inner.epoch, run: Some(run) });
        self.inner.put(&record).await
    }

    /// Says that this process has ended: the next one does not wait.
    pub(super) async fn release(&self) {
        self.renewal.abort();
        let mut record = self.inner.record.lock().await;
        record.released = true;
        if self.inner.check().await.is_ok() {
            // If that fails, the next one waits.
            let _ = self.inner.put(&record).await;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).remove(&(self.inner.shown.clone(), self.inner.epoch));
    }
}

impl Inner {
    async fn check(&self) -> JobResult<()> {
        let failed = |error: Error| {
            JobError::transient(format!(
                "cannot find out whether the checkpoint directory `{}` still belongs to this process: {}",
                self.shown,
                root_cause(&error)
            ))
        };
        let next = read(&*self.store, self.epoch + 1).await.map_err(failed)?;
        let why = match next {
            Some((record, _)) => self.lost_to(&record.holder.to_string()),
            None if read(&*self.store, self.epoch).await.map_err(failed)?.is_some() => return Ok(()),
            // So long ago that the record was removed.
            None if epochs(&*self.store).await.map_err(failed)?.last().is_some_and(|&last| last > self.epoch) => {
                self.lost_to("another process")
            }
            None => format!(
                "`{}/{}`, which says that the checkpoint directory is this process's, is gone: was the directory removed? From here on it \
                 stores and commits nothing; the same command goes on from the newest checkpoint that is there",
                self.shown,
                name_of(self.epoch)
            ),
        };
        self.lost.send_replace(Some(why.clone()));
        Err(JobError::new(why))
    }

    fn lost_to(&self, who: &str) -> String {
        format!(
            "this process was not heard of for {} s and has lost the checkpoint directory `{}` to {who}; from here on it stores and \
             commits nothing",
            EXPIRES.as_secs(),
            self.shown
        )
    }

    async fn put(&self, record: &Record) -> JobResult<()> {
        put(&*self.store, self.epoch, record).await.map_err(|error| {
            JobError::transient(format!("cannot write `{}/{}`: {}", self.shown, name_of(self.epoch), root_cause(&error)))
        })
    }
}

async fn renew(inner: Arc<Inner>) {
    loop {
        tokio::time::sleep(RENEWED).await;
        // Locked against others who write the record, not during the look.
        if inner.check().await.is_err() {
            if inner.lost.borrow().is_some() {
                return;
            }
            continue;
        }
        let mut record = inner.record.lock().await;
        record.beat += 1;
        // If that fails, the next one may succeed.
        let _ = inner.put(&record).await;
    }
}

/// Waits until the holder of this epoch has certainly ended, or has not been heard of for too long.
async fn wait_for_its_end(store: &dyn ObjectStore, epoch: u64, shown: &str, locked: bool) -> JobResult<Record> {
    let failed = |error: Error| JobError::new(format!("cannot read `{shown}/{}`: {}", name_of(epoch), root_cause(&error)));
    let Some((first, bytes)) = read(store, epoch).await.map_err(failed)? else { return Ok(Record::default()) };
    let has_ended = |record: &Record| {
        let holder = &record.holder;
        record.released
            || locked && holder.shares_kernel()
            || holder.has_ended()
            || holder.is_own() && !LIVE.lock().unwrap_or_else(PoisonError::into_inner).contains(&(shown.to_owned(), epoch))
    };
    if has_ended(&first) {
        return Ok(first);
    }
    if first.holder.lives() {
        return Err(held_by(shown, Some(&first)));
    }
    let began = Instant::now();
    let (mut told, mut looks) = (false, 0);
    loop {
        tokio::time::sleep(LOOK).await;
        looks += 1;
        let Some((now, now_bytes)) = read(store, epoch).await.map_err(failed)? else { return Ok(first) };
        if has_ended(&now) {
            return Ok(now);
        }
        if now_bytes != bytes {
            return Err(held_by(shown, Some(&now)));
        }
        if began.elapsed() >= EXPIRES && looks >= LOOKS {
            notice(&format!(
                "the checkpoint directory `{shown}` was held by {}, which has not been heard of for {} s; taking it over",
                now.holder,
                EXPIRES.as_secs()
            ));
            return Ok(now);
        }
        if !told && began.elapsed() > RENEWED + LOOK {
            told = true;
            notice(&format!(
                "the checkpoint directory `{shown}` is held by {}; waiting up to {} s for a sign of life",
                now.holder,
                EXPIRES.as_secs()
            ));
        }
    }
}

/// The error for somebody who comes second.
fn held_by(shown: &str, record: Option<&Record>) -> JobError {
    let who = record.map_or(String::new(), |record| format!(" ({})", record.holder));
    JobError::new(format!(
        "another process{who} is running with the checkpoint directory `{shown}`; wait for it, stop it, or give this one another \
         directory (--checkpoint-dir)"
    ))
}

/// The same where a lock says so.
pub(super) async fn locked_by(store: &dyn ObjectStore, shown: &str) -> JobError {
    let last = epochs(store).await.unwrap_or_default().last().copied().unwrap_or(0);
    let record = read(store, last).await.ok().flatten();
    held_by(shown, record.as_ref().map(|(record, _)| record))
}

/// What the newest record says of checkpoints that count no more, for those who only read.
pub(super) async fn given_up(store: &dyn ObjectStore) -> Result<GivenUp, Error> {
    match epochs(store).await?.last() {
        Some(&last) => Ok(read(store, last).await?.map(|(record, _)| record.given_up).unwrap_or_default()),
        None => Ok(GivenUp::default()),
    }
}

fn name_of(epoch: u64) -> Path {
    Path::from(format!("{NAME}{epoch:06}"))
}

/// All epochs with a record, in order.
async fn epochs(store: &dyn ObjectStore) -> Result<Vec<u64>, Error> {
    let listed = retried(|| store.list_with_delimiter(None)).await?;
    let epoch = |path: &Path| path.filename()?.strip_prefix(NAME)?.parse().ok();
    let mut epochs: Vec<u64> = listed.objects.iter().filter_map(|object| epoch(&object.location)).collect();
    epochs.sort_unstable();
    Ok(epochs)
}

/// A record and its bytes. One that is not whole is an error: it may say which checkpoints count no more.
async fn read(store: &dyn ObjectStore, epoch: u64) -> Result<Option<(Record, Vec<u8>)>, Error> {
    let path = name_of(epoch);
    match retried(|| async { store.get(&path).await?.bytes().await }).await {
        Ok(bytes) => match Record::from_bytes(&bytes) {
            Some(record) => Ok(Some((record, bytes.to_vec()))),
            None => {
                let reason = "is damaged; remove this file if no other process runs with the directory";
                Err(Error::NotSupported { source: format!("`{path}` {reason}").into() })
            }
        },
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn put(store: &dyn ObjectStore, epoch: u64, record: &Record) -> Result<(), Error> {
    let (path, payload) = (name_of(epoch), PutPayload::from(record.to_bytes()));
    retried(|| store.put(&path, payload.clone())).await.map(drop)
}

/// The number of the newest checkpoint with a manifest; 0: there is none.
async fn newest_complete(store: &dyn ObjectStore) -> Result<u64, Error> {
    for id in super::storage::ids(store).await?.into_iter().rev() {
        let manifest = Path::from(format!("{}/{MANIFEST}", folder_of(id)));
        match retried(|| store.head(&manifest)).await {
            Ok(_) => return Ok(id),
            Err(Error::NotFound { .. }) => {}
            Err(error) => {
                let reason = format!("`{manifest}` cannot be read: {}", root_cause(&error));
                return Err(Error::Generic { store: "checkpoints", source: reason.into() });
            }
        }
    }
    Ok(0)
}
