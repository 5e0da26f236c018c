//! `select { .., country: ask(ip) }` with an `async fn` of the user's: many rows wait for their answers at the same time.
//!
//! In order, rows come out as they came in; unordered, each when its answer is there. Either way a watermark stays behind the rows that
//! came before it, and no more than so many calls are on their way. Before a snapshot the engine waits until nothing is, so there is
//! no state; after a restart, rows behind the checkpoint are asked for anew.

use std::collections::VecDeque;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::error::JobError;
use crate::graph::text::duration_text;
use crate::operator::{Backlog, Collector, Describe, Failure, Operator};
use crate::time::Watermark;
use crate::value::EvalError;

/// A row with its answer.
type Answered<In, V> = (In, Result<V, EvalError>);

/// What came in, in order.
#[derive(Debug)]
enum Waiting<In, V> {
    /// It has no answer.
    Row,
    Answered(Answered<In, V>),
    Watermark(Watermark),
    /// A row that is out already.
    Gone,
}

/// Calls a function that waits.
#[derive(Debug)]
pub struct CallAsync<In, V, A, J> {
    name: &'static str,
    ordered: bool,
    in_flight: usize,
    ask: A,
    join: J,
    waiting: VecDeque<Waiting<In, V>>,
    /// The number of the first in `waiting`.
    first: u64,
    /// Rows whose turn has not come.
    queue: VecDeque<(u64, In)>,
    calls: JoinSet<(u64, Answered<In, V>)>,
}

impl<In, V, A, Fut, J> CallAsync<In, V, A, J>
where
    In: Send + 'static,
    V: Send + 'static,
    A: Fn(In) -> Fut + Send,
    Fut: Future<Output = Answered<In, V>> + Send + 'static,
{
    /// `name`: that of the function. `ask` gives a row back with its answer, and `join` makes a row of both.
    pub fn new(name: &'static str, ordered: bool, in_flight: u64, ask: A, join: J) -> Self {
        CallAsync {
            name,
            ordered,
            in_flight: usize::try_from(in_flight).unwrap_or(usize::MAX).max(1),
            ask,
            join,
            waiting: VecDeque::new(),
            first: 0,
            queue: VecDeque::new(),
            calls: JoinSet::new(),
        }
    }

    /// Starts calls, as many as may be on their way.
    fn start(&mut self) {
        while self.calls.len() < self.in_flight
            && let Some((number, row)) = self.queue.pop_front()
        {
            let answer = (self.ask)(row);
            self.calls.spawn(async move { (number, answer.await) });
        }
    }

    fn emit<Out>(&self, (row, answer): Answered<In, V>, out: &mut impl Collector<Out>) -> Result<(), Failure>
    where
        In: Describe,
        J: Fn(In, V) -> Out,
    {
        match answer {
            Ok(value) => Ok(out.emit((self.join)(row, value))?),
            Err(error) => Ok(out.reject_row(error, &|| row.describe())?),
        }
    }
}

impl<In, V, A, Fut, J, Out> Operator<In> for CallAsync<In, V, A, J>
where
    In: Describe + Send + 'static,
    V: Send + 'static,
    A: Fn(In) -> Fut + Send,
    Fut: Future<Output = Answered<In, V>> + Send + 'static,
    J: Fn(In, V) -> Out + Send,
{
    type Out = Out;

    fn process(&mut self, row: In, _out: &mut impl Collector<Out>) -> Result<(), Failure> {
        self.queue.push_back((self.first + self.waiting.len() as u64, row));
        self.waiting.push_back(Waiting::Row);
        self.start();
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<Out>) -> Result<Option<Watermark>, Failure> {
        if self.waiting.is_empty() {
            return Ok(Some(watermark));
        }
        self.waiting.push_back(Waiting::Watermark(watermark));
        Ok(None)
    }

    fn poll_background(
        &mut self,
        context: &mut Context<'_>,
        out: &mut impl Collector<Out>,
    ) -> Poll<Result<Option<Watermark>, Failure>> {
        if !matches!(self.waiting.front(), None | Some(Waiting::Row)) {
            self.first += 1;
            return Poll::Ready(match self.waiting.pop_front() {
                Some(Waiting::Answered(answered)) => self.emit(answered, out).map(|()| None),
                Some(Waiting::Watermark(watermark)) => Ok(Some(watermark)),
                Some(Waiting::Row | Waiting::Gone) | None => Ok(None),
            });
        }
        let (number, answered) = match self.calls.poll_join_next(context) {
            Poll::Ready(Some(Ok(answer))) => answer,
            Poll::Ready(Some(Err(error))) => {
                let said = format!("the async function {} panicked: {}", self.name, crate::panics::message(error));
                return Poll::Ready(Err(JobError::transient(said).into()));
            }
            Poll::Ready(None) | Poll::Pending => return Poll::Pending,
        };
        self.start();
        let index = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let Some(waiting) = self.waiting.get_mut(index) else { return Poll::Ready(Ok(None)) };
        Poll::Ready(match self.ordered {
            true => {
                *waiting = Waiting::Answered(answered);
                Ok(None)
            }
            false => {
                *waiting = Waiting::Gone;
                self.emit(answered, out).map(|()| None)
            }
        })
    }

    fn backlog(&self) -> Backlog {
        match self.waiting.len() {
            0 => Backlog::Nothing,
            // In order, answered rows wait behind one that is not: they count, or there would be no end of them.
            waiting if waiting >= self.in_flight => Backlog::Full,
            _ => Backlog::Some,
        }
    }
}

/// Calls of one row that have failed are made again, so many times, with a pause before each that doubles up to a minute.
#[derive(Debug)]
pub struct Retries {
    left: u64,
    pause: Duration,
}

/// Longer pauses help nobody.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl Retries {
    /// `micros`: the first pause.
    pub fn new(retries: u64, micros: i64) -> Self {
        Retries { left: retries, pause: Duration::from_micros(micros.unsigned_abs()).min(LONGEST_PAUSE) }
    }

    /// Waits until the next attempt is due. False: there is none any more.
    pub async fn again(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

/// An answer that comes in time. `micros`: how long it may take.
pub async fn in_time<V>(micros: i64, answer: impl Future<Output = Result<V, EvalError>>) -> Result<V, EvalError> {
    match tokio::time::timeout(Duration::from_micros(micros.unsigned_abs()), answer).await {
        Ok(answer) => answer,
        Err(_) => Err(EvalError::new(format!("there was no answer within {}", duration_text(micros)))),
    }
}
