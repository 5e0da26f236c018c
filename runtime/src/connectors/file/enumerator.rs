//! The coordinator's half of the file source: finds files, once or again and again, and hands them out.
//!
//! Without `append`, a reader gets one split after the other, when it asks. Files that grow are never read to their end, so
//! that nobody would ask for a second one: with `append` they are dealt out in turn as soon as they are found.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::discover::Search;
use super::split::FileSplit;
use super::watch::{Looked, Seen, decode_seen, encode_seen};
use crate::bytes::{Reader, put_bytes, put_u32};
use crate::error::JobResult;
use crate::source::{EnumeratorContext, SplitEnumerator, StaticEnumerator};

/// Finds the files of a source and hands them out.
#[derive(Debug)]
pub struct FileEnumerator {
    search: Search,
    /// How often the folder is looked at; None: once.
    watch: Option<Duration>,
    splits: StaticEnumerator<FileSplit>,
    /// Whether the files have been looked for.
    discovered: bool,
    /// For a folder that is watched: what was found. Shared with the look that is under way.
    seen: Arc<Seen>,
    /// Readers that have asked for a split while there was none.
    waiting: BTreeSet<u32>,
    readers: BTreeSet<u32>,
    /// With `append`: the reader that gets the next file.
    turn: u32,
}

type FileContext = EnumeratorContext<FileSplit, FilesFound>;

/// What looking for files has brought.
#[derive(Debug)]
pub struct FilesFound(Looked);

impl FileEnumerator {
    pub(crate) fn new(search: Search, watch: Option<Duration>, restored: Option<&[u8]>) -> JobResult<Self> {
        let (discovered, splits, seen) = match restored {
            Some(bytes) => {
                let mut input = Reader::new(bytes);
                (input.u32()? != 0, StaticEnumerator::restore(input.bytes()?)?, decode_seen(&mut input)?)
            }
            None => (false, StaticEnumerator::new([]), Seen::new()),
        };
        let seen = Arc::new(seen);
        let (waiting, readers) = (BTreeSet::new(), BTreeSet::new());
        Ok(FileEnumerator { search, watch, splits, discovered, seen, waiting, readers, turn: 0 })
    }

    /// Whether there will never be another file.
    fn is_complete(&self) -> bool {
        self.discovered && self.watch.is_none()
    }

    fn look_after(&self, wait: Duration, context: &mut FileContext) {
        let search = self.search.clone();
        match self.watch {
            Some(every) => {
                let seen = self.seen.clone();
                context.call(wait, move || search.look(&seen, every).map(FilesFound));
            }
            None => context.call(wait, move || search.splits().map(|splits| FilesFound(Looked { splits, seen: None }))),
        }
    }

    fn serve(&mut self, context: &mut FileContext) {
        if self.search.append {
            let readers = u32::try_from(self.readers.len()).unwrap_or(u32::MAX);
            while readers == self.search.parallelism
                && let Some(split) = self.splits.take()
            {
                context.assign(self.turn % readers, split);
                self.turn = (self.turn + 1) % readers;
            }
            return;
        }
        while let Some(&subtask) = self.waiting.first() {
            match self.splits.take() {
                Some(split) => context.assign(subtask, split),
                None if self.is_complete() => context.no_more_splits(subtask),
                None => return,
            }
            self.waiting.remove(&subtask);
        }
    }
}

impl SplitEnumerator<FileSplit> for FileEnumerator {
    type Found = FilesFound;

    fn start(&mut self, context: &mut FileContext) -> JobResult<()> {
        if !self.is_complete() {
            self.look_after(Duration::ZERO, context);
        }
        Ok(())
    }

    fn found(&mut self, found: JobResult<FilesFound>, context: &mut FileContext) -> JobResult<()> {
        let FilesFound(looked) = found?;
        self.splits.add(looked.splits);
        if let Some(seen) = looked.seen {
            self.seen = Arc::new(seen);
        }
        self.discovered = true;
        if let Some(every) = self.watch {
            self.look_after(every, context);
        }
        self.serve(context);
        Ok(())
    }

    fn reader_added(&mut self, subtask: u32, context: &mut FileContext) -> JobResult<()> {
        self.waiting.remove(&subtask);
        self.readers.insert(subtask);
        self.serve(context);
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut FileContext) -> JobResult<()> {
        self.waiting.insert(subtask);
        self.serve(context);
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<FileSplit>, context: &mut FileContext) -> JobResult<()> {
        self.splits.add_back(splits);
        self.serve(context);
        Ok(())
    }

    fn unassigned(&self) -> usize {
        self.splits.len()
    }

    fn holds_watermark(&self) -> bool {
        !self.discovered || self.unassigned() > 0
    }

    fn snapshot(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u32(&mut out, u32::from(self.discovered));
        put_bytes(&mut out, &SplitEnumerator::snapshot(&self.splits));
        encode_seen(&self.seen, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{EnumeratorAction, Split};

    struct Folder {
        folder: tempfile::TempDir,
        enumerator: FileEnumerator,
        context: FileContext,
    }

    impl Folder {
        fn new(watch: bool, append: bool, parallelism: u32) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let enumerator = enumerator(&folder, watch, append, parallelism, None);
            Folder { folder, enumerator, context: FileContext::new() }
        }

        fn start(&mut self) {
            self.enumerator.start(&mut self.context).unwrap();
            for subtask in 0..self.enumerator.search.parallelism {
                self.enumerator.reader_added(subtask, &mut self.context).unwrap();
            }
        }

        /// Writes a file that looks as if it had been there for a while.
        fn write(&self, name: &str) {
            let file = std::fs::File::create(self.folder.path().join(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(60)).unwrap();
        }

        fn ask(&mut self, subtask: u32) {
            self.enumerator.request(subtask, &mut self.context).unwrap();
        }

        /// Does the work that is asked for; gives what the readers were told.
        fn look(&mut self) -> Vec<String> {
            let (mut actions, calls) = std::mem::take(&mut self.context).into_parts();
            for call in calls {
                self.enumerator.found((call.work)(), &mut self.context).unwrap();
            }
            let (more, calls) = std::mem::take(&mut self.context).into_parts();
            actions.extend(more);
            for call in calls {
                self.context.call(call.after, call.work);
            }
            let told = |action| match action {
                EnumeratorAction::Assign(subtask, split) => {
                    let split: FileSplit = split;
                    format!("{subtask} {}", split.id().rsplit('/').next().unwrap())
                }
                EnumeratorAction::NoMoreSplits(subtask) => format!("{subtask} no more"),
                other => format!("{other:?}"),
            };
            actions.into_iter().map(told).collect()
        }
    }

    fn enumerator(
        folder: &tempfile::TempDir,
        watch: bool,
        append: bool,
        parallelism: u32,
        restored: Option<&[u8]>,
    ) -> FileEnumerator {
        let pattern = folder.path().to_str().unwrap().to_owned();
        let search = Search { pattern, compression: None, splittable: true, append, parallelism };
        FileEnumerator::new(search, watch.then_some(Duration::from_secs(5)), restored).unwrap()
    }

    #[test]
    fn readers_wait_for_the_first_look_and_are_told_when_there_is_no_more() {
        let mut folder = Folder::new(false, false, 2);
        folder.write("a");
        folder.ask(0);
        folder.ask(1);
        folder.start();
        folder.ask(0);
        folder.ask(1);
        assert!(folder.enumerator.holds_watermark(), "nobody knows yet what there is");
        assert_eq!(folder.look(), ["0 a", "1 no more"]);
        assert!(!folder.enumerator.holds_watermark());
        folder.ask(0);
        assert_eq!(folder.look(), ["0 no more"]);
    }

    #[test]
    fn a_watched_folder_gives_what_comes_to_those_who_wait() {
        let mut folder = Folder::new(true, false, 2);
        folder.start();
        folder.ask(1);
        folder.ask(0);
        assert_eq!(folder.look(), [""; 0]);
        assert!(!folder.enumerator.holds_watermark(), "nothing is unread: idleness decides");
        for name in ["b", "a", "c", ".hidden", "d.tmp"] {
            folder.write(name);
        }
        assert_eq!(folder.look(), ["0 a", "1 b"]);
        assert!(folder.enumerator.holds_watermark(), "c may hold old rows");
        folder.ask(1);
        assert_eq!(folder.look(), ["1 c"], "and nothing twice");
        assert_eq!(folder.look(), [""; 0]);
    }

    #[test]
    fn what_was_seen_is_not_found_again_after_a_restart() {
        let mut folder = Folder::new(true, false, 1);
        folder.write("a");
        folder.write("b");
        folder.start();
        folder.ask(0);
        assert_eq!(folder.look(), ["0 a"]);
        let stored = folder.enumerator.snapshot();
        folder.write("c");
        folder.enumerator = enumerator(&folder.folder, true, false, 1, Some(&stored));
        folder.context = FileContext::new();
        folder.start();
        folder.ask(0);
        assert_eq!(folder.look(), ["0 b"]);
        folder.ask(0);
        assert_eq!(folder.look(), ["0 c"]);
        folder.ask(0);
        assert_eq!(folder.look(), [""; 0]);
    }

    #[test]
    fn files_that_grow_are_dealt_out_at_once_and_all_of_them() {
        let mut folder = Folder::new(true, true, 2);
        for name in ["a", "b", "c"] {
            folder.write(name);
        }
        folder.start();
        assert_eq!(folder.look(), ["0 a", "1 b", "0 c"]);
        folder.write("d");
        assert_eq!(folder.look(), ["1 d"]);
    }

    #[test]
    fn a_reader_that_was_reset_does_not_wait_any_more() {
        let mut folder = Folder::new(true, false, 1);
        folder.start();
        folder.ask(0);
        folder.enumerator.reader_added(0, &mut folder.context).unwrap();
        folder.write("a");
        assert_eq!(folder.look(), [""; 0]);
        folder.ask(0);
        assert_eq!(folder.look(), ["0 a"]);
    }
}
