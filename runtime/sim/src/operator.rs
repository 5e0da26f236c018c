//! Who runs the job: starts it again and again, each time as a person or a supervisor may, and asks things of it while it runs.

use std::sync::Arc;

use millstream::RunOptions;
use millstream_runtime::sim::Asks;

use crate::place::directory;
use crate::table::Told;
use crate::world::SimWorld;

/// The longest until something is asked, in microseconds.
const LATER: u64 = 1_000_000;

/// A savepoint.
#[derive(Clone, Debug)]
struct Saved {
    /// Of which run: the rows of earlier ones are gone.
    begun: u32,
    checkpoint: u64,
    folder: String,
}

/// What the process that runs was told to go on from.
#[derive(Debug)]
struct From {
    saved: Saved,
    claim: bool,
    /// The newest checkpoint that there was.
    newest: u64,
}

pub(crate) struct Operator {
    world: Arc<SimWorld>,
    /// So many runs are still to come to their end.
    runs: u64,
    /// So many times more it does one of the following.
    whims: u64,
    /// Those that the job can be taken back to, the oldest first.
    savepoints: Arc<std::sync::Mutex<Vec<Saved>>>,
    from: Option<From>,
    stops: bool,
}

impl Operator {
    pub(crate) fn new(world: Arc<SimWorld>) -> Self {
        let (runs, whims) = (1 + world.below(4), world.below(10));
        Operator { world, runs, whims, savepoints: Arc::default(), from: None, stops: false }
    }

    /// A run has come to its end. Gives whether that is all.
    pub(crate) fn has_done(&mut self) -> bool {
        self.from = None;
        self.runs -= 1;
        self.runs == 0
    }

    /// Whether a stop was asked for.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stops
    }

    fn whim(&mut self, chance: u64) -> bool {
        let has = self.whims > 0 && self.world.below(chance) == 0;
        self.whims -= u64::from(has);
        has
    }

    fn savepoints(&self) -> std::sync::MutexGuard<'_, Vec<Saved>> {
        self.savepoints.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The command line of the next process, and in words.
    pub(crate) fn starts(&mut self, options: RunOptions) -> (RunOptions, String) {
        // Until it has a checkpoint of its own, a process that was told to go on from one is told so again.
        self.from = self.from.take().filter(|from| self.world.newest() <= from.newest);
        if self.from.is_none() {
            if self.has_savepoints() && self.whim(2) {
                self.from = self.goes_back();
            } else if self.whim(10) {
                self.tell(Some(Told::Anew));
                return (options.fresh(), "--fresh".to_owned());
            }
        }
        let Some(From { saved, claim, .. }) = &self.from else {
            self.tell(None);
            return (options, String::new());
        };
        self.tell(Some(Told::From(saved.checkpoint)));
        let text = format!("--from {}{}", saved.folder, if *claim { " --claim" } else { "" });
        let options = options.resume_from(&saved.folder);
        (if *claim { options.claim() } else { options }, text)
    }

    /// Whether there are any of the run whose rows are there.
    fn has_savepoints(&self) -> bool {
        let begun = begun(&self.world);
        let mut savepoints = self.savepoints();
        savepoints.retain(|saved| saved.begun == begun);
        !savepoints.is_empty()
    }

    fn goes_back(&self) -> Option<From> {
        let mut savepoints = self.savepoints();
        let index = usize::try_from(self.world.below(savepoints.len() as u64)).ok()?;
        let saved = savepoints.get(index)?.clone();
        let claim = self.world.below(3) == 0;
        // Of later ones the rows are taken back.
        savepoints.truncate(index + usize::from(!claim));
        Some(From { saved, claim, newest: self.world.newest() })
    }

    fn tell(&self, told: Option<Told>) {
        self.world.tables(|table| table.told = told.or(table.told.filter(|told| *told == Told::Anew)));
    }

    /// What it asks of the process that runs.
    pub(crate) fn asks(&mut self, asks: Asks) -> impl Future<Output = ()> + use<> {
        let saves = self.world.below(2) == 0;
        self.stops = self.whim(6);
        let (world, savepoints, stops) = (self.world.clone(), self.savepoints.clone(), self.stops);
        async move {
            if saves {
                tokio::time::sleep(world.moment(LATER)).await;
                world.log("a savepoint is asked for");
                if let Some(Ok(info)) = asks.savepoint(&directory()).await
                    && let Some(folder) = info.savepoint
                {
                    let saved =
                        Saved { begun: begun(&world), checkpoint: info.id, folder: folder.to_string_lossy().into_owned() };
                    world.log(&format!("there is {saved:?}"));
                    savepoints.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(saved);
                }
            }
            if stops {
                tokio::time::sleep(world.moment(LATER)).await;
                world.log("it is asked to stop");
                asks.stop();
            }
        }
    }
}

/// How often runs have begun, of all tables.
fn begun(world: &SimWorld) -> u32 {
    let mut begun = 0;
    world.tables(|table| begun += table.begun);
    begun
}
