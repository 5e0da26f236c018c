//! Inputs of merged files: kept as long as a kept checkpoint may hold them as inputs, also when the job starts again.
//!
//! In: what was merged, with the checkpoint that committed the result. Out: what may go. The list lies beside the files, so that
//! a process that is resumed from a newer checkpoint leaves alone what an older one needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{JobError, JobResult};
use crate::storage::sync_folder;

/// The list, in the staging folder: a line `3 .part-0-1-0.json` for each input.
pub(super) const LIST: &str = ".merged";

/// The list before it has its name.
const NEW_LIST: &str = ".merged.new";

/// The inputs of merged files in a staging folder.
#[derive(Debug, Default)]
pub(super) struct Merged {
    staging: PathBuf,
    /// How many checkpoints are kept.
    retained: usize,
    /// By the checkpoint that their results were committed with.
    inputs: BTreeMap<u64, BTreeSet<String>>,
    /// The last checkpoints that were committed by this process, as many as are kept.
    commits: BTreeSet<u64>,
}

impl Merged {
    pub(super) fn new(staging: PathBuf, retained: u32) -> Self {
        Merged { staging, retained: retained.max(1) as usize, ..Merged::default() }
    }

    /// Takes up what earlier processes of the run have left.
    pub(super) fn load(&mut self) -> JobResult<()> {
        let path = self.staging.join(LIST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(JobError::io(format_args!("cannot read `{}`", path.display()), &error)),
        };
        self.inputs.clear();
        for line in text.lines() {
            if let Some((checkpoint, input)) = line.split_once(' ')
                && let Ok(checkpoint) = checkpoint.parse()
            {
                self.inputs.entry(checkpoint).or_default().insert(input.to_owned());
            }
        }
        Ok(())
    }

    /// The job goes on from some checkpoint, which has these inputs waiting: they will be merged with a later one.
    pub(super) fn wait_again(&mut self, waiting: &BTreeSet<String>) -> JobResult<()> {
        let before = self.len();
        self.inputs.values_mut().for_each(|inputs| inputs.retain(|input| !waiting.contains(input)));
        self.inputs.retain(|_, inputs| !inputs.is_empty());
        if self.len() == before { Ok(()) } else { self.store() }
    }

    /// What must stay.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.inputs.values().flatten()
    }

    /// A checkpoint was committed, and with it what was made of these inputs. Removes what no kept checkpoint needs: one that is
    /// as old as the merge, or newer, has the result.
    pub(super) fn committed(&mut self, checkpoint: u64, inputs: Vec<String>) -> JobResult<()> {
        let mut changed = !inputs.is_empty();
        if changed {
            self.inputs.entry(checkpoint).or_default().extend(inputs);
        }
        self.commits.insert(checkpoint);
        while self.commits.len() > self.retained {
            self.commits.pop_first();
        }
        let oldest = self.commits.first().copied().unwrap_or(0);
        let full = self.commits.len() >= self.retained;
        let mut gone = Vec::new();
        while let Some(entry) = self.inputs.first_entry().filter(|entry| full && *entry.key() <= oldest) {
            gone.extend(entry.remove());
        }
        changed |= !gone.is_empty();
        // What is kept for one checkpoint only goes at once: there is nothing to remember.
        if changed && (self.retained > 1 || !self.inputs.is_empty()) {
            self.store()?;
        }
        for input in gone {
            // If it stays, the end of the job or its next start removes it.
            let _ = fs::remove_file(self.staging.join(input));
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.inputs.values().map(BTreeSet::len).sum()
    }

    fn store(&self) -> JobResult<()> {
        let lines: String = self
            .inputs
            .iter()
            .flat_map(|(checkpoint, inputs)| inputs.iter().map(move |input| format!("{checkpoint} {input}\n")))
            .collect();
        let (new, path) = (self.staging.join(NEW_LIST), self.staging.join(LIST));
        let written =
            write_synced(&new, lines.as_bytes()).and_then(|()| fs::rename(&new, &path)).and_then(|()| sync_folder(&self.staging));
        written.map_err(|error| JobError::io(format_args!("cannot write `{}`", path.display()), &error))
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
