//! The suite for sinks.

mod bench;
#[doc(hidden)]
pub mod cases;
#[doc(hidden)]
pub mod process;
mod tables;

pub use tables::{TableSinkContext, Tables};

use std::fmt::Debug;

use millstream::JobResult;
use millstream::sink::Sink;

use crate::claims::{Delivery, SinkClaims};
use crate::multiset;

/// What the kit must know of a sink connector: one value per test, with an external store of its own that goes away with it.
pub trait SinkContext: Send + Sync + Sized + 'static {
    /// What it takes. Rows are compared by their debug text.
    type Row: Debug + Send + 'static;

    /// The sink.
    type Sink: Sink<Self::Row>;

    /// What the connector is called in the table.
    const NAME: &'static str;

    /// What it promises.
    const CLAIMS: SinkClaims;

    /// Opens an empty store.
    fn open() -> JobResult<Self>;

    /// Where the store is, for another process: what [`at`](Self::at) takes.
    fn address(&self) -> String;

    /// A store that another process has opened, which it also removes.
    fn at(address: &str) -> JobResult<Self>;

    /// A row for each number; all are different.
    fn row(&self, number: u64) -> Self::Row;

    /// The sink on this store. Made anew for each attempt; the store has rows of earlier ones.
    fn sink(&self) -> JobResult<Self::Sink>;

    /// All rows that anybody can see in the store now.
    fn read(&self) -> JobResult<Vec<Self::Row>>;

    /// Rows of one key go to one writer: those of tables do.
    #[doc(hidden)]
    const BY_KEY: bool = false;

    /// The key of a row, where `BY_KEY`.
    #[doc(hidden)]
    fn key_of(_row: &Self::Row) -> u64 {
        0
    }

    /// What is wrong with what was found, when the rows of the numbers below `rows` were written; None: nothing.
    #[doc(hidden)]
    fn difference(&self, rows: u64, found: &[Self::Row], delivery: Delivery) -> Option<String> {
        let text = |row: &Self::Row| format!("{row:?}");
        let expected: Vec<_> = (0..rows).map(|number| text(&self.row(number))).collect();
        multiset::difference(&expected, &found.iter().map(text).collect::<Vec<_>>(), delivery)
    }
}

/// Why a connector with these claims has no such case; None: it has.
pub(crate) fn impossible(case: &str, claims: &SinkClaims) -> Option<&'static str> {
    match case {
        "invisible_before_commit"
        | "crash_before_commit"
        | "crash_in_the_middle_of_a_commit"
        | "crash_after_a_commit"
        | "crash_at_each_step_and_rescale"
        | "committed_twice"
        | "committed_by_another_process"
        | "unknown_pendings_are_aborted"
            if !claims.two_phase =>
        {
            Some("rows are out when they are written: there is no commit")
        }
        "failures_in_the_middle" | "killed_at_any_moment" | "unknown_pendings_are_aborted"
            if claims.delivery == Delivery::AtMostOnce =>
        {
            Some("at most once")
        }
        _ => None,
    }
}

/// Calls a macro with a list of all cases, each with what it proves.
#[doc(hidden)]
#[macro_export]
macro_rules! sink_cases {
    ($callback:ident, $context:ty) => {
        $crate::$callback! {
            $context,
            basic "all rows of a job that ends are there, those after the last checkpoint too",
            without_checkpoints "the same for a job that takes none",
            parallelism_1_to_4 "the same rows whatever the number of writers",
            metrics "numRecordsSend of all writers is what was written",
            invisible_before_commit "nothing is seen before the checkpoint that holds it is complete",
            start_from_checkpoint "stopped with a checkpoint: the first half is there; resumed: all of it",
            scale_up "the same with 2 writers, then 4",
            scale_down "the same with 4 writers, then 2",
            rescaled_up_and_down "stopped three times, with 1, 4, 2 and 3 writers",
            restored_before_the_first_row "a checkpoint from before the first row",
            failures_in_the_middle "tasks fail again and again while checkpoints are taken",
            killed_at_any_moment "killed again and again, each time resumed with another number of writers",
            crash_before_commit "the checkpoint was stored, and the process died before it committed",
            crash_in_the_middle_of_a_commit "half was committed",
            crash_after_a_commit "all was committed, and nobody noted it",
            crash_at_each_step_and_rescale "the same, resumed with another number of writers",
            committed_twice "the same committables again, by the same committer and by another",
            committed_by_another_process "a process dies before its commit, another makes up for it",
            unknown_pendings_are_aborted "what was staged for a checkpoint that never was complete goes away",
        }
    };
}

/// Tests for a sink: one per case, for a type that implements [`SinkContext`](crate::SinkContext). Once per module.
#[macro_export]
macro_rules! sink_suite {
    ($context:ty) => {
        $crate::sink_cases!(sink_tests, $context);

        /// No case: what another process does in `committed_by_another_process`.
        #[test]
        fn child_process() {
            $crate::sink::process::child::<$context>();
        }
    };
}

/// Tests for a sink of tables: the same cases, for a type that implements [`TableSinkContext`](crate::TableSinkContext). Once per module.
#[macro_export]
macro_rules! table_sink_suite {
    ($context:ty) => {
        $crate::sink_suite!($crate::sink::Tables<$context>);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! sink_tests {
    ($context:ty, $($case:ident $proves:literal,)*) => {$(
        #[doc = $proves]
        #[test]
        fn $case() {
            $crate::sink::check::<$context>(stringify!($case), module_path!(), $crate::sink::cases::$case::<$context>);
        }
    )*};
}

/// Runs a case, unless the claims rule it out.
#[doc(hidden)]
pub fn check<C: SinkContext>(case: &str, module: &str, run: fn(&str)) {
    match impossible(case, &C::CLAIMS) {
        Some(reason) => println!("{} cannot have the case {case}: {reason}", C::NAME),
        None => run(module),
    }
}
