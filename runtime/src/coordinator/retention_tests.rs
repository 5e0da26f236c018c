//! Checkpoints that build upon others: which files stay, whatever is removed, damaged or interrupted.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::Arc;

use proptest::prelude::*;

use super::savepoint::{remove_claimed, remove_leftovers};
use super::storage::CheckpointStore;
use crate::checkpoint::{DataFile, Manifest, Part, Piece, StateEntry, pieces, read, sample};
use crate::storage::faulty::{Faulty, Request};

const JOB: &str = "flight_delays";

/// A piece that puts the number of its checkpoint under it.
fn piece(checkpoint: u64, since: u64) -> StateEntry {
    let mut bytes = Vec::new();
    Piece { checkpoint, since, live: 1 }.table(&[], &mut bytes);
    pieces::write_table(&[], since == 0, &mut bytes);
    pieces::put(&[u8::try_from(checkpoint).unwrap()], &[1], &mut bytes);
    pieces::end(&mut bytes);
    pieces::end(&mut bytes);
    StateEntry { uid: "u".into(), state: "s".into(), schema: "int64".into(), subtask: 0, part: Part::Piece(3, bytes) }
}

/// Writes checkpoints that build upon each other.
struct Writer {
    store: CheckpointStore,
    chain: Vec<DataFile>,
    last: u64,
}

impl Writer {
    fn new(store: CheckpointStore) -> Self {
        Writer { store, chain: Vec::new(), last: 0 }
    }

    /// Writes the next one.
    async fn write(&mut self, anew: bool) -> u64 {
        if anew {
            self.chain.clear();
        }
        let since = if self.chain.is_empty() { 0 } else { self.last };
        self.last += 1;
        let manifest = Manifest { checkpoint: self.last, epoch: 0, files: self.chain.clone(), ..sample() };
        let item = StateEntry { part: Part::Item(vec![7; 3]), ..piece(1, 0) };
        let files = self.store.write(manifest, vec![piece(self.last, since), item].into()).await.unwrap().to_build_upon;
        assert_eq!(files.len(), 1, "the item is in another file");
        self.chain.extend(files.iter().map(|file| file.file.clone()));
        self.last
    }

    /// What is in a checkpoint: the ones it is made of.
    async fn made_of(&self, id: u64) -> Result<Vec<u64>, String> {
        let found = self.store.read(&crate::checkpoint::folder_of(id), JOB).await;
        let (entries, groups) = match found {
            Ok(Some(checkpoint)) => (checkpoint.entries, checkpoint.groups),
            Ok(None) => return Err("it is not there".to_owned()),
            Err(super::storage::ReadError::Damaged(reason)) => return Err(reason),
            Err(_) => return Err("it cannot be read".to_owned()),
        };
        assert!(entries.iter().any(|entry| entry.part == Part::Item(vec![7; 3])));
        let group = groups.iter().find(|group| group.group == 3).unwrap().bytes.read().unwrap();
        Ok(group.unwrap()[1..].chunks(2).map(|entry| u64::from(entry[0])).collect())
    }
}

fn on(faulty: &Arc<Faulty>) -> CheckpointStore {
    CheckpointStore::reader(faulty.clone(), "memory".into())
}

#[derive(Clone, Debug)]
enum Step {
    Write {
        anew: bool,
        retain: usize,
    },
    /// The same, and a removal of some of it fails.
    Fail {
        retain: usize,
        name: &'static str,
    },
    /// A manifest cannot be read for a while.
    Hide {
        back: u64,
    },
    /// Another process, which knows nothing yet.
    Anew,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is kept can be read, whatever is not needed goes.
    #[test]
    fn what_is_whole_can_be_read(steps in prop::collection::vec(prop_oneof![
        6 => (any::<bool>(), any::<bool>(), 1..4usize).prop_map(|(a, b, retain)| Step::Write { anew: a && b, retain }),
        2 => (1..4usize, prop::sample::select(vec!["manifest.json", "0000.state", "0001.state"]))
            .prop_map(|(retain, name)| Step::Fail { retain, name }),
        1 => (0..4u64).prop_map(|back| Step::Hide { back }),
        1 => Just(Step::Anew),
    ], 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let faulty = Arc::new(Faulty::default());
            let mut writer = Writer::new(on(&faulty));
            let mut begins = Vec::new();
            for step in steps {
                match step {
                    Step::Write { anew, retain } => {
                        let id = writer.write(anew).await;
                        begins.push(if writer.chain.len() == 1 { id } else { *begins.last().unwrap() });
                        let _ = writer.store.retain(id, retain).await;
                        faulty.mend();
                    }
                    Step::Fail { retain, name } => {
                        let id = writer.write(false).await;
                        begins.push(if writer.chain.len() == 1 { id } else { *begins.last().unwrap() });
                        faulty.fail(Request::Delete, name, ErrorKind::TimedOut, 1);
                        let _ = writer.store.retain(id, retain).await;
                        faulty.mend();
                    }
                    Step::Hide { back } => {
                        let name = format!("{:06}/manifest.json", writer.last.saturating_sub(back));
                        faulty.fail(Request::Get, &name, ErrorKind::PermissionDenied, u32::MAX);
                    }
                    Step::Anew => writer.store = on(&faulty),
                }
                if matches!(step, Step::Hide { .. } | Step::Anew) {
                    continue;
                }
                for id in 1..=writer.last {
                    match writer.made_of(id).await {
                        Ok(made_of) => assert_eq!(made_of, (begins[id as usize - 1]..=id).collect::<Vec<_>>()),
                        Err(reason) => assert!(id < writer.last && reason == "it is not there", "{id}: {reason}"),
                    }
                }
            }
            // With nothing in the way there is no more than is needed.
            faulty.mend();
            let id = writer.write(false).await;
            begins.push(if writer.chain.len() == 1 { id } else { *begins.last().unwrap() });
            writer.store.retain(id, 1).await.unwrap();
            let ids = writer.store.ids().await.unwrap();
            assert_eq!(ids, (begins[id as usize - 1]..=id).collect::<Vec<_>>());
            // And it is whole until its manifest goes, which is before everything else.
            faulty.fail(Request::Delete, "0000.state", ErrorKind::TimedOut, 1);
            assert!(writer.store.clear().await.is_err());
            assert_eq!(writer.made_of(id).await.unwrap_err(), "it is not there");
            faulty.mend();
            faulty.fail(Request::Delete, "manifest.json", ErrorKind::TimedOut, u32::MAX);
            let id = writer.write(true).await;
            let id = id.max(writer.write(false).await);
            assert!(writer.store.clear().await.is_err());
            assert_eq!(writer.made_of(id).await.unwrap(), [id - 1, id]);
            faulty.mend();
            writer.store.clear().await.unwrap();
            assert_eq!(writer.store.ids().await.unwrap(), [0; 0]);
        });
    }
}

#[tokio::test]
async fn a_damaged_base_is_reported_and_what_does_not_build_upon_it_is_used() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap());
    for anew in [true, true, false, false] {
        writer.write(anew).await;
    }
    let file = |id: u64| directory.path().join(format!("checkpoint-{id:06}/0000-1.state"));
    let (manifest, entries) = read(&directory.path().join("checkpoint-000004")).unwrap();
    assert_eq!((manifest.files.len(), entries.len()), (4, 2));
    let mut bytes = std::fs::read(file(2)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(file(2), bytes).unwrap();
    let found = writer.store.latest(JOB).await.unwrap();
    assert_eq!(found.checkpoint.unwrap().manifest.checkpoint, 1);
    let said = found.warnings.join("\n");
    for id in [3, 4] {
        let line =
            format!("checkpoint-000002/0000-1.state`, on which `checkpoint-{id:06}` builds, is damaged: its checksum is wrong");
        assert!(said.contains(&line), "{said}");
    }
    let error = read(&directory.path().join("checkpoint-000004")).unwrap_err();
    assert!(format!("{error:?}").contains("checkpoint-000002"), "{error:?}");
    std::fs::remove_file(file(3)).unwrap();
    let found = writer.store.latest(JOB).await.unwrap();
    assert!(found.warnings[0].contains("is damaged") || found.warnings[0].contains("is missing"), "{:?}", found.warnings);
}

#[tokio::test]
async fn a_claimed_checkpoint_goes_with_what_only_it_needs() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap());
    for anew in [true, false, false, true] {
        writer.write(anew).await;
    }
    writer.store.retain(4, 2).await.unwrap();
    let folders = || -> BTreeSet<String> {
        let names = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("checkpoint-")).collect()
    };
    assert_eq!(folders().len(), 4, "3 needs 1 and 2");
    let claim = |id: u64| directory.path().join(format!("checkpoint-{id:06}"));
    remove_claimed(&claim(3)).await.unwrap();
    assert_eq!(folders(), BTreeSet::from(["checkpoint-000004".to_owned()]));
    writer.write(false).await;
    remove_claimed(&claim(4)).await.unwrap();
    assert_eq!(writer.made_of(5).await.unwrap(), [4, 5], "it needs what the claimed one had");
    remove_claimed(&claim(5)).await.unwrap();
    assert_eq!(folders(), BTreeSet::new());
    remove_claimed(&claim(5)).await.unwrap();
}

/// As if the process that had taken checkpoint 3 over was killed when it had removed the manifest.
#[tokio::test]
async fn what_is_left_of_a_claimed_checkpoint_goes_unless_somebody_is_there() {
    let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let own = CheckpointStore::open(elsewhere.path().to_str().unwrap()).await.unwrap();
    let mut writer = Writer::new(CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap());
    for anew in [true, false, false] {
        writer.write(anew).await;
    }
    writer.store.retain(3, 1).await.unwrap();
    let claimed = directory.path().canonicalize().unwrap().join("checkpoint-000003");
    std::fs::remove_file(claimed.join("manifest.json")).unwrap();
    let folders = || {
        let names = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("checkpoint-")).count()
    };
    assert_eq!(folders(), 3, "3 needs 1 and 2");
    let error = remove_leftovers(&claimed, &own).await.unwrap_err();
    assert!(error.message().contains("checkpoint directory"), "{error}");
    assert_eq!(folders(), 3, "its job may be about to write it anew");
    writer.store.release().await;
    drop(writer);
    remove_leftovers(&claimed, &own).await.unwrap();
    assert_eq!(folders(), 0);
    remove_leftovers(&claimed, &own).await.unwrap();

    // The job has begun again, and has come to the same number.
    let mut writer = Writer::new(CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap());
    writer.write(true).await;
    writer.store.release().await;
    drop(writer);
    remove_leftovers(&directory.path().canonicalize().unwrap().join("checkpoint-000001"), &own).await.unwrap();
    assert_eq!(folders(), 1, "it is whole");
}

/// What a process that was killed was writing in a folder whose files others need.
#[tokio::test]
async fn what_was_not_written_to_its_end_goes_with_what_nobody_needs() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(CheckpointStore::open(directory.path().to_str().unwrap()).await.unwrap());
    writer.write(true).await;
    let begun = directory.path().join("checkpoint-000001/manifest.json#1");
    std::fs::write(&begun, "{").unwrap();
    writer.write(false).await;
    writer.store.retain(2, 1).await.unwrap();
    assert!(!begun.exists() && directory.path().join("checkpoint-000001").exists());
}
