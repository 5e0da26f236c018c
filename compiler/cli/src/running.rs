//! Finding the running job that somebody means: by its name, its process, its `.flow` file or its directory of checkpoints.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use millstream_runtime::remote::{Running, folder, running};

use crate::console::Console;
use crate::files;

/// All running jobs of this user.
pub fn all() -> Result<Vec<Running>, String> {
    let folder = folder().map_err(|error| format!("cannot tell where running jobs listen: {error}"))?;
    running(&folder).map_err(|error| format!("cannot look for running jobs: {error}"))
}

/// The one job that is meant. An error says which others there are; what is wrong with a `.flow` file is said here.
pub fn find(wanted: &str, console: &Console) -> Result<Running, String> {
    let jobs = all()?;
    let described = list(&jobs);
    let wanted_is = meaning(wanted, console)?;
    let mut found: Vec<Running> = jobs.into_iter().filter(|job| wanted_is.is(job)).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 if described.is_empty() => Err(format!("no job is running; `{wanted}` is not there")),
        0 => Err(format!("no running job is `{wanted}`; there are\n{described}")),
        number => Err(format!("{number} running jobs are `{wanted}`; name the process of one\n{}", list(&found).trim_end())),
    }
}

/// What somebody has typed.
enum Meaning {
    Process(u32),
    Name(String),
    Checkpoints(PathBuf),
}

impl Meaning {
    fn is(&self, job: &Running) -> bool {
        let facts = job.info.as_ref().map(|info| &info.facts);
        match self {
            Meaning::Process(pid) => job.pid == *pid,
            Meaning::Name(name) => facts.is_some_and(|facts| facts.job == *name),
            Meaning::Checkpoints(path) => {
                let own = facts.and_then(|facts| facts.checkpoints.as_ref()?.canonicalize().ok());
                own.is_some_and(|own| own == *path)
            }
        }
    }
}

fn meaning(wanted: &str, console: &Console) -> Result<Meaning, String> {
    if let Ok(pid) = wanted.parse() {
        return Ok(Meaning::Process(pid));
    }
    if Path::new(wanted).extension().is_some_and(|extension| extension == "flow") {
        let planned = files::plan(wanted, console).ok_or_else(|| format!("`{wanted}` does not say which job is meant"))?;
        return Ok(Meaning::Name(planned.job.settings.name.clone()));
    }
    match Path::new(wanted).canonicalize() {
        Ok(path) if path.is_dir() && (wanted.contains(std::path::is_separator) || path.join(".lock").exists()) => {
            Ok(Meaning::Checkpoints(path))
        }
        _ => Ok(Meaning::Name(wanted.to_owned())),
    }
}

/// A line for each.
fn list(jobs: &[Running]) -> String {
    let mut text = String::new();
    for job in jobs {
        let _ = match &job.info {
            Some(info) => {
                let checkpoints = info.facts.checkpoints.as_ref().map(|path| format!(", checkpoints in {}", path.display()));
                writeln!(text, "  {}: process {}, {}{}", info.facts.job, job.pid, info.state, checkpoints.unwrap_or_default())
            }
            None => writeln!(text, "  process {} does not answer", job.pid),
        };
    }
    text.truncate(text.trim_end().len());
    text
}
