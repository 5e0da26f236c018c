//! Where a task's output waits until the channels have room.
//!
//! Exchange ends of a chain put batches in; the task sends them on before it takes new input. That is the backpressure,
//! and nothing inside a chain ever blocks. All channels that are full are waited for together: one that is blocked by an
//! alignment downstream must not keep a barrier from the others.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::select_all;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use super::element::Element;

/// The queues of one task's output channels, shared between its exchange ends and its driver.
#[derive(Clone, Debug, Default)]
pub struct OutboxHandle {
    queues: Arc<Mutex<Vec<VecDeque<Element>>>>,
}

impl OutboxHandle {
    /// Queues for so many channels.
    pub fn new(channels: usize) -> Self {
        OutboxHandle { queues: Arc::new(Mutex::new((0..channels).map(|_| VecDeque::new()).collect())) }
    }

    /// Puts an element into one channel.
    pub fn put(&self, channel: usize, element: Element) {
        self.lock()[channel].push_back(element);
    }

    /// Puts an element into each channel.
    pub fn put_all(&self, element: impl Fn() -> Element) {
        for queue in self.lock().iter_mut() {
            queue.push_back(element());
        }
    }

    /// Puts an element into each of some channels.
    pub fn put_into(&self, channels: std::ops::Range<usize>, element: impl Fn() -> Element) {
        let mut queues = self.lock();
        for channel in channels {
            queues[channel].push_back(element());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<VecDeque<Element>>> {
        self.queues.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The driver's side of a task's output.
#[derive(Debug)]
pub struct Outbox {
    handle: OutboxHandle,
    senders: Vec<Sender<Element>>,
}

/// The consumer of a channel is gone: the attempt is being torn down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnected;

impl Outbox {
    /// Sends what is put into `handle`.
    pub fn new(handle: OutboxHandle, senders: Vec<Sender<Element>>) -> Self {
        Outbox { handle, senders }
    }

    /// Sends what there is room for; gives the channels that still have something waiting.
    fn try_send(&self) -> Result<Vec<usize>, Disconnected> {
        let mut full = Vec::new();
        for (channel, queue) in self.handle.lock().iter_mut().enumerate() {
            while let Some(element) = queue.pop_front() {
                match self.senders[channel].try_send(element) {
                    Ok(()) => {}
                    Err(TrySendError::Full(element)) => {
                        queue.push_front(element);
                        full.push(channel);
                        break;
                    }
                    Err(TrySendError::Closed(_)) => return Err(Disconnected),
                }
            }
        }
        Ok(full)
    }

    /// Waits until everything is sent. May be dropped and called again.
    pub async fn send_all(&self) -> Result<(), Disconnected> {
        loop {
            let full = self.try_send()?;
            if full.is_empty() {
                return Ok(());
            }
            let waits = full.iter().map(|&channel| Box::pin(self.senders[channel].reserve()));
            let (permit, _, _) = select_all(waits).await;
            drop(permit.map_err(|_| Disconnected)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_channel_does_not_keep_elements_from_the_others() {
        let (blocked, mut blocked_rx) = tokio::sync::mpsc::channel(1);
        let (open, mut open_rx) = tokio::sync::mpsc::channel(1);
        let handle = OutboxHandle::new(2);
        let outbox = Outbox::new(handle.clone(), vec![blocked, open]);
        for time in 0..3 {
            handle.put_all(|| Element::Watermark(time));
        }
        let sending = tokio::spawn(async move { outbox.send_all().await });
        for expected in 0..3 {
            assert!(matches!(open_rx.recv().await, Some(Element::Watermark(time)) if time == expected));
        }
        assert!(!sending.is_finished(), "the blocked channel still has elements waiting");
        for expected in 0..3 {
            assert!(matches!(blocked_rx.recv().await, Some(Element::Watermark(time)) if time == expected));
        }
        assert_eq!(sending.await.unwrap(), Ok(()));
    }

    #[tokio::test]
    async fn a_consumer_that_is_gone_is_reported() {
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        drop(receiver);
        let handle = OutboxHandle::new(1);
        handle.put_all(|| Element::End);
        assert_eq!(Outbox::new(handle, vec![sender]).send_all().await, Err(Disconnected));
    }
}
