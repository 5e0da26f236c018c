//! Committing: again after a crash at any point, over what exists, beside dead runs, and where it cannot work.

use std::path::{Path, PathBuf};

use super::committable::StagedFile;
use super::committer::FileCommitter;
use super::sink::{Existing, FileSink};
use crate::formats::JsonFormat;
use crate::sink::{CommitOutcome, CommitRequest, Committer, Sink, SinkContext, SinkStart, SinkWriter};

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Fixture { folder: tempfile::tempdir().unwrap() }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn staging(&self) -> PathBuf {
        self.out().join(".millstream-run-1")
    }

    fn committer(&self, existing: Existing) -> FileCommitter {
        FileCommitter::new(self.out(), self.staging(), "part-".to_owned(), existing, 1, "/own/checkpoints".to_owned())
    }

    fn fresh(&self, existing: Existing) -> Result<FileCommitter, String> {
        let mut committer = self.committer(existing);
        let start = SinkStart::Fresh;
        let started = committer.start(&start).and_then(|()| committer.discard_unknown(&start, &[]));
        started.map_err(|error| error.message().to_owned())?;
        Ok(committer)
    }

    /// What a resumed process does with these.
    fn resume(&self, checkpoint: u64, pending: &[(u64, &StagedFile)]) -> Result<(), String> {
        let mut committer = self.committer(Existing::Fail);
        let pending: Vec<_> = pending.iter().map(|(checkpoint, file)| (*checkpoint, file.encode())).collect();
        resume(&mut committer, checkpoint, &pending).map_err(|error| error.message().to_owned())
    }

    fn stage(&self, temporary: &str, target: &str, text: &str) -> StagedFile {
        std::fs::write(self.staging().join(temporary), text).unwrap();
        StagedFile { temporary: temporary.into(), target: target.into(), size: text.len() as u64, inputs: Vec::new() }
    }

    /// Everything that is not hidden: path and content.
    fn visible(&self) -> Vec<(String, String)> {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.file_name().unwrap().to_string_lossy().starts_with('.') {
                } else if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    found.push((name, std::fs::read_to_string(&path).unwrap()));
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.out(), &self.out(), &mut found);
        found.sort();
        found
    }
}

/// What the engine does with a committer when it resumes.
fn resume(committer: &mut dyn Committer, checkpoint: u64, pending: &[(u64, Vec<u8>)]) -> crate::JobResult<()> {
    let start = SinkStart::Resumed { checkpoint };
    committer.start(&start)?;
    for (checkpoint, bytes) in pending {
        commit(committer, *checkpoint, std::slice::from_ref(bytes))?;
    }
    committer.discard_unknown(&start, &[])
}

/// The outcomes.
fn commit(committer: &mut dyn Committer, checkpoint: u64, committables: &[Vec<u8>]) -> crate::JobResult<Vec<CommitOutcome>> {
    let mut requests: Vec<_> = committables.iter().map(|bytes| CommitRequest::new(checkpoint, 0, bytes.clone())).collect();
    committer.commit(&mut requests)?;
    Ok(requests.iter().map(|request| request.outcome().clone()).collect())
}

fn pair(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

/// C59: whatever a crash has left of a commit, the next start completes it, once.
#[test]
fn a_commit_that_was_cut_short_is_completed() {
    for committed_before in 0..=3 {
        for starts in 1..=2 {
            let fixture = Fixture::new();
            fixture.fresh(Existing::Fail).unwrap();
            let files: Vec<_> = (0..3)
                .map(|number| fixture.stage(&format!(".part-{number}"), &format!("dt={number}/part-0-1-{number}.json"), "x"))
                .collect();
            fixture.stage(".part-0-9.json", "", "rows behind the checkpoint");
            let mut dead = fixture.committer(Existing::Fail);
            for file in &files[..committed_before] {
                commit(&mut dead, 1, &[file.encode()]).unwrap();
            }
            drop(dead);
            let pending: Vec<_> = files.iter().map(|file| (1, file)).collect();
            for _ in 0..starts {
                fixture.resume(1, &pending).unwrap();
            }
            let expected: Vec<_> = (0..3).map(|number| pair(&format!("dt={number}/part-0-1-{number}.json"), "x")).collect();
            assert_eq!(fixture.visible(), expected, "{committed_before} committed before, {starts} starts");
            assert!(!fixture.staging().join(".part-0-9.json").exists(), "it comes again");
        }
    }
}

/// C59: a committed file that somebody has taken away is not made up for in silence, and does not stop the job.
#[test]
fn a_committed_file_that_is_gone_stays_gone() {
    let fixture = Fixture::new();
    let mut committer = fixture.fresh(Existing::Fail).unwrap();
    let file = fixture.stage(".part-0", "part-0-1-0.json", "x");
    commit(&mut committer, 1, &[file.encode()]).unwrap();
    std::fs::remove_file(fixture.out().join("part-0-1-0.json")).unwrap();
    drop(committer);
    fixture.resume(1, &[(1, &file)]).unwrap();
    assert_eq!(fixture.visible(), []);
}

/// The newest checkpoint was damaged: what it had committed comes again, so it goes.
#[test]
fn an_older_checkpoint_takes_back_what_later_ones_committed() {
    let fixture = Fixture::new();
    let mut committer = fixture.fresh(Existing::Fail).unwrap();
    for checkpoint in 1..=3 {
        let file = fixture.stage(".part-0", &format!("part-0-{checkpoint}-0.json"), "x");
        commit(&mut committer, checkpoint, &[file.encode()]).unwrap();
    }
    std::fs::write(fixture.out().join("notes.txt"), "not ours").unwrap();
    drop(committer);
    fixture.resume(1, &[]).unwrap();
    assert_eq!(fixture.visible(), [pair("notes.txt", "not ours"), pair("part-0-1-0.json", "x")]);
}

#[test]
fn two_sinks_on_one_folder_do_not_overwrite_each_other() {
    let fixture = Fixture::new();
    let mut committer = fixture.fresh(Existing::Fail).unwrap();
    let file = fixture.stage(".part-0", "part-0-1-0.json", "x");
    std::fs::write(fixture.out().join("part-0-1-0.json"), "other").unwrap();
    let error = commit(&mut committer, 1, &[file.encode()]).unwrap_err();
    assert!(error.message().contains("do two sinks write to this folder?"), "{error}");
    assert_eq!(fixture.visible(), [pair("part-0-1-0.json", "other")]);
}

#[test]
fn what_exists_is_refused_kept_or_replaced() {
    let fixture = Fixture::new();
    std::fs::create_dir_all(fixture.out().join("dt=1/hm=2")).unwrap();
    std::fs::write(fixture.out().join("dt=1/hm=2/part-0-1-0.json"), "old").unwrap();
    let refused = fixture.fresh(Existing::Fail).unwrap_err();
    assert!(refused.contains("already holds files") && refused.contains("--replace"), "{refused}");
    assert!(!fixture.staging().exists(), "a run that does not begin leaves nothing");
    fixture.fresh(Existing::Append).unwrap();
    assert_eq!(fixture.visible().len(), 1);
    std::fs::write(fixture.out().join("notes.txt"), "not ours").unwrap();
    fixture.fresh(Existing::Replace).unwrap();
    assert_eq!(fixture.visible(), [pair("notes.txt", "not ours")], "only what a run has written is replaced");
    assert!(!fixture.out().join("dt=1").exists());
}

#[test]
fn leftovers_of_dead_runs_go_and_living_runs_are_left_alone() {
    let fixture = Fixture::new();
    let left = |name: &str, owner: &str| {
        let folder = fixture.out().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(".part-0-0.json"), "half").unwrap();
        std::fs::write(folder.join(".lock"), owner).unwrap();
        folder
    };
    let (dead, before, alive) =
        (left(".millstream-dead-1", ""), left(".millstream-before-1", "/own/checkpoints"), left(".millstream-alive-1", ""));
    // These can be gone on with: another job, and another sink of this one.
    let down = [left(".millstream-down-1", "/other/checkpoints"), left(".millstream-before-2", "/own/checkpoints")];
    let lock = std::fs::File::open(alive.join(".lock")).unwrap();
    lock.try_lock().unwrap();
    // A run that goes on has nothing to begin anew.
    std::fs::create_dir_all(fixture.staging()).unwrap();
    fixture.resume(1, &[]).unwrap();
    assert!(before.exists() && dead.exists());
    let mut committer = fixture.fresh(Existing::Fail).unwrap();
    assert!(!dead.exists() && !before.exists());
    assert!(down.iter().chain([&alive]).all(|folder| folder.join(".part-0-0.json").exists()));
    committer.finish().unwrap();
    drop(committer);
    assert!(!fixture.staging().exists());
    drop(fixture.fresh(Existing::Replace).unwrap());
    assert!(!down[0].exists() && !down[1].exists() && alive.exists());
}

/// A job that goes on from a savepoint of one that runs would take back what that one has written.
#[test]
fn a_run_that_another_process_goes_on_with_is_left_alone() {
    let fixture = Fixture::new();
    let mut running = fixture.fresh(Existing::Fail).unwrap();
    let file = fixture.stage(".part-0", "part-0-7-0.json", "x");
    commit(&mut running, 7, &[file.encode()]).unwrap();
    let refused = fixture.resume(1, &[]).unwrap_err();
    assert!(refused.contains("another process writes to the output folder") && refused.contains("stop it first"), "{refused}");
    assert_eq!(fixture.visible(), [pair("part-0-7-0.json", "x")]);
    drop(running);
    fixture.resume(1, &[]).unwrap();
    assert_eq!(fixture.visible(), []);
}

/// C62
#[test]
fn folders_that_cannot_be_written_are_refused_at_the_start() {
    let fixture = Fixture::new();
    std::os::unix::fs::symlink("/nonexistent/place", fixture.out()).unwrap();
    let error = fixture.fresh(Existing::Fail).unwrap_err();
    assert!(error.contains("is a link to `/nonexistent/place`, which is not there"), "{error}");
    let fixture = Fixture::new();
    std::fs::write(fixture.out(), "").unwrap();
    assert!(fixture.fresh(Existing::Fail).unwrap_err().ends_with("is a file"));
}

#[derive(Clone, Debug, PartialEq, crate::codegen::Record)]
struct Row {
    n: i64,
}

fn context(first_checkpoint: u64) -> SinkContext {
    SinkContext {
        name: "rows".into(),
        uid: "sink/rows/file".into(),
        subtask: 0,
        parallelism: 1,
        run: "run".into(),
        first_checkpoint,
        retained: 1,
        checkpoints: None,
        replace: false,
    }
}

/// Also when the files are smaller than what a writer keeps in memory.
#[test]
fn a_file_of_the_size_to_roll_at_is_closed() {
    let fixture = Fixture::new();
    let options = crate::options::Options::new().with("path", fixture.out().to_str().unwrap()).with("roll_size", 10_i64);
    let sink = FileSink::<Row, JsonFormat>::from_options(&options).unwrap();
    let mut committer = sink.committer(&context(1)).unwrap().unwrap();
    committer.start(&SinkStart::Fresh).unwrap();
    let mut writer = sink.writer(&context(1)).unwrap();
    for n in 0..5 {
        writer.write(Row { n }).unwrap();
    }
    commit(&mut *committer, 1, &writer.prepare_commit(1).unwrap()).unwrap();
    let rows = |from: u32, to: u32| (from..to).map(|n| format!("{{\"n\":{n}}}\n")).collect::<String>();
    let expected = [(0, 2), (2, 4), (4, 5)].map(|(from, to)| pair(&format!("part-0-1-{}.json", from / 2), &rows(from, to)));
    assert_eq!(fixture.visible(), expected, "two rows of 8 bytes each reach it");
}

/// Killed after a resume, and resumed from the same checkpoint again: what the second process had staged is not taken for
/// what the first one had committed.
#[test]
fn a_resumed_writer_stages_under_names_of_its_own() {
    let fixture = Fixture::new();
    let options = crate::options::Options::new().with("path", fixture.out().to_str().unwrap());
    let sink = FileSink::<Row, JsonFormat>::from_options(&options).unwrap();
    let mut committer = sink.committer(&context(1)).unwrap().unwrap();
    committer.start(&SinkStart::Fresh).unwrap();
    let mut writer = sink.writer(&context(1)).unwrap();
    writer.write(Row { n: 1 }).unwrap();
    let committables = writer.prepare_commit(1).unwrap();
    commit(&mut *committer, 1, &committables).unwrap();
    drop((committer, writer));

    let pending: Vec<_> = committables.into_iter().map(|bytes| (1, bytes)).collect();
    let mut second = sink.committer(&context(2)).unwrap().unwrap();
    resume(&mut *second, 1, &pending).unwrap();
    let mut writer = sink.writer(&context(2)).unwrap();
    writer.write(Row { n: 2 }).unwrap();
    drop((second, writer));

    let mut third = sink.committer(&context(2)).unwrap().unwrap();
    resume(&mut *third, 1, &pending).unwrap();
    assert_eq!(fixture.visible(), [pair("part-0-1-0.json", "{\"n\":1}\n")]);
}
