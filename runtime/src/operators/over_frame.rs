//! The rows of a frame, added up: rows come in behind and leave in front, and neither takes more than a few merges.
//!
//! Two stacks: `back` has the newer rows one by one and `total` their sum; `front` has the older ones, each with all that
//! follow it in `front`. The value of the frame is the first of `front` merged with `total`. When `front` is empty and a
//! row has to leave, `back` moves over. The order of rows is kept, and what is merged with what depends on nothing but the
//! rows of the key, so that sums of floats are the same after a restore.

use std::borrow::Cow;

use super::over::Analysis;
use crate::error::JobError;
use crate::graph::Frame;
use crate::operator::Collector;
use crate::state::{State, StateError, StateReader};
use crate::value::EvalError;

/// The rows of a frame.
#[derive(Clone, Debug)]
pub(super) struct FrameRows<Acc> {
    /// Which rows belong to it, see [`kind`].
    kind: i64,
    /// Older rows, the oldest last, each with those behind it.
    front: Vec<(i64, Acc)>,
    /// Newer rows, the newest last.
    back: Vec<(i64, Acc)>,
    /// The rows in `back`; all rows of a frame that none leaves.
    total: Acc,
    /// The time of the newest row.
    last: Option<i64>,
}

/// What tells frames apart whose state means something else.
fn kind(frame: Frame) -> i64 {
    match frame {
        Frame::Running => 0,
        Frame::All => 1,
        Frame::Rows(_) => 2,
        Frame::Time(_) => 3,
        Frame::Ahead(_) => 4,
    }
}

impl<Acc: Default> FrameRows<Acc> {
    /// An empty frame.
    pub fn new(frame: Frame) -> Self {
        FrameRows { kind: kind(frame), front: Vec::new(), back: Vec::new(), total: Acc::default(), last: None }
    }
}

impl<Acc> FrameRows<Acc> {
    /// Whether it holds what this frame needs.
    pub fn is_of(&self, frame: Frame) -> bool {
        self.kind == kind(frame)
    }

    /// The time of the newest row.
    pub fn last(&self) -> Option<i64> {
        self.last
    }
}

impl<Acc: Clone + Default> FrameRows<Acc> {
    /// The sum of a frame that no row leaves, for a row of this time.
    pub fn total(&mut self, time: i64) -> &mut Acc {
        self.last = Some(time);
        &mut self.total
    }

    /// Adds a row behind the others.
    pub fn push<A: Analysis<Acc = Acc>>(&mut self, analysis: &A, time: i64, row: &A::In) -> Result<(), EvalError> {
        let mut one = Acc::default();
        analysis.add(&mut one, row)?;
        analysis.merge(&mut self.total, &one)?;
        self.back.push((time, one));
        self.last = Some(time);
        Ok(())
    }

    /// Rows leave until no more than `count` are there.
    pub fn keep_last<A: Analysis<Acc = Acc>>(
        &mut self,
        analysis: &A,
        count: u64,
        out: &mut impl Collector<A::Out>,
    ) -> Result<(), JobError> {
        while (self.front.len() + self.back.len()) as u64 > count {
            self.pop(analysis, out)?;
        }
        Ok(())
    }

    /// Rows from before this time leave.
    pub fn keep_since<A: Analysis<Acc = Acc>>(
        &mut self,
        analysis: &A,
        time: i64,
        out: &mut impl Collector<A::Out>,
    ) -> Result<(), JobError> {
        while self.front.last().or(self.back.first()).is_some_and(|(oldest, _)| *oldest < time) {
            self.pop(analysis, out)?;
        }
        Ok(())
    }

    fn pop<A: Analysis<Acc = Acc>>(&mut self, analysis: &A, out: &mut impl Collector<A::Out>) -> Result<(), JobError> {
        if self.front.is_empty() {
            self.total = Acc::default();
            for (time, mut acc) in self.back.drain(..).rev() {
                if let Some((_, behind)) = self.front.last()
                    && let Err(error) = analysis.merge(&mut acc, behind)
                {
                    out.reject(error)?;
                }
                self.front.push((time, acc));
            }
        }
        self.front.pop();
        Ok(())
    }

    /// What the rows make together.
    pub fn value<A: Analysis<Acc = Acc>>(&self, analysis: &A) -> Result<Cow<'_, Acc>, EvalError> {
        let Some((_, older)) = self.front.last() else { return Ok(Cow::Borrowed(&self.total)) };
        let mut value = older.clone();
        analysis.merge(&mut value, &self.total)?;
        Ok(Cow::Owned(value))
    }
}

impl<Acc: State> State for FrameRows<Acc> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.kind.encode(out);
        self.front.encode(out);
        self.back.encode(out);
        self.total.encode(out);
        self.last.encode(out);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(FrameRows {
            kind: State::decode(input)?,
            front: State::decode(input)?,
            back: State::decode(input)?,
            total: State::decode(input)?,
            last: State::decode(input)?,
        })
    }

    fn schema() -> String {
        let acc = Acc::schema();
        format!(
            "frame{{kind:int64,front:list<(int64,{acc})>,back:list<(int64,{acc})>,total:{acc},last:{}}}",
            Option::<i64>::schema()
        )
    }
}
