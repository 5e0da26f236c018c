//! Channels from both ends, and what happens to rows when an attempt at the job fails.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::source::ChannelReader;
use super::{ChannelSink, ChannelSource, ChannelSplit, Channels, Closed, Sender, TryReceive, TrySend};
use crate::error::JobResult;
use crate::operator::ErrorRow;
use crate::params::ParamValues;
use crate::run_options::RunOptions;
use crate::sink::{Sink, SinkContext, SinkWriter};
use crate::source::{ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader, Split, Throttle};

/// Takes rows.
#[derive(Default)]
struct Rows(Vec<i64>);

impl SourceOutput<i64> for Rows {
    fn split_added(&mut self, _split: &str) {}
    fn select_split(&mut self, _split: &str) {}
    fn bytes_read(&mut self, _bytes: u64) {}
    fn split_finished(&mut self, _split: &str) {}
    fn send_event(&mut self, _event: Vec<u8>) {}

    fn reject_record(&mut self, _: &str, message: impl FnOnce() -> String, _: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        panic!("{}", message());
    }

    fn emit_record(&mut self, row: i64, _record: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        self.0.push(row);
        Ok(())
    }
}

/// One run: what its job was started with, and the program's end of its source.
struct Run {
    params: ParamValues,
    sender: Sender<i64>,
}

impl Run {
    fn new(capacity: usize) -> Self {
        let mut channels = Channels::new();
        let sender = channels.source("numbers/source/0", capacity);
        Run { params: params(channels, true), sender }
    }

    fn send(&self, numbers: std::ops::Range<i64>) {
        numbers.for_each(|number| self.sender.try_send(number).unwrap());
    }

    /// A new attempt at the job, with the split of a checkpoint or without.
    fn attempt(&self, restored: Option<&ChannelSplit>) -> ChannelReader<i64> {
        let source = ChannelSource::<i64>::connect(&self.params, "numbers/source/0").unwrap();
        let context = SourceContext { name: "numbers".to_owned(), parallelism: 1 };
        let split = match restored {
            Some(split) => ChannelSplit::decode(&split.encode()).unwrap(),
            None => source.enumerator(&context, None).unwrap().take().unwrap(),
        };
        let throttle = Arc::new(Throttle::default());
        let mut reader =
            source.reader(&ReaderContext { name: "numbers".to_owned(), subtask: 0, parallelism: 1, throttle }).unwrap();
        assert_eq!(poll(&mut reader), (Vec::new(), Poll::Ready(ReaderStatus::NeedsSplit)));
        reader.add_splits(vec![split]).unwrap();
        reader
    }
}

fn params(channels: Channels, checkpoints: bool) -> ParamValues {
    let options = RunOptions::new().extension(Arc::new(channels));
    let mut params = options.params_of(&[]).unwrap();
    params.set_takes_checkpoints(checkpoints);
    params
}

fn poll(reader: &mut ChannelReader<i64>) -> (Vec<i64>, Poll<ReaderStatus>) {
    let mut rows = Rows::default();
    let status = reader.poll(&mut Context::from_waker(Waker::noop()), &mut rows);
    (rows.0, status.map(Result::unwrap))
}

fn checkpoint(reader: &mut ChannelReader<i64>, id: u64) -> ChannelSplit {
    let split = reader.snapshot().remove(0);
    reader.snapshot_taken(id);
    split
}

#[test]
fn rows_come_in_order_and_the_last_sender_ends_the_source() {
    let run = Run::new(10);
    let mut reader = run.attempt(None);
    assert_eq!(poll(&mut reader), (vec![], Poll::Pending));
    run.send(0..3);
    assert_eq!(poll(&mut reader), (vec![0, 1, 2], Poll::Ready(ReaderStatus::More)));
    let other = run.sender.clone();
    drop(run.sender);
    assert_eq!(poll(&mut reader), (vec![], Poll::Pending));
    other.try_send(3).unwrap();
    drop(other);
    assert_eq!(poll(&mut reader), (vec![3], Poll::Ready(ReaderStatus::More)));
    assert_eq!(poll(&mut reader), (vec![], Poll::Ready(ReaderStatus::End)));
    assert!(reader.snapshot().is_empty());
}

#[test]
fn a_full_channel_holds_the_sender_back() {
    let run = Run::new(2);
    let mut reader = run.attempt(None);
    run.send(0..2);
    assert_eq!(run.sender.try_send(2), Err(TrySend::Full(2)));
    let sender = run.sender.clone();
    let blocked = std::thread::spawn(move || (2..100).try_for_each(|number| sender.send_blocking(number)));
    let mut rows = Vec::new();
    while rows.len() < 100 {
        assert!(run.sender.waiting() <= 2);
        rows.extend(poll(&mut reader).0);
    }
    assert_eq!(rows, (0..100).collect::<Vec<_>>());
    assert_eq!(blocked.join().unwrap(), Ok(()));
}

/// The law of sources: what a checkpoint holds and what comes after a new start from it make up everything, once.
#[test]
fn a_new_attempt_takes_the_rows_since_its_checkpoint_again() {
    let run = Run::new(100);
    let mut first = run.attempt(None);
    run.send(0..5);
    let _ = poll(&mut first);
    // Before the first checkpoint: everything.
    let mut second = run.attempt(None);
    run.send(5..8);
    assert_eq!(poll(&mut second).0, (0..8).collect::<Vec<_>>());
    let at_8 = checkpoint(&mut second, 1);
    second.checkpoint_complete(1).unwrap();
    run.send(8..10);
    assert_eq!(poll(&mut second).0, [8, 9]);
    // One that is not complete: the one before counts.
    let at_10 = checkpoint(&mut second, 2);
    run.send(10..12);
    assert_eq!(poll(&mut second).0, [10, 11]);
    let mut third = run.attempt(Some(&at_8));
    run.send(12..13);
    assert_eq!(poll(&mut third).0, (8..13).collect::<Vec<_>>());
    let at_13 = checkpoint(&mut third, 3);
    third.checkpoint_complete(3).unwrap();
    assert!(poll(&mut run.attempt(Some(&at_13))).0.is_empty());
    // What was forgotten is missed with an error, not in silence.
    for older in [at_8, at_10] {
        let mut reader = run.attempt(Some(&at_13));
        let error = reader.add_splits(vec![older]).unwrap_err().to_string();
        assert!(error.contains("not kept any more"), "{error}");
    }
}

#[test]
fn another_run_begins_with_what_it_is_sent() {
    let run = Run::new(10);
    let mut reader = run.attempt(None);
    run.send(0..4);
    let _ = poll(&mut reader);
    let split = checkpoint(&mut reader, 1);
    let other = Run::new(10);
    other.send(50..52);
    let mut reader = other.attempt(Some(&split));
    assert_eq!(poll(&mut reader).0, [50, 51]);
    // It fails before its first checkpoint, and goes on from the one of the run before.
    other.send(52..53);
    assert_eq!(poll(&mut other.attempt(Some(&split))).0, [50, 51, 52]);
}

#[test]
fn without_checkpoints_nothing_is_kept() {
    let mut run = Run::new(10);
    run.params.set_takes_checkpoints(false);
    let mut reader = run.attempt(None);
    run.send(0..4);
    let _ = poll(&mut reader);
    run.send(4..5);
    assert_eq!(poll(&mut run.attempt(None)).0, [4]);
}

#[test]
fn a_sink_hands_out_rows_and_ends_with_the_job() {
    let mut channels = Channels::new();
    let mut receiver = channels.sink::<i64>("sink/numbers/channel", 2);
    let params = params(channels, false);
    let sink = ChannelSink::<i64>::connect(&params, "sink/numbers/channel").unwrap();
    let context = SinkContext {
        name: "numbers".to_owned(),
        uid: "sink/numbers/channel".to_owned(),
        subtask: 0,
        parallelism: 1,
        run: "run".to_owned(),
        first_checkpoint: 1,
        retained: 1,
        checkpoints: None,
        replace: false,
    };
    let mut writer = sink.writer(&context).unwrap();
    (0..5).try_for_each(|number| writer.write(number)).unwrap();
    writer.end_of_batch().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    assert!(writer.poll_ready(&mut context).is_pending() && writer.poll_flush(&mut context).is_pending());
    assert_eq!((receiver.recv_blocking(), receiver.recv_blocking()), (Some(0), Some(1)));
    assert_eq!(receiver.try_recv(), Err(TryReceive::Empty));
    assert!(writer.poll_ready(&mut context).is_pending(), "there is room for two of three");
    assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(2));
    assert!(writer.poll_ready(&mut context).is_ready());
    assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(3), Ok(4)));
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(TryReceive::Empty));
    drop((writer, sink, params));
    assert_eq!((receiver.try_recv(), receiver.recv_blocking()), (Err(TryReceive::Ended), None));
}

#[test]
fn when_the_job_is_over_senders_hear_it() {
    let run = Run::new(1);
    run.send(0..1);
    let sender = run.sender.clone();
    let waiting = std::thread::spawn(move || sender.send_blocking(1));
    drop(run.params);
    assert_eq!(waiting.join().unwrap(), Err(Closed(1)));
    assert_eq!(run.sender.try_send(2), Err(TrySend::Closed(2)));
    assert!(run.sender.is_closed());
}

#[test]
fn a_job_without_the_program_says_what_is_missing() {
    let error = ChannelSource::<i64>::connect(&ParamValues::default(), "orders/source/0").unwrap_err().to_string();
    assert!(error.contains("`orders/source/0`") && error.contains("start"), "{error}");
}

#[test]
fn the_default_of_the_manual_is_the_one_that_counts() {
    let (source, sink) = (super::SPEC.source.unwrap(), super::SPEC.sink.unwrap());
    for option in source.options.iter().chain(sink.options) {
        assert_eq!((option.name, option.default), ("capacity", super::CAPACITY.to_string().as_str()));
    }
}
