//! Jobs of two pipelines that share no stream: one fails and goes back to the last checkpoint, the other goes on as if nothing were.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use millstream::codegen::*;
use millstream::connectors::file::{FileSink, FileSource};
use millstream::formats::JsonFormat;
use millstream::operators::WindowAggregate;
use millstream::time::Tumbling;
use millstream::{
    BuildChain, BuildSource, ChainSpec, CheckpointConfig, ExchangeKind, InputSpec, Job, JobEnd, JobHandle, JobState, Restart,
    RunOptions, StateConfig,
};

use super::job::{Bid, Count, Counts, Setup, expected, hidden, output, wait_for};

const ERROR: u8 = 1;
const PANIC: u8 = 2;
/// It does not go away.
const AGAIN: u8 = 3;

/// What the test and both pipelines share.
#[derive(Debug)]
struct World {
    folder: PathBuf,
    /// Pipelines fail once, or for good.
    trouble: [AtomicU8; 2],
    /// They take no row, and so no barrier.
    stuck: [AtomicBool; 2],
    /// Rows that they have taken.
    taken: [AtomicU64; 2],
    /// They are as fast as they can.
    free: AtomicBool,
}

const NAMES: [&str; 2] = ["calm", "wild"];

fn world(params: &ParamValues) -> JobResult<Arc<World>> {
    params.extension::<World>()
}

fn source(params: &ParamValues) -> JobResult<FileSource<Bid, JsonFormat>> {
    let input = world(params)?.folder.join("bids-*.jsonl");
    FileSource::from_options(&Options::new().with("path", input.display().to_string()))
}

fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}

/// Lets large bids through, and fails when it is told to.
struct Trouble {
    world: Arc<World>,
    of: usize,
}

impl Operator<Bid> for Trouble {
    type Out = Bid;

    fn process(&mut self, row: Bid, out: &mut impl Collector<Bid>) -> Result<(), Failure> {
        let (world, of) = (&self.world, self.of);
        while world.stuck[of].load(SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if !world.free.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        match world.trouble[of].load(SeqCst) {
            ERROR if world.trouble[of].swap(0, SeqCst) == ERROR => return Err(JobError::transient("no answer").into()),
            PANIC if world.trouble[of].swap(0, SeqCst) == PANIC => panic!("out of its mind"),
            AGAIN => return Err(JobError::transient("no answer ever").into()),
            _ => {}
        }
        world.taken[of].fetch_add(1, SeqCst);
        if row.price >= 100 {
            out.emit(row)?;
        }
        Ok(())
    }
}

fn rows<const N: usize>(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let (name, world) = (NAMES[N], world(cx.params())?);
    cx.in_flight::<Bid>(N);
    let out = cx.hash(N, |row: &Bid| Ok(row.auction.clone()))?;
    let trouble = cx.operator(&format!("{name}/trouble/0"), &format!("{name}: trouble"), Trouble { world, of: N }, out)?;
    let source = source(cx.params())?;
    let watermark = |row: &Bid| Ok(Some(Timestamp(row.time.0 - 5_000_000)));
    let config = SourceConfig { watermark: Some(watermark), on_error: ErrorPolicy::Fail };
    cx.source(&format!("{name}/source/0"), name, source, config, trouble)
}

fn counts<const N: usize>(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let name = NAMES[N];
    let path = world(cx.params())?.folder.join(name).display().to_string();
    let sink = <FileSink<Count, JsonFormat>>::from_options(&Options::new().with("path", path))?;
    let sink = cx.sink(&format!("sink/{name}/file"), &format!("{name} into file"), sink)?;
    let window = WindowAggregate::new(Tumbling::new(60_000_000, 0), Counts { slow: 0, bulk: 0 });
    let counts = cx.operator(&format!("{name}/aggregate/0"), &format!("{name}: aggregate"), window, sink)?;
    cx.input::<Bid, _>(counts)
}

fn job(restart: Restart, state: StateConfig) -> Job {
    type Build = fn(&mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>>;
    type BuildErased = fn(&ParamValues) -> JobResult<Box<dyn ErasedSource>>;
    let chain = |name, uids, inputs, build: Build, source: Option<BuildErased>| ChainSpec {
        name,
        uids,
        parallelism: None,
        slot_group: "default",
        inputs,
        build: BuildChain::new(build),
        source: source.map(BuildSource::new),
    };
    let hash = |from, edge| vec![InputSpec { from, edge, exchange: ExchangeKind::Hash }];
    Job {
        name: "two",
        doc: "",
        fingerprint: 1,
        parallelism: 2,
        max_parallelism: 128,
        buffer_timeout_micros: 10_000,
        checkpoint: Some(CheckpointConfig::new(20_000, |_| Ok("unused".to_owned()))),
        restart,
        state,
        on_error: ErrorPolicy::Fail,
        params: &[],
        kept_by: Vec::new(),
        chains: vec![
            chain("calm", &["calm/source/0", "calm/trouble/0"], vec![], rows::<0> as _, Some(source_erased as _)),
            chain("wild", &["wild/source/0", "wild/trouble/0"], vec![], rows::<1> as _, Some(source_erased as _)),
            chain("calm.counts", &["calm/aggregate/0", "sink/calm/file"], hash(0, 0), counts::<0> as _, None),
            chain("wild.counts", &["wild/aggregate/0", "sink/wild/file"], hash(1, 1), counts::<1> as _, None),
        ],
    }
}

/// Restarts at once, as often as it has to.
const PATIENT: Restart = Restart::Fixed { attempts: 1_000_000, delay_micros: 1000 };

struct Test {
    setup: Setup,
    world: Arc<World>,
}

impl Test {
    fn new() -> Self {
        // Held back, they last for half a minute; free, for seconds.
        let setup = Setup::new(60_000, 4);
        let world = Arc::new(World {
            folder: setup.folder.path().to_owned(),
            trouble: Default::default(),
            stuck: Default::default(),
            taken: Default::default(),
            free: AtomicBool::new(false),
        });
        Test { setup, world }
    }

    fn start(&self, job: Job) -> JobHandle {
        let options = RunOptions::new().checkpoints(self.setup.path("checkpoints")).extension(self.world.clone());
        JobHandle::start(job, options).unwrap()
    }

    /// Has the second pipeline fail, and waits until it is back.
    fn fails(&self, handle: &JobHandle, how: u8) {
        let before = handle.restarts();
        self.world.trouble[1].store(how, SeqCst);
        wait_for("a restart", || handle.restarts() > before);
        // One more at most is on its way from before.
        let completed = counted(handle, COMPLETED);
        wait_for("a checkpoint after it", || counted(handle, COMPLETED) > completed + 1.0);
        assert_eq!(handle.state(), JobState::Running);
    }

    fn finishes(&self, mut handle: JobHandle) {
        self.world.free.store(true, SeqCst);
        assert_eq!(handle.wait_for(Duration::from_secs(300)).expect("it does not end").unwrap(), JobEnd::Finished);
        let all = expected(0..self.setup.bids);
        for name in NAMES {
            let folder = self.setup.folder.path().join(name);
            let found = output(&folder);
            assert_eq!(found.len(), all.len(), "rows of {name}");
            assert_eq!(found, all, "{name}");
            assert_eq!(hidden(&folder), [""; 0], "leftovers of {name}");
        }
    }
}

const COMPLETED: &str = "millstream_job_numberOfCompletedCheckpoints";
const FAILED: &str = "millstream_job_numberOfFailedCheckpoints";

fn counted(handle: &JobHandle, name: &str) -> f64 {
    handle.metrics().sum(name, &[]).unwrap_or(0.0)
}

/// Whether the tasks of a chain are in this attempt, and in no other.
fn is_in_attempt(handle: &JobHandle, task: &str, attempt: &str) -> bool {
    let metrics = handle.metrics();
    let region = if task.starts_with("calm") { "calm -> calm" } else { "wild -> wild" };
    let sum = |labels: &[(&str, &str)]| metrics.sum("millstream_task_idleTimeMsPerSecond", labels);
    let all = metrics.samples().iter().filter(|sample| sample.labels.contains(&("task", task.to_owned())));
    let others = all.filter(|sample| sample.labels.iter().any(|(key, value)| *key == "attempt" && value != attempt));
    sum(&[("task", task), ("region", region), ("attempt", attempt)]).is_some() && others.count() == 0
}

#[test]
fn a_pipeline_that_fails_goes_back_alone() {
    let test = Test::new();
    let handle = test.start(job(PATIENT, StateConfig::Memory));
    wait_for("a checkpoint", || counted(&handle, COMPLETED) >= 1.0);
    test.fails(&handle, ERROR);
    test.fails(&handle, PANIC);
    assert_eq!(handle.restarts(), 2);
    for (task, attempt) in [("calm", "1"), ("calm.counts", "1"), ("wild", "3"), ("wild.counts", "3")] {
        assert!(is_in_attempt(&handle, task, attempt), "{task} is not in attempt {attempt}");
    }
    test.finishes(handle);
    assert_eq!(test.world.taken[0].load(SeqCst), test.setup.bids, "the other has taken every row once");
    assert!(test.world.taken[1].load(SeqCst) > test.setup.bids, "rows behind the checkpoint were taken again");
}

/// State in memory, of which there is little, and on disk: then checkpoints hold what has changed.
const STATES: &[StateConfig] = &[
    StateConfig::Memory,
    #[cfg(feature = "disk")]
    StateConfig::Disk {
        path: millstream::Folder::Of(|params| Ok(world(params)?.folder.join("state").display().to_string())),
        memory: 1 << 20,
    },
];

/// What it is in the next checkpoint is as good as any: killed then, all goes on from there.
#[test]
fn killed_after_a_pipeline_has_come_back() {
    for &state in STATES {
        let test = Test::new();
        let handle = test.start(job(PATIENT, state));
        wait_for("checkpoints", || counted(&handle, COMPLETED) >= 3.0);
        test.fails(&handle, PANIC);
        test.fails(&handle, ERROR);
        assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
        test.finishes(test.start(job(PATIENT, state)));
    }
}

#[test]
fn without_a_checkpoint_it_begins_anew_and_the_other_goes_on() {
    let test = Test::new();
    let never = CheckpointConfig::new(3_600_000_000, |_| Ok("unused".to_owned()));
    let handle = test.start(Job { checkpoint: Some(never), ..job(PATIENT, StateConfig::Memory) });
    wait_for("rows", || test.world.taken.iter().all(|taken| taken.load(SeqCst) > 10));
    test.world.trouble[1].store(ERROR, SeqCst);
    wait_for("a restart", || handle.restarts() > 0);
    test.finishes(handle);
    assert_eq!(test.world.taken[0].load(SeqCst), test.setup.bids);
}

/// The other has taken part in the checkpoint, and its sink has staged rows for it: they are in the next one.
#[test]
fn a_checkpoint_that_is_being_taken_is_given_up_and_who_asked_for_it_is_served_by_the_next() {
    let test = Test::new();
    // Whoever is stuck holds a thread.
    let handle = test.start(Job { parallelism: 1, ..job(PATIENT, StateConfig::Memory) });
    wait_for("a checkpoint", || counted(&handle, COMPLETED) >= 1.0);
    test.world.stuck[1].store(true, SeqCst);
    let info = std::thread::scope(|scope| {
        let world = test.world.clone();
        scope.spawn(move || {
            let taken = world.taken[0].load(SeqCst);
            wait_for("rows behind the barrier", || world.taken[0].load(SeqCst) > taken + 200);
            world.trouble[1].store(ERROR, SeqCst);
            world.stuck[1].store(false, SeqCst);
        });
        handle.checkpoint()
    });
    info.expect("the next one serves");
    wait_for("a restart", || handle.restarts() == 1);
    assert!(counted(&handle, FAILED) >= 1.0);
    test.finishes(handle);
    assert_eq!(test.world.taken[0].load(SeqCst), test.setup.bids);
}

/// As long as the newest checkpoint lies elsewhere all begin again from there, which is one failure; the number of that says nothing in the
/// job's own directory, where another run has left one of the same. From the first one of its own on a pipeline fails alone.
#[test]
fn behind_a_checkpoint_that_lies_elsewhere_all_begin_again() {
    let (test, other) = (Test::new(), Test::new());
    let start = |world: &Arc<World>, checkpoints: &Test, attempts, savepoint: Option<&PathBuf>| {
        let on_request = CheckpointConfig::new(3_600_000_000, |_| Ok("unused".to_owned()));
        let restart = Restart::Fixed { attempts, delay_micros: 1000 };
        let options = RunOptions::new().checkpoints(checkpoints.setup.path("checkpoints")).extension(world.clone());
        let options = savepoint.into_iter().fold(options, RunOptions::resume_from);
        JobHandle::start(Job { checkpoint: Some(on_request), ..job(restart, StateConfig::Memory) }, options).unwrap()
    };
    let handle = start(&test.world, &test, 1, None);
    let savepoint = handle.savepoint(test.setup.path("savepoints")).unwrap().savepoint.unwrap();
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    let handle = start(&other.world, &other, 1, None);
    wait_for("rows", || other.world.taken.iter().all(|taken| taken.load(SeqCst) > 500));
    assert_eq!(handle.checkpoint().unwrap().id, 1);
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    let taken = || test.world.taken[1].load(SeqCst);
    for (attempts, calm, wild) in [(1, "2", "2"), (2, "2", "3")] {
        let handle = start(&test.world, &other, attempts, Some(&savepoint));
        let before = taken();
        wait_for("rows", || taken() > before + 10);
        test.world.trouble[1].store(ERROR, SeqCst);
        wait_for("another attempt of all", || NAMES.iter().all(|name| is_in_attempt(&handle, name, "2")));
        if attempts == 2 {
            handle.checkpoint().unwrap();
            test.world.trouble[1].store(ERROR, SeqCst);
            wait_for("another attempt of one", || is_in_attempt(&handle, "wild", wild));
        }
        assert!(is_in_attempt(&handle, "calm", calm));
        if attempts == 2 {
            test.finishes(handle);
        } else {
            assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
        }
    }
}

/// Its barriers were on their way when all failed.
#[test]
fn a_savepoint_that_has_begun_is_served_by_the_next_attempt_of_all() {
    let (test, other) = (Test::new(), Test::new());
    let start = |checkpoints: &Test, from: Option<&PathBuf>| {
        let on_request = CheckpointConfig::new(3_600_000_000, |_| Ok("unused".to_owned()));
        let options = RunOptions::new().checkpoints(checkpoints.setup.path("checkpoints")).extension(test.world.clone());
        let options = from.into_iter().fold(options, RunOptions::resume_from);
        let job = Job { checkpoint: Some(on_request), parallelism: 1, ..job(PATIENT, StateConfig::Memory) };
        JobHandle::start(job, options).unwrap()
    };
    let handle = start(&test, None);
    let savepoint = handle.savepoint(test.setup.path("savepoints")).unwrap().savepoint.unwrap();
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    let handle = start(&other, Some(&savepoint));
    let taken = test.world.taken[1].load(SeqCst);
    wait_for("rows", || test.world.taken[1].load(SeqCst) > taken + 10);
    test.world.stuck[1].store(true, SeqCst);
    let info = std::thread::scope(|scope| {
        let world = test.world.clone();
        scope.spawn(move || {
            let taken = world.taken[0].load(SeqCst);
            // The coordinator comes to it between two batches.
            wait_for("rows behind the barrier", || world.taken[0].load(SeqCst) > taken + 2500);
            world.trouble[1].store(ERROR, SeqCst);
            world.stuck[1].store(false, SeqCst);
        });
        handle.savepoint(test.setup.path("savepoints"))
    });
    let savepoint = info.expect("the next one serves").savepoint.expect("a savepoint");
    assert!(savepoint.join("manifest.json").is_file());
    assert!(NAMES.iter().all(|name| is_in_attempt(&handle, name, "2")), "all have failed");
    test.finishes(handle);
}

#[test]
fn a_pipeline_that_fails_again_and_again_ends_the_job_which_can_be_gone_on_with() {
    let test = Test::new();
    let twice = Restart::Fixed { attempts: 2, delay_micros: 1000 };
    let mut handle = test.start(job(twice, StateConfig::Memory));
    wait_for("a checkpoint", || counted(&handle, COMPLETED) >= 1.0);
    test.world.trouble[1].store(AGAIN, SeqCst);
    let error = handle.wait_for(Duration::from_secs(60)).expect("it does not end").unwrap_err();
    assert!(error.message().contains("no answer ever"), "{error}");
    assert_eq!((handle.restarts(), handle.state()), (2, JobState::Failed));
    test.world.trouble[1].store(0, SeqCst);
    test.finishes(test.start(job(twice, StateConfig::Memory)));
}

/// A stop does not wait for the delay of a restart: the pipeline comes back at once, for a checkpoint of all.
#[test]
fn a_stop_brings_a_pipeline_back_that_waits_to_restart() {
    let test = Test::new();
    let late = Restart::Fixed { attempts: 1, delay_micros: 3_600_000_000 };
    let handle = test.start(job(late, StateConfig::Memory));
    wait_for("a checkpoint", || counted(&handle, COMPLETED) >= 1.0);
    test.world.trouble[1].store(ERROR, SeqCst);
    assert!(handle.wait_until(Duration::from_secs(60), |state| state == JobState::Restarting));
    let taken = test.world.taken[0].load(SeqCst);
    wait_for("rows of the other", || test.world.taken[0].load(SeqCst) > taken + 10);
    assert!(matches!(handle.stop_with_checkpoint().unwrap(), JobEnd::Stopped(Some(_))));
    test.finishes(test.start(job(late, StateConfig::Memory)));
}

/// Says to the process that the test below starts that it is the one that runs the job.
#[cfg(feature = "disk")]
const IN_TROUBLE: &str = "MILLSTREAM_TEST_SHARED_DISK";

/// State on disk is shared by all pipelines: when the disk fails, none can begin again with it. So all begin again, with another one.
#[cfg(feature = "disk")]
#[test]
fn a_disk_that_fails_takes_all_pipelines_back() {
    if std::env::var(IN_TROUBLE).is_err() {
        // A process of its own, for what it says.
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "regions::a_disk_that_fails_takes_all_pipelines_back", "--nocapture"]).env(IN_TROUBLE, "1");
        let output = child.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {said}", output.status);
        let line = said.lines().find(|line| line.contains("two: attempt 1 failed: cannot keep state in `"));
        assert!(line.is_some_and(|line| line.contains("/state/millstream-")), "{said}");
        assert!(said.contains("two: attempt 2 begins anew") || said.contains("two: attempt 2 goes on"), "{said}");
        assert!(!said.contains("everything else goes on"), "one of them has tried by itself: {said}");
        return;
    }
    let test = Test::new();
    let state = StateConfig::Disk {
        path: millstream::Folder::Of(|params| Ok(world(params)?.folder.join("state").display().to_string())),
        memory: 0,
    };
    test.world.stuck.iter().for_each(|stuck| stuck.store(true, SeqCst));
    let handle = test.start(Job { parallelism: 1, ..job(PATIENT, state) });
    let of_attempt = || {
        let folders = std::fs::read_dir(test.setup.folder.path().join("state")).into_iter().flatten().flatten();
        let mut folders = folders.map(|entry| entry.path()).filter(|path| path.is_dir());
        folders.next()
    };
    wait_for("the folder of the first attempt", || of_attempt().is_some_and(|folder| folder.join(".lock").exists()));
    // Where the store is to be made, there is something else.
    std::fs::write(of_attempt().unwrap().join("entries"), "no folder").unwrap();
    test.world.stuck.iter().for_each(|stuck| stuck.store(false, SeqCst));
    wait_for("a restart of all", || NAMES.iter().all(|name| is_in_attempt(&handle, name, "2")));
    wait_for("state on another disk", || of_attempt().is_some_and(|folder| folder.join("entries").is_dir()));
    assert_eq!(handle.restarts(), 1);
    test.finishes(handle);
}
