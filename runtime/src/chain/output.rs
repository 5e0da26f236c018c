//! Exchange ends: the last stage of a chain whose rows go to another.

use std::marker::PhantomData;
use std::ops::Range;

use crate::error::JobResult;
use crate::exchange::{Element, OutboxHandle};
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

impl<T, K, F> HashOutput<T, K, F>
where
    K: State,
    F: Fn(&T) -> Result<K, EvalError>,
{
    #[inline]
    fn target_of(&mut self, row: &T) -> usize {
        match (self.key)(row) {
            Ok(key) => {
                self.encoded.clear();
                key.encode(&mut self.encoded);
                let group = self.groups.of_hash(hash_bytes(&self.encoded));
                self.groups.subtask(group, self.parallelism) as usize
            }
            // The operator that needs the key computes it again there, and its policy decides about the row.
            Err(_) => 0,
        }
    }
}

impl<T, K, F> Stage<T> for HashOutput<T, K, F>
where
    T: Send + 'static,
    K: State,
    F: Fn(&T) -> Result<K, EvalError> + Send,
{
    #[inline]
    fn push(&mut self, row: T) -> JobResult<()> {
        let target = if self.parallelism == 1 { 0 } else { self.target_of(&row) };
        self.buffers.push(target, row);
        Ok(())
    }

    stage_of_buffers!();
}
