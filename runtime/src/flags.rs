//! The flags that every job has, for `--help` and for the compiler: no param may be called like one.

/// The flags that every job has: name, value, and what it does.
pub const FLAGS: &[(&str, &str, &str)] = &[
    ("parallelism", "<n>", "copies of each operator"),
    ("checkpoint-dir", "<directory>", "where checkpoints go; a run that was cut short goes on from the newest"),
    ("checkpoint-interval", "<duration>", "time between checkpoints, such as 10s"),
    ("from", "<checkpoint>", "go on from this checkpoint (its folder, or a directory of which the newest counts)"),
    ("claim", "", "with --from: remove that checkpoint once there are newer ones"),
    ("drop-state", "<operator>", "what the checkpoint has of this operator is dropped if it does not fit; may be repeated"),
    (
        "keep-state",
        "<operator>",
        "what this operator keeps fits, though its key or its aggregates read otherwise; may be repeated",
    ),
    ("stop-timeout", "<duration>", "after SIGTERM, SIGINT or SIGHUP: end at once if the last checkpoint takes longer"),
    ("metrics", "<address>", "where metrics are shown for Prometheus, such as 127.0.0.1:9249"),
    ("fresh", "", "start from the beginning: forget checkpoints"),
    ("replace", "", "replace the output of an earlier run"),
    ("quiet", "", "no progress, no summary"),
    ("help", "", "this text"),
    ("version", "", "name and version"),
];
