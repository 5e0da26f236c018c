//! The queue between a program and its job: bounded, woken by wakers on both sides.
//!
//! Rows are numbered from 0 in the order in which they are taken. A source that takes part in checkpoints keeps what it has taken
//! until a checkpoint that holds it is complete, so that it can be taken again.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// See the module.
#[derive(Debug)]
pub(super) struct Queue<T> {
    capacity: usize,
    run: u64,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    /// Taken, and kept to be taken again.
    kept: VecDeque<T>,
    /// The number of the first row that is kept, or else of the next to be taken.
    first: u64,
    /// Ends that may still put rows in.
    senders: usize,
    /// Nobody takes rows any more.
    closed: bool,
    takers: Vec<Waker>,
    putters: Vec<Waker>,
}

/// Nobody takes rows any more.
pub(super) struct Gone;

fn remember(wakers: &mut Vec<Waker>, context: &Context<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
        wakers.push(context.waker().clone());
    }
}

/// Outside of the lock: whoever is woken may run at once.
fn wake(wakers: Vec<Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}

impl<T> Queue<T> {
    pub(super) fn new(capacity: usize) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            kept: VecDeque::new(),
            first: 0,
            senders: 0,
            closed: false,
            takers: Vec::new(),
            putters: Vec::new(),
        };
        // Never 0, which stands for none.
        let run = u64::from_str_radix(&crate::seam::run_id(), 16).unwrap_or_default() | 1;
        Queue { capacity: capacity.max(1), run, state: Mutex::new(state) }
    }

    /// Tells this queue from those of other runs and programs.
    pub(super) fn run(&self) -> u64 {
        self.run
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more end that puts rows in.
    pub(super) fn add_sender(&self) {
        self.state().senders += 1;
    }

    /// One less. Without any, the queue ends when it is empty.
    pub(super) fn remove_sender(&self) {
        let mut state = self.state();
        state.senders = state.senders.saturating_sub(1);
        if state.senders == 0 {
            let takers = std::mem::take(&mut state.takers);
            drop(state);
            wake(takers);
        }
    }

    /// Nobody will take rows any more: those that wait are dropped.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let dropped = (std::mem::take(&mut state.waiting), std::mem::take(&mut state.kept));
        let wakers = std::mem::take(&mut state.putters);
        drop(state);
        drop(dropped);
        wake(wakers);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Rows that wait.
    pub(super) fn len(&self) -> usize {
        self.state().waiting.len()
    }

    /// Puts in a row, once there is room for it. When it is closed the row stays where it is.
    pub(super) fn poll_put_one(&self, row: &mut Option<T>, context: Option<&mut Context<'_>>) -> Poll<Result<(), Gone>> {
        self.put(1, context, |waiting, room| {
            if room > 0 {
                waiting.extend(row.take());
            }
        })
    }

    /// Puts in as many rows as there is room for; Ready: all. When it is closed the rows stay where they are.
    pub(super) fn poll_put(&self, rows: &mut VecDeque<T>, context: Option<&mut Context<'_>>) -> Poll<Result<(), Gone>> {
        self.put(rows.len(), context, |waiting, room| waiting.extend(rows.drain(..room)))
    }

    /// `add` puts in so many rows as it is told: there is room for them among those that wait.
    fn put(
        &self,
        count: usize,
        context: Option<&mut Context<'_>>,
        add: impl FnOnce(&mut VecDeque<T>, usize),
    ) -> Poll<Result<(), Gone>> {
        let mut state = self.state();
        if state.closed {
            return Poll::Ready(Err(Gone));
        }
        let room = self.capacity.saturating_sub(state.waiting.len()).min(count);
        add(&mut state.waiting, room);
        if room < count
            && let Some(context) = context
        {
            remember(&mut state.putters, context);
        }
        let takers = if room > 0 { std::mem::take(&mut state.takers) } else { Vec::new() };
        drop(state);
        wake(takers);
        if room == count { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    /// Takes the next rows, so many at most; none: the queue has ended.
    pub(super) fn poll_take(&self, most: usize, into: &mut Vec<T>, context: Option<&mut Context<'_>>) -> Poll<()> {
        self.take(most, into, context, |_, _| ())
    }

    /// The same; they are kept until [`forget`](Self::forget).
    pub(super) fn poll_take_and_keep(&self, most: usize, into: &mut Vec<T>, context: &mut Context<'_>) -> Poll<()>
    where
        T: Clone,
    {
        self.take(most, into, Some(context), |state, taken| state.kept.extend(taken.iter().cloned()))
    }

    fn take(
        &self,
        most: usize,
        into: &mut Vec<T>,
        context: Option<&mut Context<'_>>,
        keep: impl FnOnce(&mut State<T>, &[T]),
    ) -> Poll<()> {
        let mut state = self.state();
        if state.waiting.is_empty() {
            if state.senders == 0 {
                return Poll::Ready(());
            }
            if let Some(context) = context {
                remember(&mut state.takers, context);
            }
            return Poll::Pending;
        }
        let (count, before) = (most.min(state.waiting.len()), into.len());
        into.extend(state.waiting.drain(..count));
        keep(&mut state, &into[before..]);
        if state.kept.is_empty() {
            state.first += count as u64;
        }
        let putters = std::mem::take(&mut state.putters);
        drop(state);
        wake(putters);
        Poll::Ready(())
    }

    /// The number of the next row.
    pub(super) fn next(&self) -> u64 {
        let state = self.state();
        state.first + state.kept.len() as u64
    }

    /// Forgets the rows that are kept up to this number.
    pub(super) fn forget(&self, up_to: u64) {
        let mut state = self.state();
        let count = usize::try_from(up_to.saturating_sub(state.first)).unwrap_or(usize::MAX).min(state.kept.len());
        let dropped: Vec<T> = state.kept.drain(..count).collect();
        state.first += count as u64;
        drop(state);
        drop(dropped);
    }

    /// Goes back to this row: it and those behind it are taken again. False: it is not kept any more.
    pub(super) fn go_back(&self, to: u64) -> bool {
        let mut state = self.state();
        let next = state.first + state.kept.len() as u64;
        if to < state.first || to > next {
            return false;
        }
        for _ in to..next {
            let Some(row) = state.kept.pop_back() else { break };
            state.waiting.push_front(row);
        }
        true
    }

    /// Goes back as far as rows are kept.
    pub(super) fn go_back_to_first(&self) {
        let first = self.state().first;
        self.go_back(first);
    }
}
