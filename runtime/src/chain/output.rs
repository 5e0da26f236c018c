//! Exchange ends: the last stage of a chain whose rows go to another.

use std::marker::PhantomData;
use std::ops::Range;

use super::input::rows;
use crate::error::JobResult;
use crate::exchange::{Batch, Element, OutboxHandle};
use crate::operator::{OperatorReport, RestoredState, SnapshotBuilder, Stage};
use crate::state::{KeyGroups, State, hash_bytes};
use crate::time::Watermark;
use crate::value::EvalError;

/// Rows that wait for their batch to fill, per channel.
#[derive(Debug)]
struct Buffers<T> {
    rows: Vec<Vec<T>>,
    outbox: OutboxHandle,
    /// The outbox channels of this edge.
    channels: Range<usize>,
    limit: usize,
}

impl<T: Send + 'static> Buffers<T> {
    fn new(outbox: OutboxHandle, channels: Range<usize>, limit: usize) -> Self {
        Buffers { rows: channels.clone().map(|_| Vec::new()).collect(), outbox, channels, limit: limit.max(1) }
    }

    #[inline]
    fn push(&mut self, target: usize, row: T) {
        let rows = &mut self.rows[target];
        if rows.capacity() == 0 {
            rows.reserve_exact(self.limit);
        }
        rows.push(row);
        if rows.len() >= self.limit {
            self.hand_over(target);
        }
    }

    fn hand_over(&mut self, target: usize) {
        let rows = std::mem::take(&mut self.rows[target]);
        if !rows.is_empty() {
            self.outbox.put(self.channels.start + target, Element::Batch(Box::new(rows)));
        }
    }

    fn flush(&mut self) {
        for target in 0..self.rows.len() {
            self.hand_over(target);
        }
    }

    fn watermark(&mut self, watermark: Watermark) {
        self.flush();
        self.outbox.put_into(self.channels.clone(), || Element::Watermark(watermark.0));
    }
}

/// The calls of a stage that are the same for all exchange ends.
macro_rules! stage_of_buffers {
    () => {
        fn end_of_batch(&mut self) -> JobResult<()> {
            Ok(())
        }

        fn flush(&mut self) -> JobResult<()> {
            self.buffers.flush();
            Ok(())
        }

        fn watermark(&mut self, watermark: Watermark) -> JobResult<()> {
            self.buffers.watermark(watermark);
            Ok(())
        }

        fn processing_time(&mut self, _now: i64) -> JobResult<()> {
            Ok(())
        }

        fn next_processing_time(&self) -> Option<i64> {
            None
        }

        fn finish(&mut self) -> JobResult<()> {
            self.buffers.flush();
            Ok(())
        }

        fn snapshot(&mut self, _snapshot: &mut SnapshotBuilder) -> JobResult<()> {
            Ok(())
        }

        fn restore(&mut self, _state: &RestoredState) -> JobResult<()> {
            Ok(())
        }

        fn checkpoint_complete(&mut self, _checkpoint: u64) -> JobResult<()> {
            Ok(())
        }

        fn checkpoint_aborted(&mut self, _checkpoint: u64) -> JobResult<()> {
            Ok(())
        }

        fn report(&self, _reports: &mut Vec<OperatorReport>) {}
    };
}

/// Sends each row to one channel after the other; with one channel, all to it.
#[derive(Debug)]
pub struct RoundRobinOutput<T> {
    buffers: Buffers<T>,
    next: usize,
}

impl<T: Send + 'static> RoundRobinOutput<T> {
    pub(super) fn new(outbox: OutboxHandle, channels: Range<usize>, limit: usize, first: usize) -> Self {
        let next = first % channels.len().max(1);
        RoundRobinOutput { buffers: Buffers::new(outbox, channels, limit), next }
    }
}

impl<T: Send + 'static> Stage<T> for RoundRobinOutput<T> {
    #[inline]
    fn push(&mut self, row: T) -> JobResult<()> {
        self.buffers.push(self.next, row);
        self.next += 1;
        if self.next >= self.buffers.rows.len() {
            self.next = 0;
        }
        Ok(())
    }

    stage_of_buffers!();
}

/// Sends each row to all channels.
#[derive(Debug)]
pub struct BroadcastOutput<T> {
    buffers: Buffers<T>,
}

impl<T: Send + 'static> BroadcastOutput<T> {
    pub(super) fn new(outbox: OutboxHandle, channels: Range<usize>, limit: usize) -> Self {
        BroadcastOutput { buffers: Buffers::new(outbox, channels, limit) }
    }
}

impl<T: Clone + Send + 'static> Stage<T> for BroadcastOutput<T> {
    #[inline]
    fn push(&mut self, row: T) -> JobResult<()> {
        for target in 1..self.buffers.rows.len() {
            self.buffers.push(target, row.clone());
        }
        self.buffers.push(0, row);
        Ok(())
    }

    stage_of_buffers!();
}

/// Sends each row to the subtask that owns its key's group.
#[derive(Debug)]
pub struct HashOutput<T, K, F> {
    buffers: Buffers<T>,
    key: F,
    of: PhantomData<fn(K)>,
    groups: KeyGroups,
    parallelism: u32,
    encoded: Vec<u8>,
}

impl<T: Send + 'static, K, F> HashOutput<T, K, F> {
    pub(super) fn new(outbox: OutboxHandle, channels: Range<usize>, limit: usize, groups: KeyGroups, key: F) -> Self {
        let parallelism = u32::try_from(channels.len()).unwrap_or(u32::MAX);
        HashOutput {
            buffers: Buffers::new(outbox, channels, limit),
            key,
            of: PhantomData,
            groups,
            parallelism,
            encoded: Vec::new(),
        }
    }
}

/// The subtask that owns the key of a row.
#[inline]
fn target_of<K: State>(key: Result<K, EvalError>, groups: KeyGroups, parallelism: u32, encoded: &mut Vec<u8>) -> usize {
    match key {
        Ok(key) => {
            encoded.clear();
            key.encode(encoded);
            groups.subtask(groups.of_hash(hash_bytes(encoded)), parallelism) as usize
        }
        // The operator that needs the key computes it again there, and its policy decides about the row.
        Err(_) => 0,
    }
}

/// Sorts rows of a hash edge by the subtask that owns them, of so many: rows that were on their way when a checkpoint was taken go on at
/// another parallelism. Rows of one subtask keep their order.
pub(crate) type Router = Box<dyn Fn(Batch, u32) -> JobResult<Vec<(usize, Batch)>> + Send>;

/// For rows with this key.
pub(super) fn router<T, K, F>(groups: KeyGroups, key: F) -> Router
where
    T: Send + 'static,
    K: State + 'static,
    F: Fn(&T) -> Result<K, EvalError> + Send + 'static,
{
    Box::new(move |batch, parallelism| {
        let mut sorted: Vec<Vec<T>> = (0..parallelism).map(|_| Vec::new()).collect();
        let mut encoded = Vec::new();
        for row in rows::<T>(batch)? {
            sorted[target_of(key(&row), groups, parallelism, &mut encoded)].push(row);
        }
        let sorted = sorted.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty());
        Ok(sorted.map(|(subtask, rows)| (subtask, Box::new(rows) as Batch)).collect())
    })
}

impl<T, K, F> Stage<T> for HashOutput<T, K, F>
where
    T: Send + 'static,
    K: State,
    F: Fn(&T) -> Result<K, EvalError> + Send,
{
    #[inline]
    fn push(&mut self, row: T) -> JobResult<()> {
        let target = match self.parallelism {
            1 => 0,
            parallelism => target_of((self.key)(&row), self.groups, parallelism, &mut self.encoded),
        };
        self.buffers.push(target, row);
        Ok(())
    }

    stage_of_buffers!();
}
