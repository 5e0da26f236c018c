//! What a gate lets through, and when.

use super::*;
use tokio::sync::mpsc::{Sender, channel};

fn gate(channels: usize) -> (Vec<Sender<Element>>, Gate) {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..channels).map(|_| channel(16)).unzip();
    (senders, Gate::new(receivers.into_iter().map(|receiver| (0, receiver)).collect()))
}

fn row(number: i32) -> Element {
    Element::Batch(Box::new(vec![number]))
}

/// What the gate gives without further input, as text.
fn drain(gate: &mut Gate) -> Vec<String> {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let mut events = Vec::new();
    while let Poll::Ready(event) = gate.poll_next(&mut cx) {
        events.push(match event {
            GateEvent::Batch { batch, .. } => format!("{:?}", batch.downcast::<Vec<i32>>().unwrap()),
            other => format!("{other:?}"),
        });
    }
    events
}

#[tokio::test]
async fn rows_behind_a_barrier_wait_for_the_others() {
    let (senders, mut gate) = gate(2);
    for element in [row(1), Element::Barrier(1), row(2)] {
        senders[0].try_send(element).unwrap();
    }
    assert_eq!(drain(&mut gate), ["[1]"]);
    for element in [row(3), Element::Barrier(1), row(4)] {
        senders[1].try_send(element).unwrap();
    }
    let events = drain(&mut gate);
    assert_eq!(events[..2], ["[3]", "Barrier(1)"]);
    assert_eq!(events.len(), 4, "both rows behind the barrier follow: {events:?}");
}

#[tokio::test]
async fn a_channel_that_has_ended_counts_as_aligned() {
    let (senders, mut gate) = gate(2);
    senders[0].try_send(Element::Barrier(1)).unwrap();
    assert_eq!(drain(&mut gate), [""; 0]);
    senders[1].try_send(row(1)).unwrap();
    senders[1].try_send(Element::End).unwrap();
    assert_eq!(drain(&mut gate), ["[1]", "Barrier(1)"]);
    senders[0].try_send(Element::Barrier(2)).unwrap();
    assert_eq!(drain(&mut gate), ["Barrier(2)"]);
    senders[0].try_send(Element::End).unwrap();
    assert_eq!(drain(&mut gate), ["Watermark(9223372036854775807)", "End"]);
}

#[tokio::test]
async fn a_newer_barrier_gives_the_older_checkpoint_up() {
    let (senders, mut gate) = gate(2);
    senders[0].try_send(Element::Barrier(1)).unwrap();
    senders[0].try_send(row(1)).unwrap();
    senders[1].try_send(Element::Barrier(2)).unwrap();
    senders[1].try_send(row(2)).unwrap();
    assert_eq!(drain(&mut gate), ["[1]"], "channel 0 is free again, channel 1 is blocked");
    senders[0].try_send(Element::Barrier(2)).unwrap();
    assert_eq!(drain(&mut gate), ["Barrier(2)", "[2]"]);
    senders[0].try_send(Element::Barrier(1)).unwrap();
    senders[0].try_send(row(3)).unwrap();
    assert_eq!(drain(&mut gate), ["[3]"], "a stale barrier is ignored");
}

#[tokio::test]
async fn an_aborted_checkpoint_blocks_nothing() {
    let (senders, mut gate) = gate(2);
    for element in [Element::Barrier(1), row(1)] {
        senders[0].try_send(element).unwrap();
    }
    assert_eq!(drain(&mut gate), [""; 0], "blocked");
    gate.abort(1);
    assert_eq!(drain(&mut gate), ["[1]"]);
    for element in [Element::Barrier(1), row(2)] {
        senders[1].try_send(element).unwrap();
    }
    assert_eq!(drain(&mut gate), ["[2]"], "a barrier that comes too late blocks nothing");
    senders.iter().for_each(|sender| sender.try_send(Element::Barrier(2)).unwrap());
    assert_eq!(drain(&mut gate), ["Barrier(2)"]);
}

#[tokio::test]
async fn at_least_once_rows_flow_past_a_barrier_that_waits_for_others() {
    let (senders, gate) = gate(2);
    let mut gate = gate.in_mode(CheckpointMode::AtLeastOnce);
    for element in [row(1), Element::Barrier(1), row(2)] {
        senders[0].try_send(element).unwrap();
    }
    assert_eq!(drain(&mut gate), ["[1]", "[2]"], "row 2 does not wait");
    for element in [row(3), Element::Barrier(1), row(4)] {
        senders[1].try_send(element).unwrap();
    }
    assert_eq!(drain(&mut gate), ["[3]", "Barrier(1)", "[4]"]);
    // One that is given up, and does not come through everywhere, holds nothing up.
    senders[0].try_send(Element::Barrier(2)).unwrap();
    senders.iter().for_each(|sender| sender.try_send(Element::Barrier(3)).unwrap());
    gate.abort(2);
    assert_eq!(drain(&mut gate), ["Barrier(3)"]);
    senders[1].try_send(Element::Barrier(4)).unwrap();
    senders[0].try_send(Element::End).unwrap();
    assert_eq!(drain(&mut gate), ["Barrier(4)"], "a channel that has ended counts");
}

/// What was on its way when the barriers of a checkpoint overtook it, as text.
fn in_flight(gate: &Gate, checkpoint: u64) -> Vec<String> {
    let codec = BatchCodec::of::<i32>();
    let rows = |bytes: &[u8]| format!("{:?}", codec.decode(bytes).unwrap().downcast::<Vec<i32>>().unwrap());
    gate.in_flight(checkpoint).unwrap().iter().map(|(_, _, bytes)| rows(bytes)).collect()
}

#[tokio::test]
async fn barriers_that_overtake_leave_what_they_have_overtaken_in_the_checkpoint() {
    let (senders, gate) = gate(3);
    let mut gate = gate.with_codecs(|_| Some(BatchCodec::of::<i32>()));
    let mut cx = Context::from_waker(std::task::Waker::noop());
    gate.restore_in_flight(vec![(0, Box::new(vec![0]))]);
    // One channel has its barrier, one has rows before it, and one comes to its end.
    for element in [Element::Barrier(1), row(9)] {
        senders[0].try_send(element).unwrap();
    }
    for element in [row(1), row(2)] {
        senders[1].try_send(element).unwrap();
    }
    for element in [row(3), Element::End] {
        senders[2].try_send(element).unwrap();
    }
    gate.overtake(1);
    assert_eq!(gate.poll_overtaken(&mut cx), Poll::Pending, "a barrier is missing");
    for element in [Element::Watermark(5), Element::Barrier(1), row(8)] {
        senders[1].try_send(element).unwrap();
    }
    assert_eq!(gate.poll_overtaken(&mut cx), Poll::Ready(1));
    assert_eq!(in_flight(&gate, 1), ["[0]", "[1]", "[2]", "[3]"]);
    assert_eq!(in_flight(&gate, 2), [""; 0]);
    let mut events = drain(&mut gate);
    events.sort();
    assert_eq!(events, ["[0]", "[1]", "[2]", "[3]", "[8]", "[9]"], "each once, and no barrier");
    // The next one as always.
    senders[..2].iter().for_each(|sender| sender.try_send(Element::Barrier(2)).unwrap());
    assert_eq!(drain(&mut gate), ["Barrier(2)"]);
    assert_eq!(in_flight(&gate, 2), [""; 0]);
}

#[tokio::test]
async fn a_checkpoint_that_is_given_up_overtakes_nothing() {
    let (senders, gate) = gate(2);
    let mut gate = gate.with_codecs(|_| Some(BatchCodec::of::<i32>()));
    gate.overtake(1);
    for element in [row(1), Element::Barrier(1), row(2)] {
        senders[0].try_send(element).unwrap();
    }
    assert_eq!(drain(&mut gate), ["[1]"], "the barrier blocks, as the other has not come");
    gate.abort(1);
    assert!(!gate.is_overtaking());
    assert_eq!(drain(&mut gate), ["[2]"]);
    for sender in &senders {
        sender.try_send(Element::Barrier(2)).unwrap();
    }
    assert_eq!(drain(&mut gate), ["Barrier(2)"]);
}

/// Rows of the other inputs wait with those that cannot be stored: all of them come in their order.
#[tokio::test]
async fn nothing_is_overtaken_where_one_input_cannot_be() {
    let (sender, receiver) = channel(8);
    let (other, others) = channel(8);
    let gate = Gate::new(vec![(0, receiver), (1, others)]);
    let mut gate = gate.with_codecs(|input| (input == 0).then(BatchCodec::of::<i32>));
    for sender in [&sender, &other] {
        sender.try_send(row(1)).unwrap();
        sender.try_send(Element::Barrier(1)).unwrap();
    }
    gate.overtake(1);
    assert!(!gate.is_overtaking());
    assert_eq!(drain(&mut gate), ["[1]", "[1]", "Barrier(1)"]);
    assert_eq!(in_flight(&gate, 1), [""; 0]);
}

#[tokio::test]
async fn a_producer_that_is_gone_without_an_end_is_reported() {
    let (senders, mut gate) = gate(1);
    drop(senders);
    assert_eq!(drain(&mut gate), ["Disconnected"]);
}
