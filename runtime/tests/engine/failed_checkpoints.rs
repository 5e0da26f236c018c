//! Checkpoints that come to nothing: too slow, not to be stored, not to be encoded. The job goes on as far as it may, no row is lost
//! or doubled, and nothing of them is left.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::generator::GeneratorSource;
use millstream::formats::JsonFormat;
use millstream::operator::{KeyGroupPart, OperatorSnapshot, RestoredOperator};
use millstream::{BuildChain, BuildSource, ChainSpec, CheckpointConfig, Job, JobEnd, JobError, JobHandle, Restart, RunOptions};

use super::job::{Setup, job, kill_after, output, wait_for};

const COMPLETED: &str = "millstream_job_numberOfCompletedCheckpoints";
const FAILED: &str = "millstream_job_numberOfFailedCheckpoints";

/// The counting job with this in the block of its checkpoints. A failure ends it.
fn counts(block: CheckpointConfig) -> Job {
    Job { checkpoint: Some(block), restart: Restart::None, ..job() }
}

fn block() -> CheckpointConfig {
    CheckpointConfig::new(20_000, |_| Ok("unused".to_owned()))
}

fn options(setup: &Setup) -> RunOptions {
    RunOptions::new()
        .param("input", setup.path("bids-*.jsonl"))
        .param("output", setup.path("out"))
        .checkpoints(setup.path("checkpoints"))
}

fn counted(handle: &JobHandle, name: &str) -> f64 {
    handle.metrics().sum(name, &[]).unwrap_or(0.0)
}

fn finish(mut handle: JobHandle) -> (Result<JobEnd, String>, f64, f64) {
    let end = handle.wait_for(Duration::from_secs(120)).expect("it does not end");
    (end.map_err(|error| error.message().to_owned()), counted(&handle, COMPLETED), counted(&handle, FAILED))
}

/// Barriers wait behind rows for longer than a checkpoint may take. What sinks have staged for those that expired is committed with
/// later ones: also what is acknowledged when the checkpoint is long given up.
#[test]
fn what_expired_checkpoints_have_staged_is_committed_later() {
    for compact_every in ["0", "2"] {
        let setup = Setup::new(16_000, 2);
        let block = CheckpointConfig { timeout_micros: 150_000, tolerate: 1_000_000, ..block() };
        let options = options(&setup).param("slow", "100").param("compact_every", compact_every).parallelism(2);
        let handle = JobHandle::start(counts(block), options).unwrap();
        let (end, _, failed) = finish(handle);
        assert_eq!(end, Ok(JobEnd::Finished));
        assert!(failed >= 3.0, "{failed} checkpoints expired");
        setup.check();
    }
}

/// Killed among expired checkpoints, and gone on with.
#[test]
fn killed_among_expired_checkpoints() {
    let setup = Setup::new(16_000, 2);
    let block = CheckpointConfig { timeout_micros: 200_000, tolerate: 1_000_000, ..block() };
    let (mut killed, mut finished) = (0, false);
    for expired in [2.0, 2.0, 1.0] {
        let options = options(&setup).param("slow", "100").parallelism(2);
        let handle = JobHandle::start(counts(block), options).unwrap();
        wait_for("expired checkpoints", || counted(&handle, FAILED) >= expired || handle.state().is_over());
        finished = !kill_after(handle, Duration::from_millis(50));
        if finished {
            break;
        }
        killed += 1;
    }
    assert!(killed > 0, "it was never killed among expired checkpoints");
    if !finished {
        let (end, ..) = finish(JobHandle::start(counts(block), options(&setup)).unwrap());
        assert_eq!(end, Ok(JobEnd::Finished));
    }
    setup.check();
}

#[test]
fn one_too_many_ends_the_job_and_says_who_did_not_take_part() {
    let setup = Setup::new(16_000, 2);
    let block = CheckpointConfig { timeout_micros: 50_000, tolerate: 1, ..block() };
    let handle = JobHandle::start(counts(block), options(&setup).param("slow", "1000").parallelism(2)).unwrap();
    let (end, completed, failed) = finish(handle);
    let message = end.unwrap_err();
    assert!(message.contains("failed (failure 2 in a row, 1 are tolerated): it has not come through within 50ms"), "{message}");
    assert!(message.contains(" of 4 tasks have not taken part: "), "{message}");
    assert!(message.contains("counts (subtasks 0, 1)"), "{message}");
    assert_eq!((completed, failed), (0.0, 2.0));
}

/// A file where the folder of a checkpoint should be.
fn in_the_way(setup: &Setup, checkpoints: std::ops::RangeInclusive<u64>) {
    std::fs::create_dir_all(setup.path("checkpoints")).unwrap();
    for checkpoint in checkpoints {
        std::fs::write(Path::new(&setup.path("checkpoints")).join(format!("checkpoint-{checkpoint:06}")), "").unwrap();
    }
}

/// Three in a row that cannot be stored, then some that can, then three again: a success begins the count anew.
#[test]
fn what_cannot_be_stored_is_tolerated_as_often_as_it_says() {
    let setup = Setup::new(40_000, 2);
    in_the_way(&setup, 2..=4);
    in_the_way(&setup, 6..=8);
    let options = options(&setup).param("rate", "8000").parallelism(2);
    let block = CheckpointConfig { tolerate: 3, ..block() };
    let (end, completed, failed) = finish(JobHandle::start(counts(block), options).unwrap());
    assert_eq!(end, Ok(JobEnd::Finished));
    assert_eq!(failed, 6.0);
    assert!(completed >= 3.0, "{completed}");
    setup.check();
}

#[test]
fn what_cannot_be_stored_ends_the_job_where_nothing_is_tolerated() {
    let setup = Setup::new(40_000, 2);
    in_the_way(&setup, 2..=4);
    let options = options(&setup).param("rate", "8000").parallelism(2);
    let (end, completed, failed) = finish(JobHandle::start(counts(block()), options.clone()).unwrap());
    let message = end.unwrap_err();
    assert!(message.starts_with("checkpoint 2 failed (none is tolerated): cannot write `"), "{message}");
    assert_eq!((completed, failed), (1.0, 1.0));
    let before = output(&setup.out());
    assert!(before.len() < super::job::expected(0..setup.bids).len());
    for checkpoint in 2..=4 {
        std::fs::remove_file(Path::new(&setup.path("checkpoints")).join(format!("checkpoint-{checkpoint:06}"))).unwrap();
    }
    assert_eq!(finish(JobHandle::start(counts(block()), options).unwrap()).0, Ok(JobEnd::Finished));
    setup.check();
}

/// Who stops a job waits for its last checkpoint: if that fails once, it is tried again soon, however long until the next periodic one
/// and however long the pause between two.
#[test]
fn the_last_checkpoint_is_tried_again_soon() {
    let setup = Setup::new(40_000, 2);
    in_the_way(&setup, 1..=1);
    let hour = 3_600_000_000;
    let block = CheckpointConfig { pause_micros: hour, tolerate: 2, ..CheckpointConfig::new(hour, |_| Ok("unused".to_owned())) };
    let options = options(&setup).param("rate", "8000").parallelism(2);
    let handle = JobHandle::start(counts(block), options.clone()).unwrap();
    wait_for("rows", || counted(&handle, "millstream_source_numRecordsIn") > 0.0);
    let (sender, stopped) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(handle.stop_with_checkpoint()));
    let end = stopped.recv_timeout(Duration::from_secs(60)).expect("it sleeps until the next periodic checkpoint");
    assert!(matches!(end, Ok(JobEnd::Stopped(_))), "{end:?}");
    assert!(Path::new(&setup.path("checkpoints")).join("checkpoint-000002/manifest.json").exists());
    assert_eq!(finish(JobHandle::start(counts(block), options).unwrap()).0, Ok(JobEnd::Finished));
    setup.check();
}

/// From the end of one checkpoint to the beginning of the next there is a pause, however often they are to come.
#[test]
fn there_is_a_pause_between_checkpoints() {
    let setup = Setup::new(40_000, 2);
    let options = options(&setup).param("rate", "40000");
    let block = CheckpointConfig { pause_micros: 400_000, ..CheckpointConfig::new(1000, |_| Ok("unused".to_owned())) };
    let started = std::time::Instant::now();
    let (end, completed, _) = finish(JobHandle::start(counts(block), options).unwrap());
    assert_eq!(end, Ok(JobEnd::Finished));
    // One at the beginning, one at the end, and one for each pause.
    let most = started.elapsed().as_secs_f64() / 0.4 + 2.0;
    assert!((2.0..=most).contains(&completed), "{completed} checkpoints, at most {most}");
}

/// How often encoding a state is to panic, and whether it is being restored for as long as this says.
#[derive(Default)]
struct Panics(AtomicU64, AtomicBool);

#[derive(Clone, Debug, Record)]
struct Number {
    number: i64,
}

/// Passes rows on; its state cannot always be encoded.
struct Fragile(Arc<Panics>);

impl Operator<Number> for Fragile {
    type Out = Number;

    fn process(&mut self, row: Number, out: &mut impl Collector<Number>) -> Result<(), Failure> {
        Ok(out.emit(row)?)
    }

    fn snapshot(&mut self, state: &mut OperatorSnapshot) -> Result<(), JobError> {
        let panics = self.0.clone();
        let part = KeyGroupPart::new(0, move |_| {
            let left = panics.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
            assert!(left.is_err(), "too fragile");
            Ok(())
        });
        state.keyed("fragile", String::new(), vec![part]);
        Ok(())
    }

    fn restore(&mut self, _: &RestoredOperator) -> Result<(), JobError> {
        while self.0.1.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

const ROWS: i64 = 20_000;

fn numbers(_: &ParamValues) -> JobResult<GeneratorSource<Number>> {
    GeneratorSource::from_options(&Options::new().with("rows", ROWS).with("rate", 20_000))
}

fn fragile() -> Job {
    let block = CheckpointConfig { tolerate: 2, ..block() };
    Job {
        chains: vec![ChainSpec {
            name: "numbers",
            uids: &["numbers/source/0", "fragile", "sink/numbers/file"],
            parallelism: None,
            slot_group: "default",
            inputs: Vec::new(),
            build: BuildChain::new(|cx| {
                let options = Options::new().with("path", cx.params().get::<String>("output")?);
                let sink = <FileSink<Number, JsonFormat>>::from_options(&options)?;
                let sink = cx.sink("sink/numbers/file", "numbers into file", sink)?;
                let panics = cx.params().extension::<Panics>()?;
                let fragile = cx.operator("fragile", "fragile", Fragile(panics), sink)?;
                let watermark: Option<fn(&Number) -> Result<Option<Timestamp>, EvalError>> = None;
                let config = SourceConfig { watermark, on_error: ErrorPolicy::Fail };
                cx.source("numbers/source/0", "numbers", numbers(cx.params())?, config, fragile)
            }),
            source: Some(BuildSource::new(|params| Ok(erase_source(numbers(params)?)))),
        }],
        ..counts(block)
    }
}

/// A task that cannot make its part says why, and what its sink has staged goes with the next checkpoint.
#[test]
fn a_part_that_cannot_be_encoded_is_declined() {
    let setup = Setup::new(1, 1);
    let panics = Arc::new(Panics(2.into(), false.into()));
    let handle = JobHandle::start(fragile(), options(&setup).parallelism(1).extension(panics)).unwrap();
    let (end, completed, failed) = finish(handle);
    assert_eq!((end, failed), (Ok(JobEnd::Finished), 2.0));
    assert!(completed >= 1.0);
    let mut numbers: Vec<i64> = output(&setup.out())
        .iter()
        .map(|line| line.trim_start_matches("{\"number\":").trim_end_matches('}').parse().unwrap())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..ROWS).collect::<Vec<_>>());

    let setup = Setup::new(1, 1);
    let panics = Arc::new(Panics(3.into(), false.into()));
    let handle = JobHandle::start(fragile(), options(&setup).parallelism(1).extension(panics)).unwrap();
    let message = finish(handle).0.unwrap_err();
    assert!(message.contains("subtask 0 of numbers has no part of it: encoding its state panicked: too fragile"), "{message}");
}

/// Large state takes longer to read than a checkpoint may: were one begun meanwhile, it would be given up, and so would every attempt.
#[test]
fn no_checkpoint_begins_while_state_is_being_restored() {
    let setup = Setup::new(1, 1);
    let panics = Arc::new(Panics::default());
    let options = options(&setup).parallelism(1).extension(panics.clone());
    let handle = JobHandle::start(fragile(), options.clone()).unwrap();
    wait_for("a checkpoint", || counted(&handle, COMPLETED) >= 1.0 || handle.state().is_over());
    assert!(kill_after(handle, Duration::ZERO), "it was over before it could be killed");

    panics.1.store(true, SeqCst);
    let block = CheckpointConfig { timeout_micros: 100_000, tolerate: 1_000_000, ..block() };
    let handle = JobHandle::start(Job { checkpoint: Some(block), ..fragile() }, options).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    let failed = counted(&handle, FAILED);
    panics.1.store(false, SeqCst);
    assert_eq!(finish(handle).0, Ok(JobEnd::Finished));
    assert_eq!(failed, 0.0, "checkpoints were begun, and given up, before the state was there");
}
