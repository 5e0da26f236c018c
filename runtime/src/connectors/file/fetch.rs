//! The blocking half of the file source: reads splits on a fetcher thread.
//!
//! Files that do not grow are read one after the other, and must be at their end what they were when they were found. Files
//! that grow (`append: true`) are followed side by side: a last line without its end waits for its rest, and the position that a
//! checkpoint holds is that of its start.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::records::{Chunk, Open, READ, Shape, Step, cannot_read, changed};
use super::split::FileSplit;
use super::stamp::Stamp;
use crate::error::{JobError, JobResult};
use crate::formats::Framing;
use crate::source::Split;
use crate::source::fetch::{Fetched, SplitFetcher};

/// How long a paused split is left alone; going on with it wakes the thread up anyway.
const PAUSE: Duration = Duration::from_secs(1);

/// How often files that grow are looked at.
const FOLLOW: Duration = Duration::from_millis(200);

/// A file that has lost its name (it was rotated away or deleted) may still be written to for this long.
const FAREWELL: Duration = Duration::from_secs(10);

/// Reads the splits of one reader.
#[derive(Debug)]
pub(crate) struct FileFetcher {
    shape: Shape,
    read: usize,
    append: bool,
    slots: Vec<Slot>,
    /// The split whose turn it is.
    turn: usize,
}

/// A split, and its file once that is open.
struct Slot {
    id: Arc<str>,
    split: FileSplit,
    open: Option<Open>,
    paused: bool,
    /// Since when nothing more has come to a file that has lost its name.
    farewell: Option<Instant>,
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").field("split", &self.split).finish_non_exhaustive()
    }
}

impl FileFetcher {
    pub(crate) fn new(framing: Framing, has_header: bool, append: bool) -> Self {
        FileFetcher { shape: Shape { framing, has_header }, read: READ, append, slots: Vec::new(), turn: 0 }
    }

    /// Reads so many bytes at once; for tests.
    #[cfg(test)]
    pub(crate) fn with_read_size(framing: Framing, has_header: bool, read: usize) -> Self {
        FileFetcher { read, ..FileFetcher::new(framing, has_header, false) }
    }
}

impl SplitFetcher for FileFetcher {
    type Split = FileSplit;
    type Chunk = Chunk;

    fn add(&mut self, split: FileSplit) -> JobResult<()> {
        self.slots.push(Slot { id: split.id().into(), split, open: None, paused: false, farewell: None });
        Ok(())
    }

    fn fetch(&mut self) -> JobResult<Fetched<Chunk>> {
        let count = self.slots.len();
        let mut nothing = PAUSE;
        for step in 0..count {
            let index = (self.turn + step) % count;
            let slot = &mut self.slots[index];
            if slot.paused {
                continue;
            }
            match slot.step(self.shape, self.read, self.append)? {
                Step::Chunk(chunk) => {
                    self.turn = if self.append { index + 1 } else { index };
                    return Ok(Fetched::Chunk(slot.id.clone(), chunk));
                }
                Step::End => {
                    self.turn = index;
                    return Ok(Fetched::End(self.slots.remove(index).id));
                }
                Step::Nothing => nothing = FOLLOW,
            }
        }
        Ok(Fetched::Nothing(nothing))
    }

    fn set_paused(&mut self, split: &str, paused: bool) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| &*slot.id == split) {
            slot.paused = paused;
        }
    }
}

impl Slot {
    fn step(&mut self, shape: Shape, read: usize, append: bool) -> JobResult<Step> {
        let open = match &mut self.open {
            Some(open) => open,
            none => match open(&self.split, shape, append)? {
                Some(open) => none.insert(open),
                None => return Ok(Step::Nothing),
            },
        };
        match open.step(read)? {
            Step::Nothing => self.at_end_for_now(),
            Step::End => Ok(Step::End),
            Step::Chunk(chunk) => {
                self.farewell = None;
                Ok(Step::Chunk(chunk))
            }
        }
    }

    /// A file that grows has nothing new: is it still the same, and is it still there?
    fn at_end_for_now(&mut self) -> JobResult<Step> {
        let path = &self.split.path;
        let Some(open) = &mut self.open else { return Ok(Step::Nothing) };
        let own = open.stamp().map_err(|error| cannot_read(path, &error))?;
        if own.len < open.read_to() {
            return Err(shrunk(path, open.read_to(), own.len));
        }
        let named = match std::fs::metadata(path) {
            Ok(metadata) => Stamp::of(&metadata).same_file(&own),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(cannot_read(path, &error)),
        };
        if named {
            self.farewell = None;
        } else if self.farewell.get_or_insert_with(Instant::now).elapsed() >= FAREWELL {
            // Nobody has written to it for a while, and nobody who comes new can: its last line is whole, whatever it ends with.
            open.grows = false;
        }
        Ok(Step::Nothing)
    }
}

/// Opens the file of a split. None: a file that grows has not even its first line yet.
fn open(split: &FileSplit, shape: Shape, append: bool) -> JobResult<Option<Open>> {
    let path = renamed(split, append);
    let path = path.as_deref().unwrap_or(&split.path);
    let now = match Stamp::at(path) {
        Ok(stamp) => stamp,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(vanished(split)),
        Err(error) => return Err(cannot_read(path, &error)),
    };
    if let Some(found) = &split.found {
        if !(found.same_file(&now) || !append && found.same_content(&now)) {
            return Err(replaced(split));
        }
        if !append && found.len != now.len {
            return Err(changed(path, found.len, now.len));
        }
    }
    if append && now.len < split.position {
        return Err(shrunk(path, split.position, now.len));
    }
    if append && split.position == 0 && !has_line(path).map_err(|error| cannot_read(path, &error))? {
        return Ok(None);
    }
    let mut open = match split.position {
        0 => shape.open_head(path, split.codec)?,
        _ => shape.open_at(path, split)?,
    };
    open.end = split.end;
    open.grows = append;
    open.expected = split.found.filter(|_| !append).map(|found| found.len);
    Ok(Some(open))
}

/// Where a file that grows is now, if it was renamed in its folder since it was found.
fn renamed(split: &FileSplit, append: bool) -> Option<String> {
    let found = split.found.filter(|_| append)?;
    let is_it = |path: &Path| std::fs::metadata(path).is_ok_and(|metadata| Stamp::of(&metadata).same_file(&found));
    let path = Path::new(&split.path);
    if is_it(path) {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).ok()?;
    let path = entries.filter_map(Result::ok).map(|entry| entry.path()).find(|path| is_it(path))?;
    path.into_os_string().into_string().ok()
}

/// Whether a line break is in the file.
fn has_line(path: &str) -> std::io::Result<bool> {
    use std::io::Read;
    let mut file = std::fs::File::open(path)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(false),
            len if memchr::memchr(b'\n', &buffer[..len]).is_some() => return Ok(true),
            _ => {}
        }
    }
}

#[cold]
fn vanished(split: &FileSplit) -> JobError {
    let read = match split.position {
        0 => "before it was read".to_owned(),
        position => format!("when it was read up to byte {position}"),
    };
    JobError::transient(format!(
        "`{}` was found and has disappeared {read}\n  put it back and start again: its rows are missing",
        split.path
    ))
}

#[cold]
fn shrunk(path: &str, position: u64, len: u64) -> JobError {
    JobError::new(format!(
        "`{path}` has shrunk: it was read up to byte {position} and has {len} bytes now; a file that is followed (`append: true`)          may only grow"
    ))
}

#[cold]
fn replaced(split: &FileSplit) -> JobError {
    let read = match split.position {
        0 => "before it was read".to_owned(),
        position => format!("when it was read up to byte {position}"),
    };
    JobError::new(format!(
        "`{}` was replaced by another file {read}\n  the rows of the old one are missing: put it back, or start from the beginning \
         with --fresh",
        split.path
    ))
}
