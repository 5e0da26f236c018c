//! The places where a simulation has things go wrong. Its sweep visits each of them; one that it does not reach fails its test.

macro_rules! points {
    ($($point:ident $name:literal $where:literal;)*) => {
        /// A place where something can go wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Point {
            $(#[doc = $where] $point,)*
        }

        #[cfg(feature = "sim")]
        impl Point {
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Point::$point => $name,)*
                }
            }
        }

        /// The names of all.
        #[cfg(feature = "sim")]
        pub const POINTS: &[&str] = &[$($name),*];
    };
}

points! {
    Search "restore.search" "Before the newest checkpoint is looked for.";
    Start "attempt.start" "Before the tasks of an attempt are built.";
    Restored "attempt.restored" "Sinks have committed what the checkpoint holds; nothing runs yet.";
    Barrier "task.barrier" "A task has seen all barriers and is about to take its snapshot.";
    Snapshot "task.snapshot" "The snapshot is taken and not yet encoded.";
    Encode "task.encode" "What sinks have staged is taken out; the rest is about to be encoded, which may fail.";
    Acknowledge "task.acknowledge" "It is encoded; the coordinator does not know.";
    Write "checkpoint.write" "All parts are there, nothing is stored.";
    File "checkpoint.file" "A data file is encoded, those before it may be stored.";
    Manifest "checkpoint.manifest" "The data files are stored, the manifest is not.";
    Written "checkpoint.written" "The manifest is stored; nobody knows.";
    Retain "checkpoint.retain" "Older checkpoints are about to be removed.";
    Bare "checkpoint.bare" "Manifests of older checkpoints are removed; their files are not.";
    Retained "checkpoint.retained" "Older checkpoints are removed; the coordinator does not know that the new one is stored.";
    Compact "compaction.begin" "Files of checkpoints are about to be put together.";
    Compacted "compaction.end" "They are, and stored; no manifest names the new ones.";
    Commit "commit.begin" "A complete checkpoint is about to be committed.";
    Committed "commit.end" "It is committed, and still counts as waiting.";
    Discover "source.discover" "An enumerator is about to look for splits.";
    Finish "job.finish" "Everything is committed; the sinks are about to be finished.";
    Leave "job.leave" "The sinks are finished; the checkpoints are about to be removed.";
}
