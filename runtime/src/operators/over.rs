//! `f(..) over (by key, order by time, last ..)`: each row with what its key's rows up to it make.
//!
//! Rows wait until the watermark has reached them, so they are taken in the order of event time whatever the order of
//! arrival; of equal times the first to come is first. A row that is older than the watermark is late, and counted.
//! State: key → rows that wait, and the frame. A key without waiting rows whose frame has run empty is forgotten. So is, with
//! `ttl`, one for which nothing has happened for so long: rows that wait for the watermark stay and keep it, those that wait
//! for rows behind them (`lead`) come out without.

use std::collections::VecDeque;

use super::Ttl;
use super::over_frame::FrameRows;
use crate::error::JobError;
use crate::graph::Frame;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorReport, OperatorSnapshot, RestoredOperator};
use crate::record::Key;
use crate::state::{KeyedState, Place, State, StateError, StateReader};
use crate::time::{DueQueue, Progress, Watermark};
use crate::value::{EvalError, Timestamp};

/// What an analytic select computes of the rows of a frame: generated code fills this in, [`Over`] drives it.
#[allow(unused_variables)]
pub trait Analysis: Send {
    /// The rows it takes.
    type In: Clone + State + Send + Sync + 'static;
    /// What rows are looked at together; `()` for all.
    type Key: Key;
    /// All accumulators of a frame; the default is that of no rows.
    type Acc: Clone + Default + State + Send + Sync + 'static;
    /// The rows it makes.
    type Out;

    /// The partition of a row.
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError>;

    /// The event time of a row.
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError>;

    /// Counts a row.
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError>;

    /// Adds all rows of `other`, which come behind those of `acc`. Only for frames that rows leave.
    fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
        Err(EvalError::new("this frame cannot be merged"))
    }

    /// The row with the values of its frame.
    fn output(&self, row: Self::In, acc: &Self::Acc) -> Result<Self::Out, EvalError>;
}

/// Computes analytic functions in the order of event time.
pub struct Over<A: Analysis> {
    analysis: A,
    frame: Frame,
    state: KeyedState<A::Key, Partition<A::In, A::Acc>>,
    timers: DueQueue<A::Key>,
    progress: Progress,
    ttl: Ttl<A::Key>,
    late_rows: u64,
}

/// What is known of a key.
#[derive(Clone, Debug)]
struct Partition<In, Acc> {
    /// By time, once `sort` has been called; equal times in the order of arrival.
    waiting: Vec<(i64, In)>,
    rows: FrameRows<Acc>,
    /// Rows that wait for those behind them: only where the frame looks ahead.
    held: VecDeque<In>,
    /// The time of the one timer that counts. Not part of checkpoints.
    timer: i64,
}

impl<In, Acc: Default> Partition<In, Acc> {
    fn new(frame: Frame) -> Self {
        Partition { waiting: Vec::new(), rows: FrameRows::new(frame), held: VecDeque::new(), timer: i64::MAX }
    }

    /// Takes the waiting rows up to this time, in order.
    fn take_until(&mut self, time: i64) -> Vec<(i64, In)> {
        self.waiting.sort_by_key(|(time, _)| *time);
        let due = self.waiting.partition_point(|(other, _)| *other <= time);
        self.waiting.drain(..due).collect()
    }

    /// When there is something to do next.
    fn due(&self, frame: Frame) -> i64 {
        // While rows wait, the next of them is soon enough to forget old ones.
        match (self.waiting.iter().map(|(time, _)| *time).min(), frame, self.rows.last()) {
            (Some(row), _, _) => row,
            (None, Frame::Time(length), Some(last)) => last.saturating_add(length).saturating_add(1),
            (None, _, _) => i64::MAX,
        }
    }
}

impl<A: Analysis> Over<A> {
    /// Over these rows of a key.
    pub fn new(frame: Frame, analysis: A) -> Self {
        Over {
            analysis,
            frame,
            state: KeyedState::new("rows"),
            timers: DueQueue::default(),
            progress: Progress::default(),
            ttl: Ttl::default(),
            late_rows: 0,
        }
    }

    /// Forgets the rows of a key so many microseconds of the clock after something happened to them.
    pub fn ttl(mut self, micros: i64) -> Self {
        self.ttl = Ttl::after(micros);
        self
    }

    /// The last rows of a key look at fewer rows than they might.
    fn release_held(&mut self, out: &mut impl Collector<A::Out>) -> Result<(), JobError> {
        for table in 0..self.state.tables().tables() {
            self.state.tables_mut().drain(table, |_, mut partition| give_held(&self.analysis, &mut partition.held, out))?;
        }
        Ok(())
    }
}

fn emit<A: Analysis>(analysis: &A, row: A::In, acc: &A::Acc, out: &mut impl Collector<A::Out>) -> Result<(), JobError> {
    match analysis.output(row, acc) {
        Ok(row) => out.emit(row),
        Err(error) => out.reject(error),
    }
}

/// Emits a row with those behind it.
fn look_ahead<A: Analysis>(
    analysis: &A,
    row: A::In,
    behind: &VecDeque<A::In>,
    out: &mut impl Collector<A::Out>,
) -> Result<(), JobError> {
    let mut acc = A::Acc::default();
    match behind.iter().try_for_each(|row| analysis.add(&mut acc, row)) {
        Ok(()) => emit(analysis, row, &acc, out),
        Err(error) => out.reject(error),
    }
}

/// Emits rows that wait for others, with those that are there.
fn give_held<A: Analysis>(analysis: &A, held: &mut VecDeque<A::In>, out: &mut impl Collector<A::Out>) -> Result<(), JobError> {
    while let Some(row) = held.pop_front() {
        look_ahead(analysis, row, held, out)?;
    }
    Ok(())
}

/// Adds rows in order and emits each with its frame. A row that cannot be added or has no value is left out.
fn run<A: Analysis>(
    analysis: &A,
    frame: Frame,
    partition: &mut Partition<A::In, A::Acc>,
    due: Vec<(i64, A::In)>,
    out: &mut impl Collector<A::Out>,
) -> Result<(), JobError> {
    let Partition { rows, held, .. } = partition;
    let mut due = due.into_iter().peekable();
    let mut peers = Vec::new();
    while let Some((time, row)) = due.next() {
        match frame {
            Frame::Ahead(count) => {
                held.push_back(row);
                if held.len() as u64 <= count {
                    continue;
                }
                if let Some(first) = held.pop_front() {
                    look_ahead(analysis, first, held, out)?;
                }
            }
            Frame::Running => match analysis.add(rows.total(time), &row) {
                Ok(()) => emit(analysis, row, rows.total(time), out)?,
                Err(error) => out.reject(error)?,
            },
            Frame::Rows(count) => match rows.push(analysis, time, &row) {
                Ok(()) => {
                    rows.keep_last(analysis, count, out)?;
                    finish(analysis, rows, [row], out)?;
                }
                Err(error) => out.reject(error)?,
            },
            Frame::All | Frame::Time(_) => {
                // Rows of one time see each other.
                let mut next = Some(row);
                while let Some(row) = next {
                    let added = match frame {
                        Frame::All => analysis.add(rows.total(time), &row),
                        _ => rows.push(analysis, time, &row),
                    };
                    match added {
                        Ok(()) => peers.push(row),
                        Err(error) => out.reject(error)?,
                    }
                    next = due.next_if(|(other, _)| *other == time).map(|(_, row)| row);
                }
                if let Frame::Time(length) = frame {
                    rows.keep_since(analysis, time.saturating_sub(length), out)?;
                }
                finish(analysis, rows, peers.drain(..), out)?;
            }
        }
    }
    Ok(())
}

fn finish<A: Analysis>(
    analysis: &A,
    frame: &FrameRows<A::Acc>,
    rows: impl IntoIterator<Item = A::In>,
    out: &mut impl Collector<A::Out>,
) -> Result<(), JobError> {
    let acc = frame.value(analysis);
    for row in rows {
        match &acc {
            Ok(acc) => emit(analysis, row, acc, out)?,
            Err(error) => out.reject(error.clone())?,
        }
    }
    Ok(())
}

impl<A: Analysis> Operator<A::In> for Over<A> {
    type Out = A::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
        self.ttl.open(context);
    }

    fn process(&mut self, row: A::In, _out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        let key = self.analysis.key(&row)?;
        let time = self.analysis.time(&row)?.0;
        let slot = self.state.slot(&key)?;
        if time <= self.progress.of(slot) {
            self.late_rows += 1;
            return Ok(());
        }
        self.ttl.touch(slot, &key)?;
        match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let partition = place.value();
                partition.waiting.push((time, row));
                if time < partition.timer {
                    partition.timer = time;
                    self.timers.push(time, slot, key);
                }
            }
            Place::Vacant(place) => {
                let partition = place.insert(key.clone(), Partition::new(self.frame));
                partition.waiting.push((time, row));
                partition.timer = time;
                self.timers.push(time, slot, key);
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<A::Out>) -> Result<Option<Watermark>, Failure> {
        while let Some((at, slot, key)) = self.timers.pop(watermark.0) {
            let Place::Occupied(mut place) = self.state.place(slot, &key)? else { continue };
            let partition = place.value();
            if partition.timer != at {
                continue;
            }
            let due = partition.take_until(watermark.0);
            run(&self.analysis, self.frame, partition, due, out)?;
            self.ttl.touch(slot, &key)?;
            if let (Frame::Time(length), Some(last)) = (self.frame, partition.rows.last())
                && partition.waiting.is_empty()
                && last.saturating_add(length) < watermark.0
            {
                place.remove();
                continue;
            }
            partition.timer = partition.due(self.frame);
            if partition.timer != i64::MAX {
                self.timers.push(partition.timer, slot, key);
            }
        }
        self.progress.advance(watermark);
        if watermark == Watermark::MAX {
            self.release_held(out)?;
        }
        Ok(Some(watermark))
    }

    fn on_processing_time(&mut self, now: i64, out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        let Over { analysis, state, ttl, .. } = self;
        ttl.advance_with(now, |slot, key| {
            let Place::Occupied(mut place) = state.place(slot, key)? else { return Ok(true) };
            let partition = place.value();
            give_held(analysis, &mut partition.held, out)?;
            let waits = !partition.waiting.is_empty();
            if !waits {
                place.remove();
            }
            Ok(!waits)
        })
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.ttl.next()
    }

    fn finish(&mut self, _out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        self.state.clear();
        self.timers.clear();
        self.ttl.clear();
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&self.progress, snapshot)?;
        self.ttl.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let (timers, frame) = (&mut self.timers, self.frame);
        let mut is_same = true;
        self.state.restore(state, &mut self.progress, |slot, key, partition| {
            is_same &= partition.rows.is_of(frame);
            partition.timer = partition.due(frame);
            if partition.timer != i64::MAX {
                timers.push(partition.timer, slot, key.clone());
            }
        })?;
        if !is_same {
            state.does_not_fit("rows", "it is that of another frame behind `over`")?;
            self.state.clear();
            self.timers.clear();
            self.progress = Progress::default();
            return Ok(());
        }
        self.ttl.restore(state)
    }

    fn report(&self, report: &mut OperatorReport) {
        report.late += self.late_rows;
    }
}

impl<In: State, Acc: State + Default> State for Partition<In, Acc> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.waiting.encode(out);
        self.rows.encode(out);
        self.held.encode(out);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let (waiting, rows, held) = (State::decode(input)?, State::decode(input)?, State::decode(input)?);
        Ok(Partition { waiting, rows, held, timer: i64::MAX })
    }

    fn encode_local(&self, out: &mut Vec<u8>) {
        self.encode(out);
        self.timer.encode(out);
    }
    fn decode_local(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut local = Self::decode(input)?;
        local.timer = State::decode(input)?;
        Ok(local)
    }
    fn schema() -> String {
        let (rows, frame) = (In::schema(), FrameRows::<Acc>::schema());
        format!("over{{waiting:list<(int64,{rows})>,rows:{frame},held:list<{rows}>}}")
    }
}
