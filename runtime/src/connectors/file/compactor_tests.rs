//! Merging staged files: when, what comes out, and after a crash at any point.

use std::path::PathBuf;
use std::sync::Arc;

use super::committable::StagedFile;
use super::sink::FileSink;
use crate::formats::{CsvFormat, Format};
use crate::options::Options;
use crate::sink::{CommitRequest, Committer, Compactor, Sink, SinkContext, SinkStart, SinkWriter, Staged};

#[derive(Clone, Debug, PartialEq, crate::codegen::Record)]
struct Row {
    day: i64,
    n: i64,
}

struct Fixture {
    folder: tempfile::TempDir,
    options: Options,
    first_checkpoint: u64,
    retained: u32,
}

impl Fixture {
    fn new(options: Options) -> Self {
        Fixture { folder: tempfile::tempdir().unwrap(), options, first_checkpoint: 1, retained: 1 }
    }

    fn sink<F: Format>(&self) -> FileSink<Row, F> {
        FileSink::from_options(&self.options.clone().with("path", self.out().to_str().unwrap())).unwrap()
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn context(&self) -> SinkContext {
        SinkContext {
            name: "rows".into(),
            uid: "sink/rows/file".into(),
            subtask: 0,
            parallelism: 1,
            run: "run".into(),
            first_checkpoint: self.first_checkpoint,
            retained: self.retained,
            checkpoints: None,
            replace: false,
        }
    }

    fn compactor(&self) -> Arc<dyn Compactor> {
        self.sink::<CsvFormat>().compactor(&self.context()).unwrap().unwrap()
    }

    /// A committer of an attempt that starts so, with everything that it does at the start.
    fn committer(&self, start: SinkStart, pending: &[Staged], waiting: &[Staged]) -> Box<dyn Committer> {
        let mut committer = self.sink::<CsvFormat>().committer(&self.context()).unwrap().unwrap();
        committer.start(&start).unwrap();
        commit(&mut *committer, pending);
        let waiting: Vec<_> = waiting.iter().map(|staged| staged.committable.clone()).collect();
        committer.discard_unknown(&start, &waiting).unwrap();
        committer
    }

    /// What a writer stages for a checkpoint.
    fn write(&self, checkpoint: u64, rows: &[(i64, i64)]) -> Vec<Staged> {
        let context = SinkContext { first_checkpoint: checkpoint, ..self.context() };
        let mut writer = self.sink::<CsvFormat>().writer(&context).unwrap();
        rows.iter().for_each(|&(day, n)| writer.write(Row { day, n }).unwrap());
        let made = writer.prepare_commit(checkpoint).unwrap();
        made.into_iter().map(|committable| Staged { checkpoint, subtask: 0, committable }).collect()
    }

    /// All visible files: path and content, unpacked.
    fn visible(&self) -> Vec<(String, String)> {
        let pattern = self.out().join("**/[!.]*.*").display().to_string();
        let mut found: Vec<_> = glob::glob(&pattern)
            .unwrap()
            .map(|path| {
                let path = path.unwrap();
                let bytes = std::fs::read(&path).unwrap();
                let mut text = String::new();
                if path.extension().is_some_and(|extension| extension == "gz") {
                    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut text).unwrap();
                } else {
                    text = String::from_utf8(bytes).unwrap();
                }
                (path.strip_prefix(self.out()).unwrap().display().to_string(), text)
            })
            .collect();
        found.sort();
        found
    }

    fn staged(&self) -> usize {
        let staging = std::fs::read_dir(self.out()).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
        let names = std::fs::read_dir(staging.unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != ".lock" && name != ".merged").count()
    }
}

fn commit(committer: &mut dyn Committer, staged: &[Staged]) {
    let mut requests: Vec<_> =
        staged.iter().map(|staged| CommitRequest::new(staged.checkpoint, 0, staged.committable.clone())).collect();
    committer.commit(&mut requests).unwrap();
}

/// The result of a merge in its place in a checkpoint.
fn seal(compactor: &dyn Compactor, results: Vec<Vec<u8>>, checkpoint: u64) -> Vec<Staged> {
    let sealed = results.into_iter().enumerate().map(|(number, result)| {
        let committable = compactor.seal(result, checkpoint, number as u64).unwrap();
        Staged { checkpoint, subtask: 0, committable }
    });
    sealed.collect()
}

fn pair(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

/// With headers, packed, and in folders: the header stands once, rows stay in their order and in their folder.
#[test]
fn files_of_a_folder_become_one() {
    for gzip in [false, true] {
        let compression = if gzip { "gzip" } else { "none" };
        let options =
            Options::new().with("compact_every", 2_i64).with_columns("partition", &["day"]).with_word("compression", compression);
        let fixture = Fixture::new(options);
        let mut committer = fixture.committer(SinkStart::Fresh, &[], &[]);
        let compactor = fixture.compactor();
        let first = fixture.write(1, &[(1, 10), (2, 20), (1, 11)]);
        let plan = compactor.plan(first.clone(), 1, false).unwrap();
        assert_eq!((plan.pass.len(), plan.merge.len(), plan.hold.len()), (0, 0, 2));
        let mut all = plan.hold;
        all.extend(fixture.write(2, &[(1, 12)]));
        let plan = compactor.plan(all, 2, false).unwrap();
        assert_eq!((plan.pass.len(), plan.merge.len(), plan.hold.len()), (1, 1, 0), "day 2 has one file only");
        let merged = compactor.merge(&plan.merge[0]).unwrap();
        assert_eq!(compactor.merge(&plan.merge[0]).unwrap().len(), merged.len(), "the inputs are still there");
        let sealed = seal(&*compactor, merged, 3);
        commit(&mut *committer, &plan.pass);
        commit(&mut *committer, &sealed);
        let extension = if gzip { "csv.gz" } else { "csv" };
        let expected = [
            pair(&format!("day=1/part-c-3-0.{extension}"), "day,n\n1,10\n1,11\n1,12\n"),
            pair(&format!("day=2/part-0-1-{}.{extension}", if first_is_day_1(&first) { 1 } else { 0 }), "day,n\n2,20\n"),
        ];
        assert_eq!(fixture.visible(), expected);
        committer.finish().unwrap();
        assert_eq!(std::fs::read_dir(fixture.out()).unwrap().count(), 2, "nothing is left but the folders");
    }
}

fn first_is_day_1(staged: &[Staged]) -> bool {
    StagedFile::decode(&staged[0].committable).unwrap().target.starts_with("day=1")
}

#[test]
fn size_and_the_end_fire_too() {
    let fixture = Fixture::new(Options::new().with_size("compact", 30));
    let _committer = fixture.committer(SinkStart::Fresh, &[], &[]);
    let compactor = fixture.compactor();
    let small = fixture.write(1, &[(1, 1)]);
    assert_eq!(compactor.plan(small.clone(), 1, false).unwrap().hold.len(), 1);
    assert_eq!(compactor.plan(small.clone(), 1, true).unwrap().pass.len(), 1, "alone at the end: as it is");
    let two: Vec<_> = small.into_iter().chain(fixture.write(2, &[(1, 2), (1, 3), (1, 4), (1, 5)])).collect();
    assert_eq!(compactor.plan(two.clone(), 2, false).unwrap().merge.len(), 1, "32 bytes together");
    let large = fixture.write(3, &[(1, 1_000_000_000), (1, 1_000_000_000)]);
    let plan = compactor.plan(two.into_iter().chain(large).collect(), 3, false).unwrap();
    assert_eq!((plan.pass.len(), plan.merge.len()), (1, 1), "a large file goes as it is");
    let ten = fixture.write(4, &[(1, 1)]);
    assert_eq!(compactor.plan(ten.clone(), 12, false).unwrap().hold.len(), 1);
    assert_eq!(compactor.plan(ten, 13, false).unwrap().pass.len(), 1, "however small, after ten checkpoints");
}

/// Killed at every step between the merge and the end of its commit; resumed twice from the same checkpoint each time.
#[test]
fn a_crash_at_any_step_of_a_merge_neither_loses_nor_doubles() {
    for step in 0..=4 {
        let mut fixture = Fixture::new(Options::new().with("compact_every", 2_i64));
        let mut committer = fixture.committer(SinkStart::Fresh, &[], &[]);
        let compactor = fixture.compactor();
        let inputs: Vec<_> = [fixture.write(1, &[(1, 1)]), fixture.write(2, &[(1, 2)])].concat();
        // Checkpoint 2 holds the inputs. From here on the process may die.
        let mut checkpoint = (2, inputs.clone(), Vec::new());
        if step >= 1 {
            let merged = compactor.merge(&inputs).unwrap();
            if step >= 2 {
                // Checkpoint 3 holds the result and no inputs.
                checkpoint = (3, Vec::new(), seal(&*compactor, merged, 3));
            }
            if step >= 3 {
                commit(&mut *committer, &checkpoint.2);
            }
            if step >= 4 {
                fixture.write(4, &[(1, 3)]);
            }
        }
        drop((committer, compactor));
        let (number, waiting, pending) = checkpoint;
        for _ in 0..2 {
            fixture.first_checkpoint = number + 1;
            let mut committer = fixture.committer(SinkStart::Resumed { checkpoint: number }, &pending, &waiting);
            if !waiting.is_empty() {
                let compactor = fixture.compactor();
                let results = seal(&*compactor, compactor.merge(&waiting).unwrap(), number + 1);
                commit(&mut *committer, &results);
                assert_eq!(fixture.visible(), [pair("part-c-3-0.csv", "day,n\n1,1\n1,2\n")], "step {step}");
                // The second time it is resumed from checkpoint 2 again: only possible where that is kept.
                break;
            }
            assert_eq!(fixture.visible(), [pair("part-c-3-0.csv", "day,n\n1,1\n1,2\n")], "step {step}");
            assert_eq!(fixture.staged(), 0, "step {step}: what is not wanted any more is gone");
        }
    }
}

/// Checkpoint 3 committed a merge and turned out to be damaged: 2 is kept, and with it the inputs.
#[test]
fn inputs_stay_as_long_as_a_kept_checkpoint_needs_them() {
    let mut fixture = Fixture::new(Options::new().with("compact_every", 2_i64));
    fixture.retained = 2;
    let mut committer = fixture.committer(SinkStart::Fresh, &[], &[]);
    let compactor = fixture.compactor();
    let inputs: Vec<_> = [fixture.write(1, &[(1, 1)]), fixture.write(2, &[(1, 2)])].concat();
    let sealed = seal(&*compactor, compactor.merge(&inputs).unwrap(), 3);
    commit(&mut *committer, &sealed);
    drop(committer);
    fixture.first_checkpoint = 4;
    let mut committer = fixture.committer(SinkStart::Resumed { checkpoint: 2 }, &[], &inputs);
    assert_eq!(fixture.visible(), [], "what 3 had committed goes");
    let compactor = fixture.compactor();
    let sealed = seal(&*compactor, compactor.merge(&inputs).unwrap(), 4);
    commit(&mut *committer, &sealed);
    assert_eq!(fixture.visible(), [pair("part-c-4-0.csv", "day,n\n1,1\n1,2\n")]);
    assert_eq!(fixture.staged(), 2);
    commit(&mut *committer, &fixture.write(5, &[(1, 3)]));
    assert_eq!(fixture.staged(), 0, "checkpoint 3 and older are gone now");
}

/// The same when the job was started again from newer checkpoints in between: these do not know the inputs, the older one does.
#[test]
fn a_start_from_a_newer_checkpoint_leaves_the_inputs_of_kept_ones_alone() {
    let mut fixture = Fixture::new(Options::new().with("compact_every", 2_i64));
    fixture.retained = 3;
    let mut committer = fixture.committer(SinkStart::Fresh, &[], &[]);
    let inputs: Vec<_> = [fixture.write(1, &[(1, 1)]), fixture.write(2, &[(1, 2)])].concat();
    let compactor = fixture.compactor();
    let sealed = seal(&*compactor, compactor.merge(&inputs).unwrap(), 3);
    commit(&mut *committer, &sealed);
    drop(committer);
    // Killed, and gone on from 3, which holds the result.
    fixture.first_checkpoint = 4;
    let mut committer = fixture.committer(SinkStart::Resumed { checkpoint: 3 }, &sealed, &[]);
    commit(&mut *committer, &fixture.write(4, &[(1, 3)]));
    drop(committer);
    // Once more, from 4, which knows nothing of it. 3 and 2 are kept.
    fixture.first_checkpoint = 5;
    drop(fixture.committer(SinkStart::Resumed { checkpoint: 4 }, &[], &[]));
    assert_eq!(fixture.visible().len(), 2);
    // 4 and 3 are damaged: from 2, which has the inputs waiting.
    fixture.first_checkpoint = 6;
    let mut committer = fixture.committer(SinkStart::Resumed { checkpoint: 2 }, &[], &inputs);
    assert_eq!(fixture.visible(), [], "what 3 and 4 had committed comes again");
    let compactor = fixture.compactor();
    let sealed = seal(&*compactor, compactor.merge(&inputs).unwrap(), 6);
    commit(&mut *committer, &sealed);
    assert_eq!(fixture.visible(), [pair("part-c-6-0.csv", "day,n\n1,1\n1,2\n")]);
    for checkpoint in 7..=8 {
        assert!(fixture.staged() >= 2, "2 is kept until {checkpoint}");
        commit(&mut *committer, &fixture.write(checkpoint, &[(1, 4)]));
    }
    assert_eq!(fixture.staged(), 0, "6 is the oldest that is kept");
}

/// A file that was committed by itself after the checkpoint that the job went back to is not merged again.
#[test]
fn a_file_that_is_visible_already_stays_as_it_is() {
    let fixture = Fixture::new(Options::new().with("compact_every", 2_i64));
    let mut committer = fixture.committer(SinkStart::Fresh, &[], &[]);
    let inputs: Vec<_> = [fixture.write(1, &[(1, 1)]), fixture.write(2, &[(1, 2)]), fixture.write(3, &[(1, 3)])].concat();
    commit(&mut *committer, &inputs[1..2]);
    let compactor = fixture.compactor();
    let sealed = seal(&*compactor, compactor.merge(&inputs).unwrap(), 4);
    commit(&mut *committer, &sealed);
    let rows: Vec<_> = fixture.visible().into_iter().map(|(_, text)| text).collect();
    assert_eq!(rows, ["day,n\n1,2\n", "day,n\n1,1\n1,3\n"]);
}
