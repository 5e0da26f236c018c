//! What is outside of the simulated job: its clock, its chance, what goes wrong, and whatever outlives a process.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use millstream::{JobError, JobResult};
use millstream_runtime::checkpoint::Manifest;
use millstream_runtime::sim::{Fault, World};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::store::SimStore;
use crate::table::Table;

/// The wall clock when the world begins: 2026-01-01, in microseconds.
const DAWN: i64 = 1_767_225_600_000_000;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing.
    Peace,
    /// One thing, when this point is reached for the n-th time, from 1.
    At(&'static str, u32, Fault),
    /// The process is gone whenever this point is reached for the n-th time, from the first number up to the second.
    Again(&'static str, u32, u32),
    /// This point takes so long when it is reached for the n-th time, and meanwhile a reader fails.
    Meanwhile(&'static str, u32, Duration),
    /// The n-th manifest is stored; storage says that it is not, and does not answer for a while. Meanwhile a reader fails, and when a part
    /// of the job has begun again by itself, the process is gone before the next checkpoint.
    Unsaid(u32),
    /// An enumerator fails when one hears of the end of a checkpoint for the n-th time, good or bad.
    Deaf(u32),
    /// So many things in each run, by chance.
    Chance(u32),
}

impl Plan {
    fn faults(self) -> u32 {
        if let Plan::Chance(faults) = self { faults } else { 1 }
    }
}

/// In so many of a thousand visits to a point the process is gone, it fails, it takes long.
const CRASHES: u64 = 15;
const ERRORS: u64 = 15;
const DELAYS: u64 = 40;

/// The longest that storage does not answer, in microseconds.
const OUT: u64 = 15_000_000;

/// The longest that a point takes, in microseconds.
const LONG: u64 = 20_000_000;

/// The first thing that a task does of a checkpoint.
const BARRIER: &str = "task.barrier";

/// The world of one simulation, over all of its processes.
pub(crate) struct SimWorld {
    state: Mutex<State>,
    crashed: Notify,
    pub(crate) objects: Arc<InMemory>,
}

struct State {
    random: u64,
    plan: Plan,
    left: u32,
    hits: BTreeMap<&'static str, u32>,
    /// The process is gone: nothing outside changes any more.
    frozen: bool,
    /// When the process began, by its own clock, and by that of the world.
    began: Option<Instant>,
    dawn: i64,
    /// What has happened, for whoever has to understand it, and to compare runs.
    trace: String,
    /// `MILLSTREAM_TRACE`: show it as it happens.
    shown: bool,
    tables: BTreeMap<&'static str, Table>,
    /// Checkpoints whose manifests were whole at some time, of the run that is going on.
    completed: BTreeSet<u64>,
    /// Those that are there.
    present: BTreeSet<u64>,
    /// Until then storage does not answer.
    out_until: i64,
    /// How many manifests were stored.
    manifests: u32,
    /// The next reader that is asked for rows fails.
    reader_fails: bool,
    /// How often enumerators have heard of the end of a checkpoint.
    heard: u32,
    /// The process that runs has begun a second attempt.
    restarted: bool,
    /// So often a part of a job has begun again by itself, and all of it.
    alone: u32,
    together: u32,
    /// Files of checkpoints with rows that were on their way.
    overtaken: u32,
    /// Checkpoints that build upon others.
    built_upon: u32,
    /// Of them, those that build upon what an earlier process has written.
    gone_on: u32,
    /// The newest checkpoint that a source has a part of.
    read: u64,
    /// Checkpoints that were stored when the next one was being taken.
    beside: u32,
}

impl SimWorld {
    pub(crate) fn new(seed: u64, plan: Plan) -> Arc<Self> {
        let state = State {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d,
            plan,
            left: plan.faults(),
            hits: BTreeMap::new(),
            frozen: false,
            began: None,
            dawn: DAWN,
            trace: String::new(),
            shown: std::env::var_os("MILLSTREAM_TRACE").is_some(),
            tables: BTreeMap::new(),
            completed: BTreeSet::new(),
            present: BTreeSet::new(),
            out_until: 0,
            manifests: 0,
            reader_fails: false,
            heard: 0,
            restarted: false,
            alone: 0,
            together: 0,
            overtaken: 0,
            built_upon: 0,
            gone_on: 0,
            read: 0,
            beside: 0,
        };
        Arc::new(SimWorld { state: Mutex::new(state), crashed: Notify::new(), objects: Arc::new(InMemory::new()) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process begins. Called in its runtime.
    pub(crate) fn begin(&self) {
        self.state().read = 0;
        let mut state = self.state();
        state.frozen = false;
        state.restarted = false;
        state.began = Some(Instant::now());
    }

    /// The process has ended, and a while passes. Called in its runtime, whose clock goes away with it.
    pub(crate) fn end(&self) {
        let now = self.now_micros() + 1_000_000;
        let mut state = self.state();
        state.dawn = now;
        state.began = None;
        // What is left of the process is being dropped.
        state.frozen = true;
    }

    /// A run has ended: in the next one as much goes wrong.
    pub(crate) fn next_run(&self) {
        let mut state = self.state();
        if let Plan::Chance(_) = state.plan {
            state.left = state.plan.faults();
        }
    }

    /// Nothing of the process is left.
    pub(crate) fn thaw(&self) {
        self.state().frozen = false;
    }

    /// Waits until the process is to be gone.
    pub(crate) async fn crash(&self) {
        while !self.state().frozen {
            self.crashed.notified().await;
        }
    }

    pub(crate) fn frozen(&self) -> bool {
        self.state().frozen
    }

    pub(crate) fn freeze(&self) {
        self.log("the process is gone");
        self.state().frozen = true;
        self.crashed.notify_one();
    }

    /// A number below the limit.
    pub(crate) fn below(&self, limit: u64) -> u64 {
        self.random() % limit.max(1)
    }

    /// A short while.
    pub(crate) fn moment(&self, longest_micros: u64) -> Duration {
        Duration::from_micros(self.below(longest_micros))
    }

    pub(crate) fn log(&self, line: &str) {
        let now = self.now_micros() - DAWN;
        let mut state = self.state();
        let _ = writeln!(state.trace, "{now:>12} {line}");
        if state.shown {
            eprintln!("{now:>12} {line}");
        }
    }

    pub(crate) fn trace(&self) -> String {
        self.state().trace.clone()
    }

    pub(crate) fn hits(&self) -> BTreeMap<&'static str, u32> {
        self.state().hits.clone()
    }

    /// Whether something goes wrong here, outside of the points: `chance` in a thousand.
    pub(crate) fn unlucky(&self, what: &str, chance: u64) -> bool {
        if self.below(1000) >= chance {
            return false;
        }
        let mut state = self.state();
        if !matches!(state.plan, Plan::Chance(_)) || state.left == 0 {
            return false;
        }
        state.left -= 1;
        drop(state);
        self.log(what);
        true
    }

    /// Whether storage does not answer, for longer than a request is tried again.
    pub(crate) fn is_out(&self) -> bool {
        if self.unlucky("storage does not answer for a while", 2) {
            let until = self.now_micros() + i64::try_from(self.below(OUT)).unwrap_or(0);
            self.state().out_until = until;
        }
        self.now_micros() < self.state().out_until
    }

    /// A manifest is stored. Gives whether storage says that it is not.
    pub(crate) fn is_unsaid(&self) -> bool {
        let now = self.now_micros();
        let mut state = self.state();
        state.manifests += 1;
        let is_unsaid = matches!(state.plan, Plan::Unsaid(number) if number == state.manifests);
        if is_unsaid {
            state.out_until = now + i64::try_from(OUT).unwrap_or(0);
            state.reader_fails = true;
        }
        is_unsaid
    }

    /// Whether a reader is to fail now.
    pub(crate) fn reader_fails(&self) -> bool {
        std::mem::take(&mut self.state().reader_fails)
    }

    /// An enumerator hears of the end of a checkpoint. Whether it is to fail.
    pub(crate) fn enumerator_fails(&self) -> bool {
        let mut state = self.state();
        state.heard += 1;
        let is_deaf = matches!(state.plan, Plan::Deaf(number) if number == state.heard);
        drop(state);
        is_deaf || self.unlucky("an enumerator fails", 3)
    }

    /// Whether the process that runs, or has just ended, has begun a second attempt.
    pub(crate) fn has_restarted(&self) -> bool {
        self.state().restarted
    }

    /// A file of a checkpoint has rows that barriers have overtaken.
    pub(crate) fn overtake(&self) {
        self.state().overtaken += 1;
    }

    pub(crate) fn overtaken(&self) -> u32 {
        self.state().overtaken
    }

    pub(crate) fn built_upon(&self) -> u32 {
        self.state().built_upon
    }

    pub(crate) fn gone_on(&self) -> u32 {
        self.state().gone_on
    }

    pub(crate) fn beside(&self) -> u32 {
        self.state().beside
    }

    /// A source has its part of a checkpoint.
    pub(crate) fn snapshot_taken(&self, checkpoint: u64) {
        self.state().read = checkpoint;
    }

    /// A checkpoint is complete.
    pub(crate) fn complete(&self, checkpoint: u64, manifest: Option<&Manifest>) {
        let mut state = self.state();
        if let Some(manifest) = manifest {
            let own = format!("-{}.state", manifest.epoch);
            let others = || manifest.files.iter().filter(|file| file.of.is_some());
            state.built_upon += u32::from(others().count() > 0);
            state.gone_on += u32::from(others().any(|file| !file.name.ends_with(&own)));
        }
        state.beside += u32::from(state.read > checkpoint);
        state.present.insert(checkpoint);
        state.completed.insert(checkpoint);
    }

    pub(crate) fn removed(&self, checkpoint: u64) {
        self.state().present.remove(&checkpoint);
    }

    /// The newest that is there; 0: there is none.
    pub(crate) fn newest(&self) -> u64 {
        self.state().present.last().copied().unwrap_or(0)
    }

    /// What came behind this checkpoint counts no more.
    pub(crate) fn back_to(&self, checkpoint: u64) {
        self.state().completed.split_off(&(checkpoint + 1));
    }

    /// Whether this checkpoint, or a later one which then holds the same, is complete.
    pub(crate) fn is_complete(&self, checkpoint: u64) -> bool {
        self.state().completed.range(checkpoint..).next().is_some()
    }

    /// Something is done to a table, if the process is still there.
    pub(crate) fn table<T>(&self, name: &'static str, act: impl FnOnce(&mut Table) -> T) -> JobResult<T> {
        let mut state = self.state();
        if state.frozen {
            Err(JobError::transient("the process is gone"))
        } else {
            Ok(act(state.tables.entry(name).or_default()))
        }
    }

    /// Something is done to all tables. Between two processes nothing is frozen.
    pub(crate) fn tables(&self, act: impl FnMut(&mut Table)) {
        self.state().tables.values_mut().for_each(act);
    }

    /// How often parts of jobs have begun again by themselves.
    pub(crate) fn alone(&self) -> u32 {
        self.state().alone
    }

    /// How often a whole job has, in its process.
    pub(crate) fn together(&self) -> u32 {
        self.state().together
    }
}

impl World for SimWorld {
    fn now_micros(&self) -> i64 {
        let state = self.state();
        let since = state.began.map_or(0, |began| i64::try_from(began.elapsed().as_micros()).unwrap_or(i64::MAX));
        state.dawn + since
    }

    fn random(&self) -> u64 {
        let mut state = self.state();
        state.random ^= state.random << 13;
        state.random ^= state.random >> 7;
        state.random ^= state.random << 17;
        state.random
    }

    fn reach(&self, point: &'static str) -> Option<Fault> {
        let (roll, long) = (self.below(1000), self.moment(LONG));
        let mut state = self.state();
        if state.frozen {
            return Some(Fault::Crash);
        }
        let hits = state.hits.entry(point).or_default();
        *hits += 1;
        let hits = *hits;
        let fault = match state.plan {
            Plan::Peace | Plan::Deaf(_) => None,
            Plan::Again(where_, first, last) => (where_ == point && (first..=last).contains(&hits)).then_some(Fault::Crash),
            Plan::At(where_, when, fault) => (where_ == point && when == hits).then_some(fault),
            Plan::Meanwhile(where_, when, time) => (where_ == point && when == hits).then_some(Fault::Delay(time)),
            // The next checkpoint begins when all parts run again.
            Plan::Unsaid(_) => {
                let is_back = point == BARRIER && state.alone > 0 && state.left > 0;
                is_back.then_some(Fault::Crash)
            }
            Plan::Chance(_) => {
                let fault = match roll {
                    roll if roll < CRASHES => Some(Fault::Crash),
                    roll if roll < CRASHES + ERRORS => Some(Fault::Error),
                    roll if roll < CRASHES + ERRORS + DELAYS => Some(Fault::Delay(long)),
                    _ => None,
                };
                fault.filter(|_| state.left > 0)
            }
        };
        if fault.is_some() {
            state.left = state.left.saturating_sub(1);
            state.reader_fails |= matches!(state.plan, Plan::Meanwhile(..));
        }
        drop(state);
        if let Some(fault) = fault {
            self.log(&format!("{point}, {hits}: {fault:?}"));
        }
        if fault == Some(Fault::Crash) {
            self.freeze();
        }
        fault
    }

    fn said(&self, text: &str) {
        self.log(text);
        let mut state = self.state();
        state.restarted |= text.contains(": attempt 1 failed");
        state.alone += u32::from(text.contains(", everything else goes on"));
        state.together += u32::from(text.contains(": attempt ") && text.contains(" failed: "));
    }

    fn store(self: Arc<Self>) -> Arc<dyn ObjectStore> {
        Arc::new(SimStore::new(self))
    }
}
