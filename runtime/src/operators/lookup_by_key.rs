//! `join rates as r on ..` with a `lookup` that is asked key by key, many at the same time, with a cache before it.
//!
//! In order, rows come out as they came in; unordered, each when its answer is there. Either way a watermark stays behind the rows that came
//! before it. Rows with one key share a question. Before a snapshot the engine waits for what is on the way, so there is no state;
//! after a restart rows are looked up anew.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use hashbrown::HashMap;
use tokio::task::JoinSet;

use super::{Joining, lookup_rows};
use crate::error::{JobError, JobResult};
use crate::graph::JoinKind;
use crate::lookup::{Answer, Cache, KeyedTable, pause};
use crate::operator::{Backlog, Collector, Failure, Operator};
use crate::time::Watermark;
use crate::value::Str;

/// So many rows wait for answers, per key that may be asked for; a batch more may come on top.
const WAITING_PER_QUESTION: usize = 64;

/// What the table has for a key.
type Found<R> = Arc<[R]>;

/// What came in, in order.
#[derive(Debug)]
enum Waiting<L, R> {
    Row {
        left: L,
        found: Option<Found<R>>,
    },
    Watermark(Watermark),
    /// A row that is out already.
    Gone,
}

/// Looks rows up by asking.
#[derive(Debug)]
pub struct LookupByKey<J: Joining, T: KeyedTable> {
    kind: JoinKind,
    joining: J,
    name: &'static str,
    table: T,
    ordered: bool,
    cache: Option<Cache<J::Key, Found<J::Right>>>,
    waiting: VecDeque<Waiting<J::Left, J::Right>>,
    /// The number of the first in `waiting`.
    first: u64,
    /// The numbers of the rows that wait for the answer of a key.
    asked: HashMap<J::Key, Vec<u64>>,
    /// What a row finds that can match nothing.
    nothing: Found<J::Right>,
    /// Keys whose turn to be asked for has not come.
    queue: VecDeque<(J::Key, Vec<Str>)>,
    questions: JoinSet<(J::Key, JobResult<Vec<J::Right>>)>,
    now: i64,
}

impl<J, T> LookupByKey<J, T>
where
    J: Joining,
    T: KeyedTable<Row = J::Right>,
{
    /// `name`: that of the `lookup`. `cache`: for how many microseconds, and how many keys.
    pub fn new(kind: JoinKind, name: &'static str, joining: J, table: T, ordered: bool, cache: Option<(i64, u64)>) -> Self {
        LookupByKey {
            kind,
            joining,
            name,
            table,
            ordered,
            cache: cache.map(|(keep, limit)| Cache::new(keep, usize::try_from(limit).unwrap_or(usize::MAX))),
            waiting: VecDeque::new(),
            first: 0,
            asked: HashMap::new(),
            nothing: Arc::from([]),
            queue: VecDeque::new(),
            questions: JoinSet::new(),
            now: i64::MIN,
        }
    }

    /// Asks for the next keys, as many as may be.
    fn ask(&mut self) {
        while self.questions.len() < self.table.in_flight().max(1)
            && let Some((key, texts)) = self.queue.pop_front()
        {
            let table = self.table.clone();
            self.questions.spawn(async move { (key, ask_until_answered(table, texts.into()).await) });
        }
    }

    /// What is known without asking.
    fn known(&mut self, key: &J::Key) -> Option<Found<J::Right>> {
        if !self.joining.can_match(key) {
            return Some(self.nothing.clone());
        }
        self.cache.as_mut()?.get(key, self.now)
    }

    fn emit(&self, left: &J::Left, found: &[J::Right], out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        lookup_rows::emit(self.kind, &self.joining, left, found, out)
    }

    /// Gives an answer to the rows that wait for it.
    fn answered(&mut self, key: J::Key, found: Vec<J::Right>, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        let found: Found<J::Right> = found.into();
        let rows = self.asked.remove(&key).unwrap_or_default();
        if let Some(cache) = &mut self.cache {
            cache.put(key, self.now, found.clone());
        }
        for number in rows {
            let index = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
            let Some(waiting) = self.waiting.get_mut(index) else { continue };
            if self.ordered {
                if let Waiting::Row { found: answer, .. } = waiting {
                    *answer = Some(found.clone());
                }
                continue;
            }
            if let Waiting::Row { left, .. } = std::mem::replace(waiting, Waiting::Gone)
                && let Err(failure) = self.emit(&left, &found, out)
            {
                match failure {
                    Failure::Row(error) => out.reject(error)?,
                    fatal => return Err(fatal),
                }
            }
        }
        Ok(())
    }

    /// The next thing that may come out of the front, as far as it is a watermark. None: nothing has come out.
    fn front(&mut self, out: &mut impl Collector<J::Out>) -> Option<Result<Option<Watermark>, Failure>> {
        match self.waiting.front()? {
            Waiting::Row { found: None, .. } => return None,
            Waiting::Row { .. } | Waiting::Watermark(_) | Waiting::Gone => {}
        }
        self.first += 1;
        Some(match self.waiting.pop_front()? {
            Waiting::Row { left, found } => self.emit(&left, found.as_deref().unwrap_or_default(), out).map(|()| None),
            Waiting::Watermark(watermark) => Ok(Some(watermark)),
            Waiting::Gone => Ok(None),
        })
    }
}

impl<J, T> Operator<J::Left> for LookupByKey<J, T>
where
    J: Joining,
    T: KeyedTable<Row = J::Right>,
{
    type Out = J::Out;

    fn process(&mut self, row: J::Left, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        let key = self.joining.left_key(&row)?;
        let known = self.known(&key);
        if let Some(found) = &known
            && (self.waiting.is_empty() || !self.ordered)
        {
            return self.emit(&row, found, out);
        }
        if known.is_none() {
            let number = self.first + self.waiting.len() as u64;
            match self.asked.get_mut(&key) {
                Some(rows) => rows.push(number),
                None => {
                    let texts = self.joining.key_texts(&row)?;
                    self.asked.insert(key.clone(), vec![number]);
                    self.queue.push_back((key, texts));
                    self.ask();
                }
            }
        }
        self.waiting.push_back(Waiting::Row { left: row, found: known });
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<J::Out>) -> Result<Option<Watermark>, Failure> {
        if self.waiting.is_empty() {
            return Ok(Some(watermark));
        }
        self.waiting.push_back(Waiting::Watermark(watermark));
        Ok(None)
    }

    fn on_processing_time(&mut self, now: i64, _out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        self.now = now;
        Ok(())
    }

    fn poll_background(
        &mut self,
        context: &mut Context<'_>,
        out: &mut impl Collector<J::Out>,
    ) -> Poll<Result<Option<Watermark>, Failure>> {
        if let Some(came_out) = self.front(out) {
            return Poll::Ready(came_out);
        }
        let (key, rows) = match self.questions.poll_join_next(context) {
            Poll::Ready(Some(Ok(answer))) => answer,
            Poll::Ready(Some(Err(error))) => {
                return Poll::Ready(Err(
                    JobError::transient(format!("lookup {}: a question panicked: {error}", self.name)).into()
                ));
            }
            Poll::Ready(None) | Poll::Pending => return Poll::Pending,
        };
        self.ask();
        Poll::Ready(match rows {
            Ok(rows) => self.answered(key, rows, out).map(|()| None),
            Err(error) => Err(Failure::Fatal(error.context(format!("lookup {}", self.name)))),
        })
    }

    fn backlog(&self) -> Backlog {
        let limit = self.table.in_flight().max(1).saturating_mul(WAITING_PER_QUESTION);
        match self.waiting.len() {
            0 => Backlog::Nothing,
            waiting if waiting >= limit || !self.queue.is_empty() => Backlog::Full,
            _ => Backlog::Some,
        }
    }
}

/// Asks for a key, again and again where that may help.
async fn ask_until_answered<T: KeyedTable>(table: T, key: Arc<[Str]>) -> JobResult<Vec<T::Row>> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let (asking, key) = (table.clone(), key.clone());
        let answer = crate::seam::blocking(move || asking.ask(&key)).await;
        match answer {
            Ok(Answer::Rows(rows)) => return Ok(rows),
            Ok(Answer::Failed(error)) => return Err(error),
            Ok(Answer::Retry { after, .. }) if attempt <= table.retries() => {
                tokio::time::sleep(after.unwrap_or_else(|| pause(attempt))).await;
            }
            Ok(Answer::Retry { reason, .. }) => {
                let s = if attempt == 1 { "" } else { "s" };
                return Err(JobError::transient(format!("{reason}\n  after {attempt} attempt{s}")));
            }
            Err(error) => return Err(JobError::transient(format!("a question panicked: {error}"))),
        }
    }
}
