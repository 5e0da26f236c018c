//! Chains that are compacted: what is read behind that, whatever fails in the middle.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures_util::StreamExt;
use object_store::{ObjectStore, ObjectStoreExt};
use proptest::prelude::*;

use super::compaction::NotCompacted;
use super::lineage::{Chain, Compacted};
use super::retention::Pin;
use super::storage::CheckpointStore;
use crate::checkpoint::{Manifest, Part, Piece, StateEntry, folder_of, pieces, sample};
use crate::storage::faulty::{Faulty, Request};

const JOB: &str = "flight_delays";

/// What is in a key group of a state.
type Model = BTreeMap<(String, u16), BTreeMap<u8, u8>>;

/// Writes checkpoints that build upon each other.
struct Writer {
    faulty: Arc<Faulty>,
    store: Arc<CheckpointStore>,
    chain: Chain,
    model: Model,
    last: u64,
}

impl Writer {
    fn new() -> Self {
        let faulty = Arc::new(Faulty::default());
        let store = Arc::new(CheckpointStore::reader(faulty.clone(), "memory".into()));
        Writer { faulty, store, chain: Chain::begin(1), model: Model::new(), last: 0 }
    }

    /// Writes the next one: keys of key groups that have a value, or none any more.
    async fn write(&mut self, changes: &[(u16, u8, Option<u8>)], anew: bool) {
        let since = if anew { 0 } else { self.last };
        self.last += 1;
        let mut all = Vec::new();
        for state in ["s", "t"] {
            for group in 0..4 {
                let of = self.model.entry((state.to_owned(), group)).or_default();
                let mut out = Vec::new();
                let changes = changes.iter().filter(|(of, key, _)| *of == group && (state == "s" || key % 2 == 0));
                let mut entries = Vec::new();
                for (_, key, value) in changes {
                    match value {
                        Some(value) => drop(of.insert(*key, *value)),
                        None => drop(of.remove(key)),
                    }
                    match value {
                        Some(value) if since > 0 => pieces::put(&[*key], &[*value; 100], &mut entries),
                        None if since > 0 => pieces::removed(&[*key], &mut entries),
                        _ => {}
                    }
                }
                if since == 0 {
                    of.iter().for_each(|(key, value)| pieces::put(&[*key], &[*value; 100], &mut entries));
                }
                let piece = Piece { checkpoint: self.last, since, live: of.len() as u64 };
                if of.is_empty() {
                    piece.nothing(&mut out);
                } else {
                    piece.table(&[], &mut out);
                    pieces::write_table(&[], since == 0, &mut out);
                    out.extend_from_slice(&entries);
                    pieces::end(&mut out);
                    pieces::end(&mut out);
                }
                let part = Part::Piece(group, out);
                all.push(StateEntry { uid: "u".into(), state: state.into(), schema: "int64".into(), subtask: 0, part });
            }
        }
        let files = self.chain.files.iter().map(|file| file.file.clone()).collect();
        let manifest = Manifest { checkpoint: self.last, epoch: 0, files, ..sample() };
        let written = self.store.write(manifest, all.into()).await.unwrap();
        let files: Vec<_> = [self.chain.files.clone(), written.to_build_upon].concat();
        let began = std::mem::replace(&mut self.chain, Chain::begin(1));
        self.chain = began.going_on(self.last, &files);
    }

    async fn compact(&self) -> Result<(Compacted, Pin), NotCompacted> {
        self.store.compact(self.chain.plan(), &AtomicBool::new(false)).await
    }

    /// The newest checkpoint is what it has to be.
    async fn check(&self) {
        let found = self.store.latest(JOB).await.unwrap();
        let checkpoint = found.checkpoint.unwrap();
        assert_eq!((checkpoint.manifest.checkpoint, found.warnings), (self.last, vec![]));
        let mut read = Model::new();
        for group in &checkpoint.groups {
            let Some(bytes) = group.bytes.read().unwrap() else { continue };
            let entries = bytes[1..].chunks(101).map(|entry| (entry[0], entry[1])).collect();
            read.insert((group.state.clone(), group.group), entries);
        }
        let there: Model = self.model.clone().into_iter().filter(|(_, entries)| !entries.is_empty()).collect();
        assert_eq!(read, there);
    }

    async fn names(&self) -> Vec<String> {
        let all = self.faulty.objects.list(None).map(|object| object.unwrap().location.to_string());
        all.collect().await
    }

    async fn joined(&self) -> usize {
        self.names().await.iter().filter(|name| name.contains("joined-")).count()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

fn changes() -> impl Strategy<Value = Vec<(u16, u8, Option<u8>)>> {
    prop::collection::vec((0..4u16, 0..12u8, prop::option::weighted(0.7, 0..9u8)), 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written before, while it is done, and behind it.
    #[test]
    fn what_is_compacted_is_what_it_was(
        before in prop::collection::vec((changes(), prop::bool::weighted(0.2)), 1..5),
        meanwhile in prop::collection::vec((changes(), prop::bool::weighted(0.1)), 0..3),
        after in prop::collection::vec(changes(), 1..4),
        keep in 1..3usize,
    ) {
        runtime().block_on(async {
            let mut writer = Writer::new();
            for (changes, anew) in &before {
                writer.write(changes, *anew || writer.last == 0).await;
            }
            let (compacted, pin) = writer.compact().await.unwrap();
            writer.check().await;
            for (changes, anew) in &meanwhile {
                writer.write(changes, *anew).await;
                writer.store.retain(writer.last, keep).await.unwrap();
                writer.check().await;
            }
            prop_assert!(writer.chain.fits(&compacted));
            writer.chain.put(&compacted);
            let mut pin = Some(pin);
            for changes in &after {
                writer.write(changes, false).await;
                writer.store.retain(writer.last, keep).await.unwrap();
                pin.take();
                writer.check().await;
            }
            // Once more, over what is compacted.
            let (compacted, pin) = writer.compact().await.unwrap();
            writer.chain.put(&compacted);
            writer.write(&[], false).await;
            drop(pin);
            writer.store.retain(writer.last, 1).await.unwrap();
            writer.check().await;
            // Nothing is left that nobody needs.
            let named: Vec<String> = writer.chain.files.iter().map(|file| file.file.path("")).collect();
            let data: Vec<String> = writer.names().await.into_iter().filter(|name| name.ends_with(".state")).collect();
            let left: Vec<_> = data.iter().filter(|name| !named.contains(name)).collect();
            prop_assert!(left.is_empty(), "{left:?} of {named:?}");
            Ok(())
        })?;
    }
}

/// A lot of everything.
fn all(value: u8) -> Vec<(u16, u8, Option<u8>)> {
    (0..4).flat_map(|group| (0..40).map(move |key| (group, key, Some(value)))).collect()
}

#[test]
fn what_fails_in_the_middle_changes_nothing_and_is_done_later() {
    runtime().block_on(async {
        let mut writer = Writer::new();
        writer.write(&all(1), true).await;
        writer.write(&all(2), false).await;
        for (request, path) in [(Request::Put, "joined-0002"), (Request::Get, "000001/0001")] {
            writer.faulty.fail(request, path, ErrorKind::StorageFull, 100);
            let error = writer.compact().await.unwrap_err();
            assert!(matches!(error, NotCompacted::Failed(_)), "{error:?}");
            writer.faulty.mend();
            writer.check().await;
        }
        assert!(writer.joined().await > 0, "it was in the middle");
        // Nobody needs what is left of it.
        let (compacted, pin) = writer.compact().await.unwrap();
        assert!(compacted.files.len() > 2, "{} files", compacted.files.len());
        writer.write(&[], true).await;
        writer.store.retain(writer.last, 1).await.unwrap();
        assert_eq!(writer.joined().await, compacted.files.len(), "it may still be named");
        drop(pin);
        writer.store.retain(writer.last, 1).await.unwrap();
        assert_eq!(writer.joined().await, 0);
        writer.check().await;
    });
}

#[test]
fn damage_is_noticed_and_not_copied() {
    runtime().block_on(async {
        for bytes in [None, Some(vec![7; 4000])] {
            let mut writer = Writer::new();
            writer.write(&all(1), true).await;
            writer.write(&all(2), false).await;
            let path = format!("{}/0001.state", folder_of(1)).into();
            let before = writer.faulty.objects.get(&path).await.unwrap().bytes().await.unwrap();
            match bytes {
                None => writer.faulty.objects.delete(&path).await.unwrap(),
                Some(bytes) => {
                    let damaged = [&before[..before.len() / 2], &bytes].concat();
                    writer.faulty.objects.put(&path, damaged.into()).await.map(drop).unwrap();
                }
            }
            match writer.compact().await {
                Err(NotCompacted::Damaged(reason)) => assert!(reason.contains("checkpoint-000001/0001.state"), "{reason}"),
                other => panic!("{other:?}"),
            }
        }
    });
}
