//! Files of checkpoints that others build upon, put together into fewer: without the tasks, and beside all checkpoints.
//!
//! In: the files of a chain up to a checkpoint. Out: files that stand for them, in the folder of that checkpoint, with one piece of each
//! key group, which needs nothing before it. A savepoint is made in the same way, and so is what the first checkpoint builds upon behind one
//! that lies elsewhere: neither asks the tasks for all of their state at once, as it was at one moment. The next manifest that is written names these instead; until then nobody does, and if none
//! ever does, they go with what nobody needs of that folder. So whatever happens in the middle, what was whole stays whole.
//!
//! In memory are the key groups that are being put together, of [`AT_ONCE`] bytes or one that is larger, and files on their way. Every
//! piece is looked at before it is used: damage does not become whole by being copied.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use futures_util::StreamExt;
use object_store::ObjectStore as _;
use object_store::path::Path as StorePath;

use super::files::{Files, file_size};
use super::lineage::{Compacted, Plan};
use super::retention::{JOINED, Pin};
use super::storage::CheckpointStore;
use crate::checkpoint::{DataFile, EntryWriter, Piece, PieceAt, PieceFile, PiecesAt, StateName, folder_of, pieces};
use crate::error::JobError;
use crate::seam::{self, Point};
use crate::storage::{retried, root_cause};

/// So many bytes of pieces are put together at a time, or one key group.
const AT_ONCE: u64 = if cfg!(test) { 2 * 1024 } else { 16 << 20 };

/// So many files are read at a time.
const READS: usize = 4;

/// Why a chain is as long as it was.
#[derive(Debug)]
pub(super) enum NotCompacted {
    /// It may be done later.
    Failed(JobError),
    /// A file is not what was written: no checkpoint that builds upon it is of use.
    Damaged(String),
}

impl From<JobError> for NotCompacted {
    fn from(error: JobError) -> Self {
        NotCompacted::Failed(error)
    }
}

/// The pieces of a key group that count, in their order, with the numbers of their files.
type Group<'a> = Vec<(usize, &'a PieceAt)>;

/// The pieces of a key group, read.
struct Read<B> {
    of: Arc<StateName>,
    subtask: u32,
    group: u16,
    pieces: Vec<B>,
}

impl CheckpointStore {
    /// Puts the files of a plan together, in the folder of its checkpoint. `stop`: nobody wants that any more.
    pub(super) async fn compact(self: &Arc<Self>, plan: Plan, stop: &AtomicBool) -> Result<(Compacted, Pin), NotCompacted> {
        let into = plan.checkpoint;
        self.take_over(self, plan, into, stop).await
    }

    /// The same, of a plan of another store, in the folder of this checkpoint here.
    pub(super) async fn take_over(
        self: &Arc<Self>,
        from: &CheckpointStore,
        plan: Plan,
        into: u64,
        stop: &AtomicBool,
    ) -> Result<(Compacted, Pin), NotCompacted> {
        let pin = Pin::new(self.clone(), into);
        seam::reach(Point::Compact).await?;
        let folder = folder_of(into);
        let mut files = Files::new(self, &folder, self.epoch()).named(JOINED);
        let written = from.put_together(&plan, &mut files, stop).await;
        // Also if something has failed: none may still be on its way.
        let finished = files.finish(Ok(())).await;
        let in_files = written?;
        let own = |file: DataFile| DataFile { of: Some(into), ..file };
        let files =
            finished?.into_iter().zip(in_files).map(|(file, pieces)| Arc::new(PieceFile { file: own(file), pieces })).collect();
        seam::reach(Point::Compacted).await?;
        Ok((Compacted { plan, files }, pin))
    }

    /// Puts the files of a plan, which are here, together into others, wherever these are. Gives what is in each of them.
    pub(super) async fn put_together(
        &self,
        plan: &Plan,
        files: &mut Files<'_>,
        stop: &AtomicBool,
    ) -> Result<Vec<Vec<PieceAt>>, NotCompacted> {
        let groups = groups_of(plan).map_err(NotCompacted::Damaged)?;
        let mut written = Writing { files, writer: None, in_file: PiecesAt::default(), in_files: Vec::new() };
        let mut rest = groups.as_slice();
        while !rest.is_empty() {
            if stop.load(SeqCst) {
                return Err(JobError::transient("the job does not go on").into());
            }
            let (now, later) = rest.split_at(at_once(rest));
            rest = later;
            let read = self.read_pieces(plan, now).await?;
            written.put_together(read, rest.is_empty()).await?;
        }
        Ok(written.in_files)
    }

    /// The pieces of these key groups.
    async fn read_pieces(
        &self,
        plan: &Plan,
        groups: &[Group<'_>],
    ) -> Result<VecDeque<Read<impl AsRef<[u8]> + Send + 'static>>, NotCompacted> {
        let mut wanted: BTreeMap<usize, Vec<&PieceAt>> = BTreeMap::new();
        for (file, at) in groups.iter().flatten() {
            wanted.entry(*file).or_default().push(at);
        }
        let mut reads = Vec::new();
        for (number, wanted) in wanted {
            reads.push(async move {
                let file = &plan.files[number].file;
                let path = plan.path(file);
                let shown = || format!("`{}`", self.directory.join(&path).display());
                let path = StorePath::from(path.as_str());
                let ranges: Vec<_> = wanted.iter().map(|at| at.at.clone()).collect();
                let read = retried(|| self.store.get_ranges(&path, &ranges)).await.map_err(|error| match error {
                    object_store::Error::NotFound { .. } => NotCompacted::Damaged(format!("{} is missing", shown())),
                    error => JobError::transient(format!("{} cannot be read: {}", shown(), root_cause(&error))).into(),
                })?;
                match wanted.iter().zip(&read).all(|(at, bytes)| at.is(bytes)) && read.len() == wanted.len() {
                    true => Ok((number, read)),
                    false => Err(NotCompacted::Damaged(format!("{} is damaged: its checksum is wrong", shown()))),
                }
            });
        }
        let mut reads = futures_util::stream::iter(reads).buffered(READS);
        let mut read = BTreeMap::new();
        while let Some(done) = reads.next().await {
            let (number, bytes) = done?;
            read.insert(number, bytes.into_iter());
        }
        // As they were wanted.
        let mut next = |number: &usize| read.get_mut(number).and_then(Iterator::next).unwrap_or_default();
        let whole = groups.iter().filter_map(|group| {
            let pieces = group.iter().map(|(number, _)| next(number)).collect();
            let (_, last) = group.last()?;
            Some(Read { of: last.of.clone(), subtask: last.subtask, group: last.group, pieces })
        });
        Ok(whole.collect())
    }
}

/// Files that are being made.
struct Writing<'a, 'b> {
    files: &'a mut Files<'b>,
    writer: Option<EntryWriter>,
    in_file: PiecesAt,
    /// Of the files that are on their way.
    in_files: Vec<Vec<PieceAt>>,
}

impl Writing<'_, '_> {
    async fn put_together<B: AsRef<[u8]> + Send + 'static>(
        &mut self,
        mut read: VecDeque<Read<B>>,
        is_last: bool,
    ) -> Result<(), NotCompacted> {
        while !read.is_empty() {
            let (mut writer, mut in_file) = (self.writer.take(), std::mem::take(&mut self.in_file));
            let mut spare = self.files.spare();
            let merging = seam::blocking(move || {
                let mut failed = None;
                while let Some(Read { of, subtask, group, pieces: those }) = read.pop_front() {
                    let file = writer.get_or_insert_with(|| EntryWriter::large(spare.take()));
                    let names = [&*of.uid, &*of.state, &*of.schema];
                    let mut piece = Piece { checkpoint: 0, since: 0, live: 0 };
                    let merged = file.piece(names, subtask, group, |out| {
                        let those: Vec<&[u8]> = those.iter().map(AsRef::as_ref).collect();
                        piece = pieces::merge(&those, out).map_err(JobError::new)?;
                        Ok(())
                    });
                    match merged {
                        Ok(at) => in_file.note(names, subtask, group, piece, at, file.bytes()),
                        Err(error) => failed = Some(format!("key group {group} of {} {}: {error}", of.uid, of.state)),
                    }
                    if failed.is_some() || file.len() >= file_size() {
                        break;
                    }
                }
                (read, writer, in_file, failed)
            });
            let merged = self.files.beside(merging).await;
            let merged = merged.map_err(|reason| JobError::transient(format!("putting state together panicked: {reason}")))?;
            let failed;
            (read, self.writer, self.in_file, failed) = merged;
            if let Some(reason) = failed {
                return Err(NotCompacted::Damaged(reason));
            }
            let is_full = self.writer.as_ref().is_some_and(|file| file.len() >= file_size());
            if let Some(file) = self.writer.take_if(|_| is_full || (is_last && read.is_empty())) {
                let PiecesAt(pieces) = std::mem::take(&mut self.in_file);
                self.in_files.push(pieces);
                self.files.add(file.finish()).await?;
            }
        }
        Ok(())
    }
}

/// The key groups that the newest checkpoint of a plan has, with the pieces that count.
fn groups_of(plan: &Plan) -> Result<Vec<Group<'_>>, String> {
    let mut groups: BTreeMap<(&str, &str, u16), Group<'_>> = BTreeMap::new();
    for (number, file) in plan.files.iter().enumerate() {
        for at in &file.pieces {
            groups.entry((&at.of.uid, &at.of.state, at.group)).or_default().push((number, at));
        }
    }
    let mut all = Vec::with_capacity(groups.len());
    for ((uid, state, group), mut those) in groups {
        let said: Vec<Piece> = those.iter().map(|(_, at)| at.piece).collect();
        let from =
            pieces::counting(plan.checkpoint, &said).map_err(|reason| format!("key group {group} of {uid} {state}: {reason}"))?;
        if let Some(from) = from {
            those.drain(..from);
            all.push(those);
        }
    }
    Ok(all)
}

/// How many of these key groups are done at a time.
fn at_once(groups: &[Group<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |group: &&Group<'_>| {
        bytes += group.iter().map(|(_, at)| at.at.end - at.at.start).sum::<u64>();
        bytes <= AT_ONCE
    };
    groups.iter().take_while(fits).count().max(1)
}
