//! `file`: files in folders, read in splits and written in two phases.

#[cfg(feature = "engine")]
mod all;
#[cfg(feature = "engine")]
mod committable;
#[cfg(feature = "engine")]
mod committer;
#[cfg(all(test, feature = "engine"))]
mod committer_tests;
#[cfg(feature = "engine")]
mod compactor;
#[cfg(all(test, feature = "engine"))]
mod compactor_tests;
#[cfg(feature = "engine")]
mod discover;
#[cfg(feature = "engine")]
mod enumerator;
#[cfg(feature = "engine")]
mod fetch;
#[cfg(feature = "engine")]
mod merged;
#[cfg(feature = "engine")]
mod open;
#[cfg(feature = "engine")]
mod partition;
#[cfg(feature = "engine")]
mod records;
#[cfg(feature = "engine")]
mod remote;
#[cfg(feature = "engine")]
mod sink;
#[cfg(feature = "engine")]
mod source;
#[cfg(feature = "engine")]
mod split;
#[cfg(feature = "engine")]
mod stamp;
#[cfg(feature = "engine")]
mod success;
#[cfg(all(test, feature = "engine"))]
mod tests;
#[cfg(feature = "engine")]
mod watch;
#[cfg(feature = "engine")]
mod writer;

#[cfg(feature = "engine")]
pub use {
    all::{Stamps, read_all},
    enumerator::{FileEnumerator, FilesFound},
    open::Codec,
    records::Chunk,
    sink::FileSink,
    source::FileSource,
    split::FileSplit,
    writer::FileWriter,
};

use super::{ConnectorSpec, LookupSpec, OptionSpec, OptionTy, SinkSpec, SourceSpec};

/// The connector.
pub static SPEC: ConnectorSpec = ConnectorSpec {
    name: "file",
    doc: "Files: a path, a pattern, or several with commas between them. Relative paths start at the working directory.",
    feature: None,
    source: Some(SourceSpec {
        rust: "millstream::connectors::file::FileSource",
        options: &[
            OptionSpec::required("path", OptionTy::Place, "The files: `in.csv`, `data/*.jsonl.gz`, `a.csv,b.csv`, or a folder."),
            OptionSpec::optional(
                "compression",
                OptionTy::Word(&["auto", "none", "gzip", "zstd"]),
                "auto",
                "How they are compressed; `auto` looks at the first bytes, whatever the name says.",
            ),
            OptionSpec::optional(
                "watch",
                OptionTy::Every,
                "",
                "Look for new files again and again: `every 5s`. The source does not end. A file is read once, when it is complete: \
                 names that begin with `.` or `_` or end with `.tmp` or `~` are left alone until the file is renamed.",
            ),
            OptionSpec::optional(
                "append",
                OptionTy::Bool,
                "false",
                "Files grow, and what is written to them later is read on. A last line without its end waits for the rest. \
                 The source does not end.",
            ),
            OptionSpec::optional(
                "rate",
                OptionTy::Int,
                "",
                "Rows per second, all subtasks together; without it as fast as possible.",
            ),
            super::SINCE,
            super::UNTIL,
        ],
        formats: &["json", "csv", "text"],
        replayable: true,
        bounded: |options| !options.contains(&"watch") && !options.contains(&"append"),
        columns: None,
    }),
    lookup: Some(LookupSpec {
        rust: "millstream::lookup::FileLookup",
        options: &[OptionSpec::required(
            "path",
            OptionTy::Place,
            "The files, read as a whole and kept in memory: `rates.csv`, `rates/*.csv`, or a folder. They are looked at again when \
             the time of `cache` is over, and read again if they have changed.",
        )],
        formats: &["json", "csv", "text"],
        by_key: false,
    }),
    sink: Some(SinkSpec {
        rust: "millstream::connectors::file::FileSink",
        options: &[
            OptionSpec::required("path", OptionTy::Place, "The folder that the files are written to."),
            OptionSpec::optional("compression", OptionTy::Word(&["none", "gzip"]), "none", "How they are compressed."),
            OptionSpec::optional(
                "partition",
                OptionTy::Columns,
                "",
                "Columns that make subfolders, `dt=2026-01-01/`; they are in the files as well.",
            ),
            OptionSpec::optional(
                "roll_size",
                OptionTy::Size,
                "256MB",
                "A file that has grown so large is closed and the next one begun.",
            ),
            OptionSpec::optional(
                "compact",
                OptionTy::Size,
                "",
                "Small files are merged before they are shown: those of a folder that have so many bytes together become one. \
                 Their rows are seen later by it, at most by `compact_every` checkpoints and one more.",
            ),
            OptionSpec::optional(
                "compact_every",
                OptionTy::Int,
                "10",
                "Files are merged after so many checkpoints however small they are; also without `compact`.",
            ),
            OptionSpec::optional(
                "existing",
                OptionTy::Word(&["fail", "append", "replace"]),
                "fail",
                "What happens at the start when the folder holds files: refuse, add to them, or replace those of an earlier run.",
            ),
            OptionSpec::optional(
                "success_file",
                OptionTy::Bool,
                "false",
                "When the job has ended and all rows are there, an empty file `_SUCCESS` is left beside them.",
            ),
        ],
        formats: &["json", "csv", "text"],
        accepts_tables: false,
        needs_key: false,
        exactly_once: true,
    }),
};
