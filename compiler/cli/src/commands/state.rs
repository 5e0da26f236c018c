//! `millstream state ls|show`: looks into checkpoints: which operators have state, how much, of which types, and its values.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use millstream_runtime::checkpoint::{
    Cursor, Damaged, Layout, Listed, MANIFEST, Manifest, Part, ReadError, StateEntry, TimeKind, any_number_of, list, read, value,
};

use crate::console::Console;
use crate::remote;

const EXAMPLES: &str = "Examples:
  millstream state ls checkpoints                                     the checkpoints, and what is in the newest
  millstream state ls backup/savepoint-delays-000012                  what is in a savepoint
  millstream state show checkpoints delays/aggregate/0                the values of an operator
  millstream state show checkpoints delays/aggregate/0 --key AA       the values of one key";

/// Look into checkpoints
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List operators, the sizes of their state, and its types
    Ls {
        /// A directory of checkpoints or savepoints, or one of them; also `s3://bucket/path`
        #[arg(value_name = "CHECKPOINT")]
        path: PathBuf,
    },
    /// Show stored values
    Show {
        /// A directory of checkpoints or savepoints (the newest is shown), or one of them; also `s3://bucket/path`
        #[arg(value_name = "CHECKPOINT")]
        path: PathBuf,
        /// The operator, as `state ls` names it; all if it is left out
        #[arg(value_name = "OPERATOR")]
        operator: Option<String>,
        /// Only this key, as it is shown
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
        /// At most so many values of each state
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
    },
}

/// Runs the command.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let path = match &args.action {
        Action::Ls { path } | Action::Show { path, .. } => path,
    };
    if !remote::is_remote(path) {
        return match look(&args.action, path) {
            Ok(text) => {
                console.print(text);
                ExitCode::SUCCESS
            }
            Err(reason) => console.fail(reason),
        };
    }
    let copied = match remote::Copied::of(&path.to_string_lossy(), console) {
        Ok(copied) => copied,
        Err(reason) => return console.fail(reason),
    };
    match look(&args.action, &copied.path()) {
        Ok(text) => {
            console.print(copied.named(&text));
            ExitCode::SUCCESS
        }
        Err(reason) => console.fail(copied.named(&reason)),
    }
}

/// What is there, or why that cannot be said.
fn look(action: &Action, path: &Path) -> Result<String, String> {
    let (listed, folder) = newest(path)?;
    let (manifest, entries) = read(&folder).map_err(|error| reason(&folder, &error))?;
    match action {
        Action::Ls { .. } => {
            let others = if listed.len() > 1 { checkpoints(&listed) } else { String::new() };
            Ok(others + &operators(&folder, &manifest, &entries))
        }
        Action::Show { operator, key, limit, .. } => {
            let wanted = |entry: &&StateEntry| operator.as_ref().is_none_or(|operator| entry.uid == *operator);
            let chosen: Vec<&StateEntry> = entries.iter().filter(wanted).collect();
            if chosen.is_empty()
                && let Some(operator) = operator
            {
                let names: std::collections::BTreeSet<&str> = entries.iter().map(|entry| entry.uid.as_str()).collect();
                let names: Vec<&str> = names.into_iter().collect();
                let known =
                    if names.is_empty() { "it has no state at all".to_owned() } else { format!("it has {}", names.join(", ")) };
                return Err(format!("{} has no state of `{operator}`; {known}", folder.display()));
            }
            values(&chosen, key.as_deref(), *limit)
        }
    }
}

/// The checkpoints beside the one that is meant, and its folder: the path itself or the newest whole one in it.
fn newest(path: &Path) -> Result<(Vec<Listed>, PathBuf), String> {
    // One that was moved may be called anything; one that never completed has only its name.
    let is_named = path.file_name().and_then(|name| name.to_str()).and_then(any_number_of).is_some();
    if path.join(MANIFEST).is_file() || (is_named && path.is_dir()) {
        return Ok((Vec::new(), path.to_path_buf()));
    }
    let listed = list(path).map_err(|error| format!("cannot read the directory `{}`: {error}", path.display()))?;
    match listed.iter().find(|checkpoint| checkpoint.manifest.is_ok()).or(listed.first()) {
        Some(checkpoint) => {
            let folder = checkpoint.folder.clone();
            Ok((listed, folder))
        }
        None => Err(format!(
            "there is no checkpoint in `{}`; a job that has ended well removes its checkpoints, one that was stopped or killed keeps them",
            path.display()
        )),
    }
}

fn reason(folder: &Path, error: &ReadError) -> String {
    match error {
        ReadError::Incomplete => format!("the checkpoint `{}` has no manifest: it never completed", folder.display()),
        ReadError::Damaged(reason) => reason.clone(),
        ReadError::Newer(version) => {
            format!("the checkpoint `{}` was written by a newer version (format {version})", folder.display())
        }
    }
}

fn checkpoints(listed: &[Listed]) -> String {
    let mut out = String::new();
    for checkpoint in listed {
        let what = match &checkpoint.manifest {
            Ok(manifest) => size(manifest.files.iter().map(|file| file.size).sum()),
            Err(ReadError::Incomplete) => "incomplete".to_owned(),
            Err(ReadError::Damaged(_)) => "damaged".to_owned(),
            Err(ReadError::Newer(version)) => format!("of a newer version (format {version})"),
        };
        let _ = write!(out, "{:>8}  {what:>10}  {}", checkpoint.id, checkpoint.folder.display());
        if let Ok(manifest) = &checkpoint.manifest
            && manifest.files.iter().any(|file| file.of.is_some())
        {
            let own = manifest.files.iter().filter(|file| file.of.is_none()).map(|file| file.size).sum();
            let _ = write!(out, "  ({} of its own)", size(own));
        }
        out.push('\n');
    }
    out.push('\n');
    out
}

/// What is kept of one state.
#[derive(Default)]
struct Sum {
    bytes: usize,
    groups: usize,
    items: usize,
    values: Option<u64>,
    schema: String,
}

fn operators(folder: &Path, manifest: &Manifest, entries: &[StateEntry]) -> String {
    let mut out = format!("{}: job {}, checkpoint {}\n", folder.display(), manifest.job, manifest.checkpoint);
    let mut states: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
    for entry in entries {
        let sum = states.entry((&entry.uid, &entry.state)).or_default();
        sum.bytes += entry.part.bytes().len();
        match entry.part {
            Part::Group(..) => sum.groups += 1,
            // A piece is not in what was read.
            Part::Item(_) | Part::Union(_) | Part::Copy(_) | Part::Piece(..) => sum.items += 1,
        }
        sum.schema.clone_from(&entry.schema);
        if let (Some(layout), Part::Group(_, bytes)) = (Layout::parse(&entry.schema), &entry.part) {
            let mut count = 0;
            if each(&layout, bytes, &mut |_, _, _| count += 1).is_ok() {
                *sum.values.get_or_insert(0) += count;
            }
        }
    }
    let kept_by = manifest.kept_by.as_deref().unwrap_or_default();
    for ((uid, state), sum) in states {
        let parts = match (sum.groups, sum.items) {
            (0, 1) => "1 item".to_owned(),
            (0, items) => format!("{items} items"),
            (groups, _) => format!("{groups} key groups"),
        };
        let values = sum.values.map_or(String::new(), |values| format!(", {values} values"));
        let _ = writeln!(out, "\n{uid}  {}\n  {}, {parts}{values}", name(state), size(sum.bytes as u64));
        // What belongs to no key group may belong to no key.
        if let Some(kept) = kept_by.iter().find(|kept| kept.uid == uid && sum.groups > 0) {
            let _ = writeln!(out, "  kept by {kept}");
        }
        if let Some(layout) = Layout::parse(&sum.schema) {
            let _ = writeln!(out, "  {layout}");
        }
    }
    out
}

/// States of the engine itself begin with `#`.
fn name(state: &str) -> &str {
    state.trim_start_matches('#')
}

fn values(entries: &[&StateEntry], key: Option<&str>, limit: usize) -> Result<String, String> {
    let mut out = String::new();
    let mut shown: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut found = false;
    for entry in entries {
        let Some(layout) = Layout::parse(&entry.schema) else { continue };
        let known = shown.contains_key(&(entry.uid.as_str(), entry.state.as_str()));
        let count = shown.entry((&entry.uid, &entry.state)).or_insert(0);
        if *count == 0 {
            let _ = writeln!(out, "{}  {}", entry.uid, name(&entry.state));
        }
        let (place, bytes) = match &entry.part {
            Part::Group(group, bytes) => (format!("key group {group}"), bytes),
            // All subtasks have the same.
            Part::Copy(_) if known => continue,
            Part::Piece(..) => continue,
            Part::Copy(bytes) => ("every subtask".to_owned(), bytes),
            // A list has no keys.
            Part::Item(_) | Part::Union(_) if key.is_some() => continue,
            Part::Item(bytes) | Part::Union(bytes) => {
                let shown = value(&mut Cursor::new(bytes), &layout)
                    .map_err(|_| format!("an item of {} {} is damaged", entry.uid, name(&entry.state)))?;
                *count += 1;
                if *count <= limit {
                    let _ = writeln!(out, "  subtask {}: {shown}", entry.subtask);
                }
                continue;
            }
        };
        let mut lines = String::new();
        each(&layout, bytes, &mut |place, this, value| {
            let wanted = key.is_none_or(|key| this == key || this.trim_matches('"') == key || this == format!("({key})"));
            if wanted {
                found = true;
                *count += 1;
                if *count <= limit {
                    let _ = writeln!(lines, "  {place}{this} -> {value}");
                }
            }
        })
        .map_err(|_| format!("{place} of {} {} is damaged", entry.uid, name(&entry.state)))?;
        out.push_str(&lines);
    }
    for ((uid, state), count) in shown {
        if count > limit {
            let _ = writeln!(out, "{uid}  {}: {} more (--limit)", name(state), count - limit);
        }
    }
    match key {
        Some(key) if !found => Err(format!("no state has the key {key}; keys are written as `millstream state show` shows them")),
        _ => Ok(out),
    }
}

/// Calls `take` with each entry of the maps in a keyed state: where it is (the window), its key, its value.
fn each(layout: &Layout, bytes: &[u8], take: &mut dyn FnMut(&str, &str, &str)) -> Result<(), Damaged> {
    let mut cursor = Cursor::new(bytes);
    within(layout, &mut cursor, "", take)
}

fn within(layout: &Layout, cursor: &mut Cursor<'_>, place: &str, take: &mut dyn FnMut(&str, &str, &str)) -> Result<(), Damaged> {
    match layout {
        Layout::Map(key, inner) => {
            for _ in 0..cursor.count(key)? {
                let key = value(cursor, key)?;
                let inner = value(cursor, inner)?;
                take(place, &key, &inner);
            }
        }
        Layout::Struct { fields, .. } => {
            for (_, field) in fields {
                within(field, cursor, place, take)?;
            }
        }
        // The panes of windows: a time, and what belongs to it.
        Layout::List(inner) => match &**inner {
            Layout::Tuple(items) if matches!(items.as_slice(), [Layout::Signed(64), Layout::Map(..)]) => {
                for _ in 0..cursor.count(inner)? {
                    let start = value(cursor, &Layout::Time(TimeKind::Timestamp))?;
                    within(&items[1], cursor, &format!("{start}  "), take)?;
                }
            }
            _ => drop(cursor.skip(layout)?),
        },
        other => drop(cursor.skip(other)?),
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "a size for people")]
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(state: &str, schema: &str, subtask: u32, part: Part) -> StateEntry {
        StateEntry { uid: "scores/process/0".into(), state: state.into(), schema: schema.into(), subtask, part }
    }

    /// Of a process: the state of a key with its timers, what may go by itself, and what goes with no key.
    #[test]
    fn the_state_of_a_process_is_shown() {
        let of_key = "keyed{watermark:int64,entries:map<string,process{state:{count:uint64,last:expiring{value:int64,until:timestamp?}?}?,\
                      touched:timestamp,event_timers:list<timestamp>,clock_timers:list<timestamp>}>}";
        // Watermark, one entry: "AA" -> count 3, last 5 until 1 s, touched 0, one timer at 2 s, none of the clock.
        let mut bytes = vec![0, 1, 2, b'A', b'A', 1, 3, 1, 10, 1];
        bytes.extend([0x80, 0x89, 0x7a, 0, 1, 0x80, 0x92, 0xf4, 0x01, 0]);
        let entries = [
            entry("keys", of_key, 0, Part::Group(3, bytes)),
            entry("shared.sent", "string", 1, Part::Item(vec![1, b'x'])),
            entry("shared.owned", "int64", 1, Part::Union(vec![4])),
            entry("shared.rules", "map<int64,bool>", 0, Part::Copy(vec![1, 14, 1])),
            entry("shared.rules", "map<int64,bool>", 1, Part::Copy(vec![1, 14, 1])),
        ];
        let entries: Vec<&StateEntry> = entries.iter().collect();
        let of_aa = "scores/process/0  keys\n  \"AA\" -> process { state: { count: 3, last: 5 until 1970-01-01T00:00:01Z }, \
                     touched: 1970-01-01T00:00:00Z, event_timers: [1970-01-01T00:00:02Z], clock_timers: [] }\n";
        let rest = "scores/process/0  shared.sent\n  subtask 1: \"x\"\nscores/process/0  shared.owned\n  subtask 1: 2\n\
                    scores/process/0  shared.rules\n  7 -> true\n";
        assert_eq!(values(&entries, None, 100).unwrap(), format!("{of_aa}{rest}"));
        let of_key = values(&entries, Some("AA"), 100).unwrap();
        assert!(of_key.starts_with(of_aa) && !of_key.contains("subtask 1"), "{of_key}");
        assert!(values(&entries, Some("BB"), 100).unwrap_err().contains("no state has the key BB"));
    }
}
