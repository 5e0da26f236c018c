//! Where a simulation has its checkpoints and its state on disk: nowhere where another one has them that runs at the same time. A
//! process knows which leases it holds itself, by their directory, and would take the other for itself.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

static TAKEN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

/// The place of the simulation on this thread, until this is dropped.
pub(crate) struct Place(u32);

impl Place {
    pub(crate) fn take() -> Self {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let number = (0..=u32::MAX).find(|number| !taken.contains(number)).unwrap_or_default();
        taken.insert(number);
        NUMBER.set(number);
        Place(number)
    }

    /// What is said in a simulation, as if it ran alone: the same seed says the same.
    pub(crate) fn hide(&self, text: &str) -> String {
        let folder = folder().display().to_string();
        text.replace(&directory(), "sim://simulated").replace(&folder, "its folder")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(folder());
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Of the checkpoints of the simulation on this thread.
pub(crate) fn directory() -> String {
    format!("sim://simulated-{}", NUMBER.get())
}

/// For the state on disk of the simulation on this thread.
pub(crate) fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("millstream-sim-{}-{}", std::process::id(), NUMBER.get()))
}
