//! What is wrong with some pipelines, and where they say it.

use super::*;
use crate::job::{CheckpointConfig, Folder, Restart};

/// What a pipeline is told that cannot run.
fn mistaken(build: impl FnOnce(&Pipeline)) -> String {
    let pipeline = Pipeline::new("refused");
    build(&pipeline);
    pipeline.start(RunOptions::new()).unwrap_err().to_string()
}

#[test]
fn mistakes_name_their_place() {
    let text = mistaken(|pipeline| {
        let (_, orders) = pipeline.channel::<Order>("orders", 4);
        let _forgotten = orders.stream("large").filter(|order| order.amount > 100);
    });
    assert!(
        text.contains("builder/tests/mistakes.rs:") && text.contains("rows of `large` go nowhere: end it with a sink"),
        "{text}"
    );
    let text = mistaken(|pipeline| {
        let (_, orders) = pipeline.channel::<Order>("orders", 4);
        let (_, again) = pipeline.channel::<Order>("orders", 4);
        let _ = orders.id("same").filter(|_| true).id("same").union(again).into_channel(1);
    });
    assert!(text.contains("there are two streams `orders`") && text.contains("two operators have the id `same`"), "{text}");
    let text = mistaken(|pipeline| {
        let (_, orders) = pipeline.channel::<Order>("orders", 4);
        let _ = orders.rebalance().parallelism(1000).map(|order| order.amount).into_channel(1);
    });
    assert!(text.contains("`orders: select` cannot run 1000 times") && text.contains("which is 128"), "{text}");
    let pipeline = Pipeline::new("channels");
    let (_, orders) = pipeline.channel::<Order>("orders", 4);
    let _receiver = orders.into_channel(1);
    assert!(pipeline.job().unwrap_err().to_string().contains("is started with `start` or `run`"));
    assert!(mistaken(|_| {}).contains("nothing in this job reaches a sink"));
}

/// Where the pieces of a text say what is wrong, each with the line of the call.
#[track_caller]
fn assert_says(text: &str, pieces: &[&str]) {
    for piece in pieces {
        let line = text.lines().find(|line| line.contains(piece));
        let line = line.unwrap_or_else(|| panic!("nothing of `{piece}` in {text}"));
        assert!(line.contains("tests/mistakes.rs:"), "{line}");
    }
}

#[test]
fn no_time_is_not_taken_for_some() {
    let text = mistaken(|pipeline| {
        let (_, orders) = pipeline.channel::<Order>("orders", 4);
        let orders = orders.watermark(|order| order.at, Duration::ZERO).idle_after(Duration::ZERO).shared();
        let timed = || orders.clone().key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        let _ = timed().tumbling(Duration::ZERO).aggregate(count(), |_, _, count| count).into_channel(1);
        let _ = timed().session(Duration::from_nanos(999)).aggregate(count(), |_, _, count| count).into_channel(1);
        let _ = timed().sliding(SECOND, Duration::ZERO).aggregate(count(), |_, _, count| count).into_channel(1);
        let _ = timed().sliding(SECOND, 2 * SECOND).aggregate(count(), |_, _, count| count).into_channel(1);
        let _ = timed().cumulative(5 * SECOND, 2 * SECOND).aggregate(count(), |_, _, count| count).into_channel(1);
        let clock = orders.clone().key_by(|_| ()).by_clock();
        let _ = clock.tumbling(Duration::from_nanos(1)).aggregate(count(), |(), _, count| count).into_channel(1);
    });
    let pieces = [
        "the silence after which a split is idle is 0ns: it must be 1µs or more",
        "the size of a window is 0ns: it must be 1µs or more",
        "the gap of a session is 999ns: it must be 1µs or more",
        "the step of a window is 0ns",
        "the step of 2s does not fit windows of 1s: it is more than the size: rows would fall between windows",
        "the step of 2s does not fit windows of 5s: it does not divide the size",
        "the size of a window is 1ns",
    ];
    assert_says(&text, &pieces);
    let of_lengths = text.lines().filter(|line| line.contains("must be 1µs or more") || line.contains("does not fit"));
    assert_eq!(of_lengths.count(), pieces.len(), "{text}");
    // No lateness, no delay and no distance are what they say.
    let pipeline = Pipeline::new("none");
    let (sender, orders) = pipeline.channel::<Order>("orders", 4);
    let orders = orders.watermark(|order| order.at, Duration::ZERO).shared();
    let keyed = || orders.clone().key_by(|order| order.customer.clone()).timed_by(|order| order.at);
    let counts = keyed().tumbling(SECOND).allow_late(Duration::ZERO).aggregate(count(), |_, _, count| count).into_channel(9);
    let pairs = keyed().join(keyed()).within(Duration::ZERO, Duration::ZERO);
    let pairs = pairs.inner(|left, right| left.amount + right.amount).stream("pairs").into_channel(9);
    let job = pipeline.start(RunOptions::new()).unwrap();
    feed(sender, vec![order("ann", 1, 1), order("ann", 2, 3)]);
    assert_eq!((counts.collect::<Vec<_>>(), sorted(job, pairs)), (vec![1, 1], vec![2, 4]));
}

#[test]
fn settings_that_make_no_sense_name_their_place() {
    let refused = |set: fn(Pipeline) -> Pipeline| {
        let pipeline = set(Pipeline::new("settings"));
        let (_, orders) = pipeline.channel::<Order>("orders", 4);
        let _receiver = orders.into_channel(1);
        pipeline.start(RunOptions::new()).unwrap_err().to_string()
    };
    assert_says(&refused(|pipeline| pipeline.parallelism(0)), &["the parallelism is 0: it must be 1 or more"]);
    assert_says(&refused(|pipeline| pipeline.max_parallelism(0)), &["the number of key groups is 0"]);
    assert_says(&refused(|pipeline| pipeline.checkpoints("unused", Duration::ZERO)), &["the time between checkpoints is 0ns"]);
    let text = refused(|pipeline| {
        let config = CheckpointConfig::at(-5, Folder::At("unused"));
        pipeline.checkpoint_config(CheckpointConfig { keep: 0, pause_micros: -1, timeout_micros: 0, ..config })
    });
    let pieces = [
        "the time between checkpoints is",
        "the timeout of checkpoints is 0ns",
        "the pause between checkpoints is -1 microseconds: it cannot be negative",
        "the number of checkpoints that are kept is 0",
    ];
    assert_says(&text, &pieces);
    let delay = |pipeline: Pipeline| pipeline.restart(Restart::Fixed { attempts: 1, delay_micros: -1 });
    assert_says(&refused(delay), &["the delay of a restart is -1 microseconds"]);
    let text = mistaken(|pipeline| {
        let (_, orders) = pipeline.channel::<Order>("orders", 4);
        let _ = orders.readers(0).rebalance().parallelism(0).map(|order| order.amount).into_channel(1);
    });
    assert_says(&text, &["the number of readers is 0", "the parallelism is 0"]);
}

#[test]
fn options_that_a_connector_does_not_have_are_refused() {
    let text = mistaken(|pipeline| {
        let options = Options::new().with("path", "unused").with("wach", 1_i64);
        let numbers = pipeline.files_with::<Number, JsonFormat>("numbers", options);
        numbers.into_files_with::<JsonFormat>(Options::new().with("path", "unused").with("speed", 3_i64));
        let made = pipeline.generator::<Number>("made", Options::new().with("row", 4_i64));
        made.into_json_files("unused");
    });
    let pieces = [
        "`file` has no option `wach`: did you mean `watch`?",
        "`file` has no option `speed`: it has path, ",
        "`generator` has no option `row`: did you mean `rows`?",
    ];
    assert_says(&text, &pieces);
}

#[test]
fn times_of_keys_and_numbers_of_rows() {
    let text = mistaken(|pipeline| {
        let (_, orders) = pipeline.channel::<Order>("orders", 4);
        let orders = orders.watermark(|order| order.at, SECOND).shared();
        let keyed = || orders.clone().key_by(|order| order.customer.clone());
        let timed = || keyed().timed_by(|order| order.at);
        let _ = timed().ttl(SECOND).tumbling(SECOND).aggregate(count(), |_, _, count| count).into_channel(1);
        let _ = keyed().ttl(SECOND).last_at_end().into_channel(1);
        let _ = keyed().ttl(Duration::ZERO).first().into_channel(1);
        let _ = keyed().top(0, |order| order.amount).rows().into_channel(1);
        let late = timed().tumbling(SECOND).allow_late(SECOND).top(1, |order| order.amount);
        let _ = late.rows().into_channel(1);
        let _ = timed().over_rows(0).aggregate(count()).into_channel(1);
        let _ = timed().over_last(Duration::ZERO).aggregate(count()).into_channel(1);
        let _ = timed().over_all().aggregate(lag(|order: &Order| order.amount)).into_channel(1);
        let options = Options::new().with("pathh", "unused");
        let numbers = pipeline.lookup_files_with::<Number, JsonFormat>("numbers", options).key_by(|number| number.number);
        let _ = orders.clone().lookup(numbers, |order| order.amount).semi().into_channel(1);
    });
    let pieces = [
        "`.ttl(..)` before `aggregate`: nothing in it is forgotten by this time",
        "`.ttl(..)` before `dedup`: nothing in it is forgotten by this time",
        "the time after which keys are forgotten is 0ns: it must be 1µs or more",
        "the number of rows of `top` is 0: it must be 1 or more",
        "`.allow_late(..)` before `top`: its windows come once",
        "the number of rows of a frame is 0",
        "the length of a frame is 0ns",
        "`lag` looks at rows one by one: put `.one_by_one()` before it",
        "`file` has no option `pathh`: did you mean `path`?",
    ];
    assert_says(&text, &pieces);
    let pipeline = Pipeline::new("late");
    let (_, orders) = pipeline.channel::<Order>("orders", 4);
    let pipeline = pipeline.ttl(SECOND);
    let _receiver = orders.into_channel(1);
    let text = pipeline.start(RunOptions::new()).unwrap_err().to_string();
    assert_says(&text, &["the `ttl` of the job comes before its first stream"]);
}

#[test]
fn what_waits_for_a_time_that_nobody_says() {
    let text = mistaken(|pipeline| {
        let (_, orders) = pipeline.channel::<Order>("orders", 4);
        let (_, returns) = pipeline.channel::<Order>("returns", 4);
        let orders = orders.watermark(|order| order.at, SECOND).shared();
        let returns = returns.shared();
        let timed = |rows: &Stream<Order>| rows.clone().key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        let windows = timed(&returns).tumbling(SECOND).aggregate(count(), |_, _, count| count);
        let _ = windows.stream("counts").into_channel(1);
        let pairs = timed(&orders).join(timed(&returns)).as_of().inner(|left, right| left.amount + right.amount);
        let _ = pairs.stream("pairs").into_channel(1);
        // These have what they need.
        let _ = timed(&orders).over_all().aggregate(count()).stream("all").into_channel(1);
        let by_clock = returns.clone().key_by(|_| ()).by_clock().session(SECOND).aggregate(count(), |(), _, count| count);
        let _ = by_clock.stream("clock").into_channel(1);
    });
    let pieces = [
        "`returns: aggregate` waits for event time, and rows of `returns` have none: put `.watermark(",
        "`orders: join` waits for event time, and rows of `returns` have none",
    ];
    assert_says(&text, &pieces);
    assert_eq!(text.matches("waits for event time").count(), 2, "{text}");
}
