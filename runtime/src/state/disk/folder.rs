//! The folder of an attempt, and the store in it.
//!
//! The store is made when the first entry has to go: a job whose state fits into memory never writes a byte.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, Snapshot};

use crate::error::{JobError, JobResult};
use crate::storage::root_cause;

/// The names of folders of attempts begin so.
const NAME: &str = "millstream-";

/// Whoever holds the lock on this file uses the folder.
const LOCK: &str = ".lock";

/// So many keys of tables that are gone are taken off the disk at a time.
const TIDY: usize = 1024;

/// A folder that only this process uses, and that goes with it.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    _lock: File,
}

/// The disk that the keyed tables of a process share, and how much memory they may take.
pub struct Disk {
    /// Bytes of entries in memory, of all tables.
    cache: usize,
    /// Bytes for what the store itself keeps in memory.
    buffers: u64,
    used: AtomicUsize,
    tables: AtomicUsize,
    next: AtomicU32,
    store: OnceLock<Store>,
    opening: Mutex<()>,
    /// The store has failed once: it takes nothing any more.
    broken: AtomicBool,
    /// Keys of tables that are gone: from, and behind.
    garbage: Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
    // Behind the store: it goes last.
    folder: OwnFolder,
}

pub(super) struct Store {
    db: Database,
    pub entries: Keyspace,
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disk").field("folder", &self.folder.path).field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl OwnFolder {
    /// A new folder below `path`. What processes that are no more have left there is removed.
    pub fn make(path: &Path) -> JobResult<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let io = |error: &std::io::Error| {
            let failed = JobError::io(format_args!("cannot keep state in `{}`", path.display()), error);
            match error.kind() {
                // Comes with time: room may be made.
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::Interrupted => failed,
                _ => failed.permanent(),
            }
        };
        fs::create_dir_all(path).map_err(|error| io(&error))?;
        // One process after the other, so that nobody takes a folder that is just being made for one that was left behind.
        let alone = File::create(path.join(LOCK)).map_err(|error| io(&error))?;
        alone.lock().map_err(|error| io(&error))?;
        remove_leftovers(path).map_err(|error| io(&error))?;
        let name = format!("{NAME}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = path.join(name);
        // Of a process of the same number, before the machine or the container began anew: its lock is gone.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).map_err(|error| io(&error))?;
        let lock = File::create(folder.join(LOCK)).map_err(|error| io(&error))?;
        lock.try_lock().map_err(|error| io(&error.into()))?;
        Ok(OwnFolder { path: folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Disk {
    /// A new folder below `path`, for this much memory in bytes. What processes that are no more have left there is removed.
    pub fn open(path: &Path, memory: u64) -> JobResult<Self> {
        let folder = OwnFolder::make(path)?;
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        Ok(Disk {
            // At a barrier what has changed of it is there twice.
            cache: memory / 2,
            buffers: (memory / 8) as u64,
            used: AtomicUsize::new(0),
            tables: AtomicUsize::new(0),
            next: AtomicU32::new(0),
            store: OnceLock::new(),
            opening: Mutex::new(()),
            broken: AtomicBool::new(false),
            garbage: Mutex::new(Vec::new()),
            folder,
        })
    }

    /// How many bytes of entries may be in memory.
    pub(super) fn cache(&self) -> usize {
        self.cache
    }

    /// A table says how many bytes it has in memory, after how many it said before. Gives how many there are in all tables.
    pub(super) fn charge(&self, before: usize, now: usize) -> usize {
        self.used.fetch_sub(before, Ordering::Relaxed);
        self.used.fetch_add(now, Ordering::Relaxed) + now
    }

    /// A share of the memory, when all tables get the same.
    pub(super) fn share(&self) -> usize {
        self.cache / self.tables.load(Ordering::Relaxed).max(1)
    }

    #[cfg(test)]
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes a table in; gives its number, with which its keys begin.
    pub(super) fn enter(&self) -> u32 {
        self.tables.fetch_add(1, Ordering::Relaxed);
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A table is gone. Where it has written anything, that goes bit by bit.
    pub(super) fn leave(&self, number: u32, has_written: bool) {
        self.tables.fetch_sub(1, Ordering::Relaxed);
        if has_written {
            let range = (number.to_be_bytes().to_vec(), number.saturating_add(1).to_be_bytes().to_vec());
            self.garbage.lock().unwrap_or_else(PoisonError::into_inner).push(range);
        }
    }

    /// The store.
    pub(super) fn store(&self) -> JobResult<&Store> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let _one = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        // Up to five of them are there at a time when the disk is slow.
        let memtable = (self.buffers / 2).clamp(1 << 20, 64 << 20);
        let open = || {
            let builder = Database::builder(self.folder.path.join("entries")).manual_journal_persist(true).worker_threads(2);
            let db = builder.cache_size(self.buffers.max(1 << 20)).max_journaling_size((4 * memtable).max(64 << 20)).open()?;
            let options = || KeyspaceCreateOptions::default().max_memtable_size(memtable).manual_journal_persist(true);
            let entries = db.keyspace("entries", options)?;
            Ok(Store { db, entries })
        };
        let store = open().map_err(|error| self.failed(&error))?;
        Ok(self.store.get_or_init(|| store))
    }

    /// Takes some keys of tables that are gone off the disk.
    pub(super) fn tidy(&self) -> JobResult<()> {
        let range = self.garbage.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some((from, behind)) = range else { return Ok(()) };
        let store = self.store()?;
        let mut batch = store.batch();
        let mut last = None;
        for item in store.entries.range(from..behind.clone()).take(TIDY) {
            let key = item.key().map_err(|error| self.failed(&error))?;
            batch.remove(&store.entries, key.clone());
            last = Some(key);
        }
        let more = batch.len() == TIDY;
        batch.commit().map_err(|error| self.failed(&error))?;
        if let Some(last) = last.filter(|_| more) {
            self.garbage.lock().unwrap_or_else(PoisonError::into_inner).push((last.to_vec(), behind));
        }
        Ok(())
    }

    /// What went wrong, with the folder.
    #[cold]
    pub(super) fn failed(&self, error: &fjall::Error) -> JobError {
        self.broken.store(true, Ordering::SeqCst);
        // A write in the background has failed before, and the store does not say why: the disk does, if it still does not work.
        let probe = self.folder.path.join("probe");
        let reason = match error {
            fjall::Error::Poisoned => match fs::write(&probe, vec![0; 1 << 20]) {
                Ok(()) => "an earlier write has failed".to_owned(),
                Err(error) => error.to_string(),
            },
            error => root_cause(error),
        };
        let _ = fs::remove_file(probe);
        JobError::transient(format!("cannot keep state in `{}`: {reason}", self.folder.path.display()))
    }

    /// Whether it has failed: only another one will do.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::SeqCst)
    }

    /// Something that was written came back as something else.
    #[cold]
    pub(super) fn damaged(&self, reason: &str) -> JobError {
        JobError::transient(format!(
            "cannot keep state in `{}`: what was written there is damaged: {reason}",
            self.folder.path.display()
        ))
    }
}

impl Store {
    /// What is there now, whatever is written later.
    pub fn snapshot(&self) -> Snapshot {
        self.db.snapshot()
    }

    pub fn batch(&self) -> OwnedWriteBatch {
        self.db.batch()
    }
}

/// Removes folders that nobody has locked.
fn remove_leftovers(path: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(path)? {
        let folder = entry?.path();
        if !folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(NAME)) {
            continue;
        }
        match File::open(folder.join(LOCK)).map(|lock| lock.try_lock()) {
            Ok(Err(TryLockError::WouldBlock)) => {}
            // What cannot be removed is in nobody's way.
            _ => drop(fs::remove_dir_all(&folder)),
        }
    }
    Ok(())
}
