//! Finds the files of a source and cuts large plain ones into byte ranges.

use std::path::{Path, PathBuf};

use super::open::Codec;
use super::split::FileSplit;
use crate::error::{JobError, JobResult};

/// A byte range is at least this long.
const MIN_RANGE: u64 = 4 * 1024 * 1024;

/// What to look for, and how it is cut.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub pattern: String,
    pub compression: Option<Codec>,
    /// A record may start after any line break.
    pub splittable: bool,
    pub parallelism: u32,
}

impl Search {
    /// The splits of all files that are there. Blocks.
    pub(crate) fn splits(&self) -> JobResult<Vec<FileSplit>> {
        splits_of(&find_files(&self.pattern)?, self.compression, self.splittable, self.parallelism)
    }
}

/// All files that a `path` option means, sorted by name.
pub(crate) fn find_files(pattern: &str) -> JobResult<Vec<String>> {
    let mut files = Vec::new();
    // A name may hold commas: where there is such a file, it is meant.
    if Path::new(pattern).exists() {
        add_matching(pattern, &mut files)?;
    } else {
        for part in pattern.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            add_matching(part, &mut files)?;
        }
    }
    if files.is_empty() {
        return Err(no_match(pattern));
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn add_matching(part: &str, files: &mut Vec<String>) -> JobResult<()> {
    let path = Path::new(part);
    let before = files.len();
    if path.is_dir() {
        let failed = |error: std::io::Error| JobError::io(format_args!("cannot read the folder `{part}`"), &error).permanent();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_file() && !hidden {
                files.push(utf8(path)?);
            }
        }
    } else if path.exists() {
        files.push(part.to_owned());
    } else {
        let options =
            glob::MatchOptions { require_literal_leading_dot: true, require_literal_separator: true, case_sensitive: true };
        let found = glob::glob_with(part, options)
            .map_err(|error| JobError::new(format!("`{part}` is no valid pattern: {} (at {})", error.msg, error.pos)))?;
        for path in found {
            let path = path.map_err(|error| {
                JobError::io(format_args!("cannot read `{}`", error.path().display()), error.error()).permanent()
            })?;
            if path.is_file() {
                files.push(utf8(path)?);
            }
        }
    }
    if files.len() == before {
        return Err(no_match(part));
    }
    Ok(())
}

fn utf8(path: PathBuf) -> JobResult<String> {
    path.into_os_string()
        .into_string()
        .map_err(|path| JobError::new(format!("the file name `{}` is not UTF-8", path.to_string_lossy())))
}

#[cold]
fn no_match(pattern: &str) -> JobError {
    let place = match std::env::current_dir() {
        Ok(directory) if !Path::new(pattern).is_absolute() => format!(" in `{}`", directory.display()),
        _ => String::new(),
    };
    JobError::new(format!("no file matches `{pattern}`{place}"))
}

/// The splits of some files. `splittable`: a record may start after any line break.
pub(crate) fn splits_of(
    files: &[String],
    compression: Option<Codec>,
    splittable: bool,
    parallelism: u32,
) -> JobResult<Vec<FileSplit>> {
    let mut splits = Vec::new();
    for file in files {
        let cannot_read = |error: std::io::Error| JobError::io(format_args!("cannot read `{file}`"), &error).permanent();
        let codec = match compression {
            Some(codec) => codec,
            None => Codec::detect(Path::new(file)).map_err(cannot_read)?,
        };
        let len = std::fs::metadata(file).map_err(cannot_read)?.len();
        let ranges = if codec == Codec::Plain && splittable { (len / MIN_RANGE).clamp(1, u64::from(parallelism)) } else { 1 };
        if ranges == 1 {
            splits.push(FileSplit::whole(file.clone(), codec));
            continue;
        }
        for range in 0..ranges {
            let start = len / ranges * range;
            // The last one runs to the end of the file, even if that has grown.
            let end = (range + 1 < ranges).then(|| len / ranges * (range + 1));
            splits.push(FileSplit { path: file.clone(), codec, start, end, position: start });
        }
    }
    Ok(splits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "c,d.csv", ".hidden.csv", "x.txt"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        std::fs::create_dir(folder.path().join("sub.csv")).unwrap();
        folder
    }

    fn names(folder: &tempfile::TempDir, pattern: &str) -> Result<Vec<String>, String> {
        let root = folder.path().to_str().unwrap();
        let found = find_files(&pattern.replace('~', root)).map_err(|error| error.message().to_owned())?;
        Ok(found.into_iter().map(|path| path.rsplit('/').next().unwrap().to_owned()).collect())
    }

    #[test]
    fn patterns_lists_and_folders() {
        let folder = folder();
        assert_eq!(names(&folder, "~/*.csv").unwrap(), ["a.csv", "b.csv", "c,d.csv"]);
        assert_eq!(names(&folder, "~/b.csv, ~/x.txt,~/b.csv").unwrap(), ["b.csv", "x.txt"]);
        assert_eq!(names(&folder, "~/c,d.csv").unwrap(), ["c,d.csv"]);
        assert_eq!(names(&folder, "~").unwrap().len(), 4);
    }

    #[test]
    fn what_matches_nothing_is_named() {
        let folder = folder();
        assert!(names(&folder, "~/*.json").unwrap_err().starts_with("no file matches"));
        assert!(names(&folder, "~/a.csv,~/missing.csv").unwrap_err().ends_with("missing.csv`"));
        assert!(find_files("nothing-here-*.csv").unwrap_err().message().contains(" in `/"), "relative: says where");
        assert!(names(&folder, "~/[.csv").unwrap_err().contains("no valid pattern"));
    }
}
