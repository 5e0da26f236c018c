//! Finds the files of a source and cuts large plain ones into byte ranges.

use std::path::{Path, PathBuf};

use super::open::Codec;
use super::remote::{cannot_find, find};
use super::split::FileSplit;
use super::stamp::Stamp;
use super::watch::Seen;
use crate::error::{JobError, JobResult};
use crate::storage::{local_path, scheme_of};

/// A byte range is at least this long.
const MIN_RANGE: u64 = 4 * 1024 * 1024;

/// What to look for, and how it is cut.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub pattern: String,
    pub compression: Option<Codec>,
    /// A record may start after any line break.
    pub splittable: bool,
    /// Files are read on where they grow.
    pub append: bool,
    pub parallelism: u32,
}

/// A file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub path: String,
    pub stamp: Stamp,
}

/// All files that a `path` option means, sorted by name. `watched`, with what was seen: there may be none yet, but the folder must be
/// there.
pub(crate) fn find_files(pattern: &str, watched: Option<&Seen>) -> JobResult<Vec<Found>> {
    let mut files = Vec::new();
    // A name may hold commas: where there is such a file, it is meant.
    if Path::new(pattern).exists() {
        add_matching(pattern, watched, &mut files)?;
    } else {
        for part in pattern.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            add_matching(part, watched, &mut files)?;
        }
    }
    if files.is_empty() && watched.is_none() {
        return Err(no_match(pattern));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}

fn add_matching(part: &str, watched: Option<&Seen>, files: &mut Vec<Found>) -> JobResult<()> {
    let before = files.len();
    if scheme_of(part).is_some() {
        files.extend(find(part, |path, asked| !is_temporary(path, asked))?);
        return if files.len() == before && watched.is_none() { Err(no_match(part)) } else { Ok(()) };
    }
    let part = local_path(part);
    let path = Path::new(part);
    if path.is_dir() {
        let failed = |error: std::io::Error| JobError::io(format_args!("cannot read the folder `{part}`"), &error).permanent();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if !is_temporary(&path, "") {
                add_file(path, files)?;
            }
        }
    } else if path.exists() {
        add_file(path.to_owned(), files)?;
    } else {
        // A file that was there may be missing for a moment, while it is rotated.
        if watched.is_some_and(|seen| !seen.contains_key(part)) {
            check_root(part)?;
        }
        let options =
            glob::MatchOptions { require_literal_leading_dot: true, require_literal_separator: true, case_sensitive: true };
        let found = glob::glob_with(part, options)
            .map_err(|error| JobError::new(format!("`{part}` is no valid pattern: {} (at {})", error.msg, error.pos)))?;
        let asked = part.rsplit('/').next().unwrap_or(part);
        for path in found {
            let path = path.map_err(|error| {
                JobError::io(format_args!("cannot read `{}`", error.path().display()), error.error()).permanent()
            })?;
            if !is_temporary(&path, asked) {
                add_file(path, files)?;
            }
        }
    }
    if files.len() == before && watched.is_none() {
        return Err(no_match(part));
    }
    Ok(())
}

/// Hidden names, and those that programs give to files that are not finished; unless the pattern asks for them.
fn is_temporary(path: &Path, asked: &str) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return false };
    ['.', '_'].iter().any(|&mark| name.starts_with(mark) && !asked.starts_with(mark))
        || [".tmp", "~"].iter().any(|&mark| name.ends_with(mark) && !asked.ends_with(mark))
}

/// Adds a file, but no folder, and nothing that has just gone.
fn add_file(path: PathBuf, files: &mut Vec<Found>) -> JobResult<()> {
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => files.push(Found { stamp: Stamp::of(&metadata), path: utf8(path)? }),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(JobError::io(format_args!("cannot read `{}`", path.display()), &error).permanent()),
    }
    Ok(())
}

/// What is watched is a folder that exists: a wrong name would be watched in vain for ever.
fn check_root(part: &str) -> JobResult<()> {
    let is_pattern = |text: &str| text.contains(['*', '?', '[']);
    let fixed: PathBuf =
        Path::new(part).components().take_while(|component| !is_pattern(&component.as_os_str().to_string_lossy())).collect();
    let folder = if fixed.as_os_str().is_empty() { PathBuf::from(".") } else { fixed };
    if folder.is_dir() {
        return Ok(());
    }
    Err(JobError::new(format!(
        "there is no folder `{}`{}; what is watched is a folder that exists, or a pattern in one, such as `in/*.csv`",
        folder.display(),
        place(part)
    )))
}

fn utf8(path: PathBuf) -> JobResult<String> {
    path.into_os_string()
        .into_string()
        .map_err(|path| JobError::new(format!("the file name `{}` is not UTF-8", path.to_string_lossy())))
}

#[cold]
fn no_match(pattern: &str) -> JobError {
    JobError::new(format!("no file matches `{pattern}`{}", place(pattern)))
}

/// Where a relative path starts.
fn place(pattern: &str) -> String {
    match std::env::current_dir() {
        Ok(directory) if !Path::new(pattern).is_absolute() && scheme_of(pattern).is_none() => {
            format!(" in `{}`", directory.display())
        }
        _ => String::new(),
    }
}

impl Search {
    /// The splits of all files that are there. Blocks.
    pub(crate) fn splits(&self) -> JobResult<Vec<FileSplit>> {
        let mut splits = Vec::new();
        for found in find_files(&self.pattern, None)? {
            splits.extend(self.splits_of(&found, 0)?);
        }
        Ok(splits)
    }

    /// The splits of a file. `version`: how many others of its name there were.
    pub(crate) fn splits_of(&self, found: &Found, version: u32) -> JobResult<Vec<FileSplit>> {
        let Found { path, stamp } = found;
        let codec = match self.compression {
            Some(codec) => codec,
            None => Codec::detect_of(path, stamp.len).map_err(|error| cannot_find(path, &error))?,
        };
        let whole = FileSplit { version, found: Some(*stamp), ..FileSplit::whole(path.clone(), codec) };
        if self.append {
            return match codec {
                Codec::Plain => Ok(vec![whole]),
                _ => Err(JobError::new(format!(
                    "`{path}` is compressed ({}): only plain files are read on where they grow; leave `append: true` away",
                    codec.name()
                ))),
            };
        }
        let len = stamp.len;
        let ranges =
            if codec == Codec::Plain && self.splittable { (len / MIN_RANGE).clamp(1, u64::from(self.parallelism)) } else { 1 };
        if ranges == 1 {
            return Ok(vec![whole]);
        }
        let range = |number: u64| {
            let start = len / ranges * number;
            // The last one runs to the end of the file.
            let end = (number + 1 < ranges).then(|| len / ranges * (number + 1));
            FileSplit { start, end, position: start, ..whole.clone() }
        };
        Ok((0..ranges).map(range).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "c,d.csv", ".hidden.csv", "x.txt", "_part.csv", "a.csv.tmp", "a.csv~"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        std::fs::create_dir(folder.path().join("sub.csv")).unwrap();
        folder
    }

    fn names(folder: &tempfile::TempDir, pattern: &str) -> Result<Vec<String>, String> {
        let root = folder.path().to_str().unwrap();
        let found = find_files(&pattern.replace("TMP", root), None).map_err(|error| error.message().to_owned())?;
        Ok(found.into_iter().map(|found| found.path.rsplit('/').next().unwrap().to_owned()).collect())
    }

    #[test]
    fn patterns_lists_and_folders() {
        let folder = folder();
        assert_eq!(names(&folder, "TMP/*.csv").unwrap(), ["a.csv", "b.csv", "c,d.csv"]);
        assert_eq!(names(&folder, "TMP/b.csv, TMP/x.txt,TMP/b.csv").unwrap(), ["b.csv", "x.txt"]);
        assert_eq!(names(&folder, "TMP/c,d.csv").unwrap(), ["c,d.csv"]);
        assert_eq!(names(&folder, "TMP").unwrap().len(), 4);
    }

    #[test]
    fn hidden_and_unfinished_files_are_found_only_when_asked_for() {
        let folder = folder();
        assert_eq!(names(&folder, "TMP/*a*").unwrap(), ["a.csv"]);
        assert_eq!(names(&folder, "TMP/_*.csv").unwrap(), ["_part.csv"]);
        assert_eq!(names(&folder, "TMP/*.tmp").unwrap(), ["a.csv.tmp"]);
        assert_eq!(names(&folder, "TMP/.hidden.csv").unwrap(), [".hidden.csv"], "a name that is written out");
    }

    #[test]
    fn a_watched_folder_may_be_empty_but_must_exist() {
        let folder = folder();
        let root = folder.path().to_str().unwrap();
        assert_eq!(find_files(&format!("{root}/*.json"), Some(&Seen::new())).unwrap(), []);
        for missing in ["nowhere", "nowhere/*.csv"] {
            let error = find_files(&format!("{root}/{missing}"), Some(&Seen::new())).unwrap_err();
            assert!(error.message().contains(&format!("there is no folder `{root}/nowhere`;")), "{error}");
        }
    }

    #[test]
    fn what_matches_nothing_is_named() {
        let folder = folder();
        assert!(names(&folder, "TMP/*.json").unwrap_err().starts_with("no file matches"));
        assert!(names(&folder, "TMP/a.csv,TMP/missing.csv").unwrap_err().ends_with("missing.csv`"));
        assert!(find_files("nothing-here-*.csv", None).unwrap_err().message().contains(" in `/"), "relative: says where");
        assert!(names(&folder, "TMP/[.csv").unwrap_err().contains("no valid pattern"));
    }
}
