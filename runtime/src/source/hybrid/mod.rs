//! A source made of stages that are read one after the other: first the history, then what is live.
//!
//! ```text
//! reader               enumerator
//!                   ←  Switch(k, ends)       to a reader that is new: it makes its half of stage k
//! a split, please   →                        to the enumerator of stage k, whose answers come back marked with k
//!                   ←  no more splits        of this stage, that is: not for ever
//! Finished(k, seen) →                        when all readers have: the end of k is fixed, k + 1 is made, Switch to all
//! ```
//!
//! Invariants. A stage is made when its turn comes, from what is known then ([`Switch`]), and that is in every later
//! checkpoint: a restart makes the same stage again, and never looks at an earlier one. Splits that a reader holds are in its
//! snapshot, whether or not it has been switched to their stage. A reader between two stages is neither idle nor done: its
//! watermark stays where it is.

mod ended;
mod enumerator;
mod event;
mod output;
mod reader;
mod split;
mod stages;
mod summary;
mod switch;
#[cfg(test)]
mod tests;

pub use enumerator::HybridEnumerator;
pub use reader::HybridReader;
pub use split::HybridSplit;
pub use stages::{EitherReader, NoReader, NoStages, StageReader, Stages, Then, TypedReader};
pub use summary::{Summary, raise, raise_to};
pub use switch::{StageEnd, Switch};

use std::marker::PhantomData;
use std::sync::Arc;

use super::{ReaderContext, Source, SourceContext};
use crate::error::JobResult;

/// Reads one stage after the other, all of one row type. Built with [`Hybrid`].
#[derive(Debug)]
pub struct HybridSource<L> {
    stages: Arc<L>,
    bounded: bool,
}

impl<L: Stages> Source for HybridSource<L> {
    type Row = L::Row;
    type Split = HybridSplit;
    type Enumerator = HybridEnumerator<L>;
    type Reader = HybridReader<L>;

    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<HybridEnumerator<L>> {
        match restored {
            Some(bytes) => HybridEnumerator::restore(self.stages.clone(), context, bytes),
            None => HybridEnumerator::start(self.stages.clone(), context),
        }
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<HybridReader<L>> {
        Ok(HybridReader::new(self.stages.clone(), context))
    }

    fn bounded(&self) -> bool {
        self.bounded
    }
}

/// Puts stages together.
///
/// ```
/// # use millstream_runtime::source::hybrid::{Hybrid, Switch};
/// # use millstream_runtime::source::Source;
/// # use millstream_runtime::error::JobResult;
/// # fn orders<H, L>(history: H, live: fn(i64) -> JobResult<L>) -> impl Source
/// # where H: Source<Row = u64> + Clone + Sync, L: Source<Row = u64> {
/// Hybrid::of::<u64, ()>()
///     .stage("history", move |_| Ok(history.clone()))
///     .stage("live", move |ends: &Switch<()>| live(ends.of("history")?.start_time.0))
///     .unbounded()
/// # }
/// ```
#[derive(Debug)]
pub struct Hybrid<L> {
    stages: L,
}

impl Hybrid<()> {
    /// Begins a hybrid source of rows `T` whose later stages may ask for the summary `E` of earlier ones.
    pub fn of<T: Send + 'static, E: Summary<T>>() -> Hybrid<NoStages<T, E>> {
        Hybrid { stages: NoStages(PhantomData) }
    }
}

impl<L: Stages> Hybrid<L> {
    /// The next stage. `make` is called when its turn comes, and again after a restart, with the same ends.
    pub fn stage<S, M>(self, name: &'static str, make: M) -> Hybrid<Then<L, S, M>>
    where
        S: Source<Row = L::Row>,
        M: Fn(&Switch<L::Summary>) -> JobResult<S> + Send + Sync + 'static,
    {
        Hybrid { stages: Then::new(self.stages, name, make) }
    }

    /// The source; its last stage comes to an end.
    pub fn bounded(self) -> HybridSource<L> {
        HybridSource { stages: Arc::new(self.stages), bounded: true }
    }

    /// The source; its last stage never ends.
    pub fn unbounded(self) -> HybridSource<L> {
        HybridSource { stages: Arc::new(self.stages), bounded: false }
    }
}
