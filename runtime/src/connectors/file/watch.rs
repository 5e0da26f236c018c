//! A folder that is looked at again and again: what is new in it, and what only looks so.
//!
//! What was seen is remembered for as long as it is in the folder, and for an hour after it has gone: the memory is bounded
//! by the number of files that the folder holds, about 150 bytes each. A file is told by its name, size and times, and by
//! its number in the file system:
//!
//! - the same name with the same size and time of writing is the same file, even if it was copied anew;
//! - the same name with another size or time is another file if the file system says so (it was replaced): it is read whole;
//! - a file that was changed in place after it had been found is an error, unless files may grow (`append: true`);
//! - a file that was renamed inside of the folder is not read again.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::discover::{Found, Search, find_files};
use super::split::FileSplit;
use super::stamp::{Stamp, micros};
use crate::bytes::{Reader, put_str, put_u32, put_u64};
use crate::error::{JobError, JobResult};

/// How long a file is remembered that is no longer there.
const REMEMBER: Duration = Duration::from_secs(3600);

/// A file that was written to within this time may still be being written: it is taken at a later look.
const SETTLE: Duration = Duration::from_secs(1);

/// Files that were found, by their path.
pub(crate) type Seen = BTreeMap<String, SeenFile>;

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenFile {
    pub stamp: Stamp,
    /// How many others of its name were found before.
    pub version: u32,
    /// When it was missed for the first time, in microseconds since the epoch; 0: it was there at the last look.
    pub gone: u64,
}

/// What a look has brought.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// Of new files, by name.
    pub splits: Vec<FileSplit>,
    /// What has been seen now; None: the same as before.
    pub seen: Option<Seen>,
}

impl Search {
    /// Looks at the folder. Blocks. `every`: how often that is done.
    pub(crate) fn look(&self, seen: &Seen, every: Duration) -> JobResult<Looked> {
        self.compare(seen, find_files(&self.pattern, Some(seen))?, micros(std::time::SystemTime::now()), every)
    }

    fn compare(&self, seen: &Seen, files: Vec<Found>, now: u64, every: Duration) -> JobResult<Looked> {
        let settle = as_micros(SETTLE.min(every));
        let mut now_seen = seen.clone();
        let mut splits = Vec::new();
        let there: HashMap<&str, &Stamp> = files.iter().map(|found| (found.path.as_str(), &found.stamp)).collect();
        // What is no longer where it was, also because another file has taken its name (rotated).
        let moved: HashMap<(u64, u64), &SeenFile> = seen
            .iter()
            .filter(|(path, file)| there.get(path.as_str()).is_none_or(|now| !now.same_file(&file.stamp)))
            .map(|(_, file)| ((file.stamp.inode, file.stamp.born), file))
            .collect();
        for found in &files {
            let stamp = found.stamp;
            let known = seen.get(&found.path);
            let entry = match known {
                Some(known) if self.is_same(known, &stamp) => SeenFile { gone: 0, ..known.clone() },
                // Its time was set, and nothing else.
                Some(known) if known.stamp.same_file(&stamp) && known.stamp.len == stamp.len => {
                    SeenFile { stamp, gone: 0, ..known.clone() }
                }
                Some(known) if known.stamp.same_file(&stamp) => return Err(changed(&found.path, &known.stamp, &stamp)),
                _ => {
                    let version = known.map_or(0, |known| known.version + 1);
                    let renamed = moved.get(&(stamp.inode, stamp.born)).is_some_and(|old| self.is_same(old, &stamp));
                    if !renamed {
                        let settled = self.append || stamp.modified > now || stamp.modified + settle <= now;
                        if !settled {
                            continue;
                        }
                        match self.splits_of(found, version) {
                            Ok(new) => splits.extend(new),
                            // It was there a moment ago: renamed once more, or taken back.
                            Err(_) if is_gone(&found.path) => continue,
                            Err(error) => return Err(error),
                        }
                    }
                    SeenFile { stamp, version, gone: 0 }
                }
            };
            now_seen.insert(found.path.clone(), entry);
        }
        now_seen.retain(|path, file| {
            if there.contains_key(path.as_str()) {
                return true;
            }
            if file.gone == 0 {
                file.gone = now;
            }
            file.gone + as_micros(REMEMBER) > now
        });
        Ok(Looked { splits, seen: (now_seen != *seen).then_some(now_seen) })
    }

    fn is_same(&self, known: &SeenFile, stamp: &Stamp) -> bool {
        known.stamp.same_content(stamp) || self.append && known.stamp.same_file(stamp)
    }
}

fn is_gone(path: &str) -> bool {
    Stamp::at(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn as_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cold]
fn changed(path: &str, before: &Stamp, now: &Stamp) -> JobError {
    JobError::new(format!(
        "`{path}` was changed after it had been found: it had {} bytes and has {} now\n  a file in a watched folder must be \
         complete: write it under a hidden name (`.new`) and rename it; or use `append: true` for files that grow",
        before.len, now.len
    ))
}

/// For the checkpoint.
pub(crate) fn encode_seen(seen: &Seen, out: &mut Vec<u8>) {
    put_u64(out, seen.len() as u64);
    for (path, file) in seen {
        put_str(out, path);
        file.stamp.encode(out);
        put_u32(out, file.version);
        put_u64(out, file.gone);
    }
}

/// What [`encode_seen`] gave.
pub(crate) fn decode_seen(input: &mut Reader<'_>) -> JobResult<Seen> {
    let mut seen = Seen::new();
    for _ in 0..input.u64()? {
        let path = input.str()?.to_owned();
        let stamp = Stamp::decode(input)?;
        seen.insert(path, SeenFile { stamp, version: input.u32()?, gone: input.u64()? });
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::super::open::Codec;
    use super::*;

    const HOUR: u64 = 3_600_000_000;
    const EVERY: Duration = Duration::from_secs(5);

    fn search(append: bool) -> Search {
        let compression = Some(Codec::Plain);
        Search { pattern: String::new(), compression, splittable: true, append, parallelism: 1 }
    }

    fn file(path: &str, inode: u64, len: u64, modified: u64) -> Found {
        Found { path: path.to_owned(), stamp: Stamp { len, modified, inode, born: inode } }
    }

    /// The ids of what is new, and what is remembered then.
    fn look(search: &Search, seen: &Seen, now: u64, files: &[Found]) -> (Vec<String>, Seen) {
        let looked = search.compare(seen, files.to_vec(), now, EVERY).unwrap();
        let ids = looked.splits.iter().map(crate::source::Split::id).collect();
        (ids, looked.seen.unwrap_or_else(|| seen.clone()))
    }

    #[test]
    fn each_file_is_found_once_whatever_happens_to_its_name() {
        let search = search(false);
        let (a, b) = (file("a", 1, 10, 5), file("b", 2, 10, 5));
        let (new, seen) = look(&search, &Seen::new(), HOUR, std::slice::from_ref(&a));
        assert_eq!(new, ["a"]);
        let (new, seen) = look(&search, &seen, HOUR, &[a.clone(), b.clone()]);
        assert_eq!(new, ["b"]);
        let (new, seen) = look(&search, &seen, HOUR, &[file("a", 9, 10, 5), b.clone()]);
        assert_eq!(new, [""; 0], "the same file, copied with its times");
        let (new, seen) = look(&search, &seen, HOUR, &[file("c", 2, 10, 5), a.clone()]);
        assert_eq!(new, [""; 0], "b is called c now");
        let (new, seen) = look(&search, &seen, HOUR, &[file("a", 3, 10, 6), b.clone()]);
        assert_eq!(new, ["a#1"], "another file took its name");
        let (new, _) = look(&search, &seen, HOUR, &[file("a", 4, 11, 7)]);
        assert_eq!(new, ["a#2"]);
    }

    #[test]
    fn a_file_that_made_room_for_another_of_its_name_is_not_read_again() {
        for append in [false, true] {
            let search = search(append);
            let (_, seen) = look(&search, &Seen::new(), HOUR, &[file("a", 1, 10, 5)]);
            let (new, seen) = look(&search, &seen, HOUR, &[file("a", 2, 3, 7), file("a.1", 1, 10, 5)]);
            assert_eq!(new, ["a#1"]);
            let (new, _) = look(&search, &seen, HOUR, &[file("a", 3, 3, 8), file("a.1", 2, 3, 7), file("a.2", 1, 10, 5)]);
            assert_eq!(new, ["a#2"]);
        }
    }

    #[test]
    fn a_watched_file_may_be_missing_for_a_moment() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = folder.path().join("a").to_str().unwrap().to_owned();
        let search = Search { pattern: pattern.clone(), ..search(true) };
        assert!(search.look(&Seen::new(), EVERY).is_err(), "it was never there");
        std::fs::write(&pattern, "1\n").unwrap();
        let seen = search.look(&Seen::new(), EVERY).unwrap().seen.unwrap();
        std::fs::remove_file(&pattern).unwrap();
        assert_eq!(search.look(&seen, EVERY).unwrap().splits, []);
    }

    #[test]
    fn a_number_that_is_used_again_is_another_file() {
        let search = search(false);
        let (_, seen) = look(&search, &Seen::new(), HOUR, &[file("a", 1, 10, 5)]);
        let mut again = file("a", 1, 20, 6);
        again.stamp.born = 99;
        assert_eq!(look(&search, &seen, HOUR, &[again]).0, ["a#1"]);
    }

    #[test]
    fn a_file_that_is_changed_after_it_was_found_is_an_error_unless_files_grow() {
        let (_, seen) = look(&search(false), &Seen::new(), HOUR, &[file("a", 1, 10, 5)]);
        let error = search(false).compare(&seen, vec![file("a", 1, 15, 6)], HOUR, EVERY).unwrap_err();
        assert!(error.message().contains("had 10 bytes and has 15 now"), "{error}");
        assert_eq!(look(&search(false), &seen, HOUR, &[file("a", 1, 10, 6)]).0, [""; 0], "it was touched");
        assert_eq!(look(&search(true), &seen, HOUR, &[file("a", 1, 15, 6)]).0, [""; 0], "it has grown");
    }

    #[test]
    fn a_file_that_is_being_written_is_left_for_later() {
        let search = search(false);
        let writing = file("a", 1, 10, HOUR - 1000);
        let (new, seen) = look(&search, &Seen::new(), HOUR, std::slice::from_ref(&writing));
        assert_eq!((new.len(), seen.len()), (0, 0));
        assert_eq!(look(&search, &seen, HOUR + 1_000_000, &[writing]).0, ["a"]);
    }

    #[test]
    fn what_has_gone_is_remembered_for_an_hour() {
        let search = search(false);
        let a = file("a", 1, 10, 5);
        let (_, seen) = look(&search, &Seen::new(), HOUR, std::slice::from_ref(&a));
        let (_, seen) = look(&search, &seen, HOUR, &[]);
        assert_eq!(look(&search, &seen, HOUR + HOUR / 2, std::slice::from_ref(&a)).0, [""; 0], "moved away and back");
        let (_, seen) = look(&search, &seen, 2 * HOUR, &[]);
        assert_eq!(seen.len(), 0, "the memory does not grow for ever");
        assert_eq!(look(&search, &seen, 2 * HOUR, &[a]).0, ["a"]);
    }

    #[test]
    fn what_was_seen_survives_its_encoding() {
        let (_, seen) = look(&search(false), &Seen::new(), HOUR, &[file("a b", 1, 10, 5), file("ü", 2, 1, 2)]);
        let (_, seen) = look(&search(false), &seen, HOUR, &[file("ü", 3, 7, 8)]);
        let mut bytes = Vec::new();
        encode_seen(&seen, &mut bytes);
        assert_eq!(decode_seen(&mut Reader::new(&bytes)).unwrap(), seen);
    }
}
