//! The suite for sources.

mod bench;
#[doc(hidden)]
pub mod cases;
mod hands;

use std::fmt::Debug;

use millstream::JobResult;
use millstream::source::Source;

use crate::claims::{Boundedness, SourceClaims, Splits};

/// What the kit must know of a source connector: one value per test, with an external store of its own that goes away with it.
pub trait SourceContext: Send + Sync + Sized + 'static {
    /// The source. Rows are compared by their debug text.
    type Source: Source<Row: Debug>;

    /// What the connector is called in the table.
    const NAME: &'static str;

    /// What it promises.
    const CLAIMS: SourceClaims;

    /// Opens an empty store.
    fn open() -> JobResult<Self>;

    /// Puts so many new rows into a split, which is made where it is not there, and gives them as the source will. All rows of a
    /// store are different. Called before the source is made, and, if the context claims that it grows, while it is read.
    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<<Self::Source as Source>::Row>>;

    /// The source on this store. `bounded`: it has to end; otherwise it has to go on for ever. Where the context claims only one of
    /// the two, only that is asked for.
    fn source(&self, bounded: bool) -> JobResult<Self::Source>;
}

/// Why a connector with these claims has no such case; None: it has.
pub(crate) fn impossible(case: &str, claims: &SourceClaims) -> Option<&'static str> {
    let grows = claims.grows && claims.boundedness != Boundedness::Bounded;
    match case {
        "stop_and_resume" | "scale_up" | "scale_down" | "failure_between_batches" if !grows => {
            Some("what it reads does not grow")
        }
        "multiple_splits" if claims.splits == Splits::One => Some("it has one split"),
        "idle_reader" if !claims.ends() => Some("it never ends"),
        "idle_reader" if claims.splits == Splits::PerReader => Some("it has a split for every reader"),
        "restored_before_the_first_row"
        | "stopped_in_the_middle"
        | "rescaled_up_and_down"
        | "failures_in_the_middle"
        | "killed_at_any_moment"
        | "splits_back"
        | "paused_and_resumed"
            if claims.delivery == crate::Delivery::AtMostOnce =>
        {
            Some("at most once: rows cannot be read again")
        }
        _ => None,
    }
}

/// Calls a macro with a list of all cases, each with what it proves.
#[doc(hidden)]
#[macro_export]
macro_rules! source_cases {
    ($callback:ident, $context:ty) => {
        $crate::$callback! {
            $context,
            single_split "one split, one reader: all rows, then the end",
            multiple_splits "four splits, four readers",
            parallelism_1_to_4 "the same rows whatever the number of readers",
            metrics "numRecordsIn of all readers is what was written",
            idle_reader "more readers than splits: those without a split end as well",
            stop_and_resume "stopped with a checkpoint when all was read; resumed, only what was added since comes",
            scale_up "the same with 2 readers, then 4",
            scale_down "the same with 4 readers, then 2",
            stopped_in_the_middle "stopped with a checkpoint in the middle of the rows, and gone on with",
            rescaled_up_and_down "the same four times, with 1, 4, 2 and 3 readers",
            restored_before_the_first_row "a checkpoint from before the first row holds all of them",
            failure_between_batches "a task fails between two batches of rows: each comes once",
            failures_in_the_middle "tasks fail again and again while checkpoints are taken",
            paused_and_resumed "a split is paused in the middle and gone on with, there or from a checkpoint of that time",
            splits_back "a failure before the first checkpoint: the splits that were handed out come back",
            killed_at_any_moment "killed again and again, each time resumed with another number of readers",
        }
    };
}

/// Tests for a source: one per case, for a type that implements [`SourceContext`](crate::SourceContext). Once per module.
#[macro_export]
macro_rules! source_suite {
    ($context:ty) => {
        $crate::source_cases!(source_tests, $context);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! source_tests {
    ($context:ty, $($case:ident $proves:literal,)*) => {$(
        #[doc = $proves]
        #[test]
        fn $case() {
            $crate::source::check::<$context>(stringify!($case), $crate::source::cases::$case::<$context>);
        }
    )*};
}

/// Runs a case, unless the claims rule it out.
#[doc(hidden)]
pub fn check<C: SourceContext>(case: &str, run: fn()) {
    match impossible(case, &C::CLAIMS) {
        Some(reason) => println!("{} cannot have the case {case}: {reason}", C::NAME),
        None => run(),
    }
}
