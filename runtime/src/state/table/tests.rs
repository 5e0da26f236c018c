//! A key group against a map, with snapshots that are encoded sooner, later, in between, or never.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::checkpoint::{Part, Piece, StateEntry, pieces};
use crate::state::{Slot, StateReader, decode_entries, hash_bytes};

type Model = BTreeMap<u64, u64>;

fn slot(key: u64) -> Slot {
    Slot { table: 0, hash: hash_bytes(&key.to_le_bytes()) }
}

fn put(table: &mut Table<u64, u64>, key: u64, value: u64) {
    match table.place(slot(key).hash, &key) {
        Place::Occupied(mut place) => *place.value() = value,
        Place::Vacant(place) => drop(place.insert(key, value)),
    }
}

fn remove(table: &mut Table<u64, u64>, key: u64) {
    if let Place::Occupied(place) = table.place(slot(key).hash, &key) {
        place.remove();
    }
}

/// What the bytes of a key group hold, each key once.
fn decoded(bytes: &[u8]) -> Model {
    let mut found = Model::new();
    decode_entries(&mut StateReader::new(bytes), |key: u64, value: u64| {
        assert_eq!(found.insert(key, value), None, "{key} is there twice");
        Ok(())
    })
    .unwrap();
    found
}

fn read(shared: &Option<(u64, Snapshot<u64, u64>)>) -> Model {
    let Some((count, snapshot)) = shared else { return Model::new() };
    let mut bytes = Vec::new();
    count.encode(&mut bytes);
    snapshot.encode(&mut bytes);
    decoded(&bytes)
}

/// Checkpoints in pieces: what was shared, and what has to be in them.
#[derive(Default)]
struct Pieces(Vec<(u64, Shares<u64, u64>, Model)>);

impl Pieces {
    fn take(&mut self, table: &mut Table<u64, u64>, anew: bool, model: &Model) {
        let since = if anew { 0 } else { self.0.len() as u64 };
        self.0.push((since, table.share_changes(anew), model.clone()));
    }

    /// Each of them, put together from those that it builds upon.
    fn check(&self) {
        let (mut stored, mut before) = (Vec::new(), 0);
        for (checkpoint, (since, shares, then)) in (1..).zip(&self.0) {
            let mut bytes = Vec::new();
            Piece { checkpoint, since: *since, live: shares.live as u64 }.table(&[], &mut bytes);
            pieces::write_table(&[], shares.anew, &mut bytes);
            let from = bytes.len();
            assert!(shares.snapshot.give(&mut bytes), "it is there once");
            let keys = pieces::keys(&bytes[from..]).len();
            // What was written to, and what was there at the checkpoint before and is gone.
            assert!(keys <= shares.most + before, "{keys} keys");
            before = then.len();
            pieces::end(&mut bytes);
            pieces::end(&mut bytes);
            let (uid, state, schema) = (String::new(), String::new(), String::new());
            stored.push(StateEntry { uid, state, schema, subtask: 0, part: Part::Piece(0, bytes) });
            let whole = pieces::whole(checkpoint, stored.clone()).unwrap();
            assert!(whole.iter().map(|entry| decoded(entry.part.bytes())).eq([then.clone()]), "checkpoint {checkpoint}");
            assert_eq!(shares.live, then.len());
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(std::ops::Range<u64>),
    Remove(std::ops::Range<u64>),
    Get(u64),
    Change(u64),
    Sweep(u64),
    Share,
    Changes(bool),
    Encode(usize),
    Drop(usize),
    Drain,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let keys = || (0..6_000u64, 1..2_000u64).prop_map(|(from, count)| from..from + count);
    let step = prop_oneof![
        8 => keys().prop_map(Step::Put),
        4 => (0..6_000u64, 1..30u64).prop_map(|(from, count)| Step::Put(from..from + count)),
        3 => keys().prop_map(Step::Remove),
        3 => (0..6_000u64, 1..30u64).prop_map(|(from, count)| Step::Remove(from..from + count)),
        2 => (0..6_000u64).prop_map(Step::Get),
        2 => (2..7u64).prop_map(Step::Change),
        2 => (1..7u64).prop_map(Step::Sweep),
        2 => Just(Step::Share),
        6 => prop::bool::weighted(0.1).prop_map(Step::Changes),
        3 => (0..9usize).prop_map(Step::Encode),
        2 => (0..3usize).prop_map(Step::Drop),
        1 => Just(Step::Drain),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// A map does the same, a snapshot sees nothing of what comes after it, and what has changed is all that has changed.
    #[test]
    fn it_is_a_map_with_snapshots(steps in steps()) {
        let (mut table, mut model) = (Table::default(), Model::new());
        let mut snapshots: Vec<(Option<(u64, Snapshot<u64, u64>)>, Model)> = Vec::new();
        let mut pieces = Pieces::default();
        for (number, step) in (1u64..).zip(steps) {
            match step {
                Step::Put(keys) => for key in keys {
                    put(&mut table, key, number);
                    model.insert(key, number);
                },
                Step::Remove(keys) => for key in keys {
                    remove(&mut table, key);
                    model.remove(&key);
                },
                Step::Get(key) => {
                    let found = table.get(slot(key).hash, &key);
                    assert_eq!(found, model.get(&key));
                }
                Step::Change(of) => {
                    let change = |_: &u64, value: &mut u64| { *value += 1; Ok::<_, ()>(()) };
                    table.change(|value| value % of == 0, change).unwrap();
                    model.values_mut().filter(|value| **value % of == 0).for_each(|value| *value += 1);
                }
                Step::Sweep(of) => {
                    table.sweep(|value| value % 2 == 0, |key, _| key % of == 0, |_| {});
                    model.retain(|key, value| *value % 2 != 0 || key % of != 0);
                }
                Step::Share => snapshots.push((table.share(), model.clone())),
                Step::Changes(anew) => pieces.take(&mut table, anew, &model),
                Step::Encode(which) => {
                    snapshots.get(which).inspect(|(shared, then)| assert!(read(shared) == *then, "a snapshot has changed"));
                    let pieces = &pieces.0;
                    pieces.get(pieces.len().wrapping_sub(1 + which)).inspect(|piece| piece.1.snapshot.encode(&mut Vec::new()));
                }
                Step::Drop(which) => drop((which < snapshots.len()).then(|| snapshots.remove(which))),
                Step::Drain => {
                    let drained: Model = table.drain().map(|entry| (entry.key, entry.value)).collect();
                    assert!(drained == std::mem::take(&mut model));
                }
            }
            assert_eq!((table.len(), table.is_empty()), (model.len(), model.is_empty()));
        }
        for (shared, then) in &snapshots {
            assert!(read(shared) == *then, "a snapshot has changed");
        }
        pieces.check();
        let found: Model = table.iter().map(|entry| (entry.key, entry.value)).collect();
        assert!(found == model);
        for (key, value) in &model {
            assert_eq!(table.get(slot(*key).hash, key), Some(value));
        }
    }
}

/// Another thread encodes while the task goes on: whoever comes first, it is what it was.
#[test]
fn both_sides_encode_and_nothing_is_lost_or_twice() {
    let (mut table, mut model, mut pieces) = (Table::default(), Model::new(), Pieces::default());
    let mut all = Vec::new();
    for round in 1..=60u64 {
        let encoded = if round % 2 == 0 {
            all.push((table.share(), model.clone()));
            all.last().and_then(|(shared, _)| shared.as_ref()).map(|(_, snapshot)| snapshot)
        } else {
            pieces.take(&mut table, round == 1, &model);
            pieces.0.last().map(|(_, shares, _)| &shares.snapshot)
        };
        std::thread::scope(|scope| {
            scope.spawn(|| encoded.inspect(|encoded| encoded.encode(&mut Vec::new())).is_some());
            for number in 0..3_000u64 {
                let key = number.wrapping_mul(round + 17) % 9_000;
                if (number + round) % 5 == 0 {
                    remove(&mut table, key);
                    model.remove(&key);
                } else {
                    put(&mut table, key, round);
                    model.insert(key, round);
                }
            }
        });
    }
    pieces.check();
    all.iter().for_each(|(shared, then)| assert!(read(shared) == *then));
}

/// What has gone is in the next snapshot, also if next to nothing is left and lies elsewhere now.
#[test]
fn what_a_sweep_takes_away_is_noted() {
    let (mut table, mut model, mut pieces) = (Table::default(), Model::new(), Pieces::default());
    (0..10_000).for_each(|key| put(&mut table, key, key));
    model.extend((0..10_000).map(|key| (key, key)));
    pieces.take(&mut table, true, &model);
    table.sweep(|_| true, |key, _| *key >= 10, |_| {});
    model.retain(|key, _| *key < 10);
    assert_eq!(table.segments.len(), 1);
    pieces.take(&mut table, false, &model);
    pieces.check();
}

/// What was there already comes back known: only what is written to behind that is in the next snapshot, and what is removed.
#[test]
fn what_is_known_is_not_written_again() {
    let mut table = Table::default();
    (0..10_000).for_each(|key| put(&mut table, key, key));
    table.restored();
    put(&mut table, 7, 0);
    remove(&mut table, 8);
    put(&mut table, 20_000, 0);
    remove(&mut table, 20_000);
    put(&mut table, 20_001, 1);
    let shares = table.share_changes(false);
    let mut bytes = Vec::new();
    shares.snapshot.encode(&mut bytes);
    let mut expected = Vec::new();
    let entry = |key: u64, value: Option<u64>, out: &mut Vec<u8>| {
        let key = crate::state::encode_to_vec(&key);
        match value {
            Some(value) => pieces::put(&key, &crate::state::encode_to_vec(&value), out),
            None => pieces::removed(&key, out),
        }
    };
    entry(7, Some(0), &mut expected);
    entry(8, None, &mut expected);
    entry(20_001, Some(1), &mut expected);
    assert_eq!(pieces::keys(&bytes), pieces::keys(&expected));
    assert_eq!((bytes.len(), shares.anew, shares.live), (expected.len(), false, 10_000));
}

/// What one row can cost does not grow with the key group, and the memory comes back.
#[test]
fn shards_and_segments_stay_small() {
    let mut table = Table::default();
    for key in 0..100_000 {
        put(&mut table, key, key);
    }
    let largest = table.index.largest();
    assert!(largest <= 3 * index::FULL, "{largest} entries in one shard");
    assert_eq!(table.segments.len(), 100_000usize.div_ceil(SIZE));
    table.sweep(|_| true, |key, _| *key >= 10, |_| {});
    assert_eq!((table.segments.len(), table.len()), (1, 10));
}

/// Segments whose entries are gone are filled again before others are made.
#[test]
fn room_is_used_again() {
    let mut table = Table::default();
    for round in 0..20u64 {
        (0..5_000).for_each(|key| put(&mut table, round * 2_500 + key, key));
        (0..2_500).for_each(|key| remove(&mut table, round * 2_500 + key));
    }
    assert!(
        table.segments.len() <= 5_000usize.div_ceil(SIZE) + 1,
        "{} segments of {} entries",
        table.segments.len(),
        table.len()
    );
}

/// Where the segments are that a snapshot does not have.
fn places(table: &Table<u64, u64>) -> Vec<*const Entry<u64, u64>> {
    let own = table.segments.iter().filter(|segment| !segment.is_away);
    own.map(|segment| segment.list.as_ptr()).collect()
}

/// A write encodes the segment that it wants and no other (but the one that new keys would come into); what is encoded comes back as a whole, and
/// nothing is copied.
#[test]
fn a_write_takes_back_one_segment() {
    let mut table = Table::default();
    for key in 0..10_000 {
        put(&mut table, key, key);
    }
    let before = places(&table);
    let shared = table.share().unwrap();
    assert!(places(&table).is_empty());
    put(&mut table, 1, 0);
    put(&mut table, 2, 1);
    assert_eq!(places(&table), [before[0], before[before.len() - 1]]);
    assert_eq!(read(&Some(shared)), (0..10_000).map(|key| (key, key)).collect());
    put(&mut table, 1, 2);
    assert!(places(&table) == before, "all are back, where they were");
}

/// A snapshot of what has changed takes nothing else, and new keys want nothing of it but the segment that they come into.
#[test]
fn new_keys_leave_the_snapshot_alone() {
    let mut table = Table::default();
    (0..10_000).for_each(|key| put(&mut table, key, key));
    table.share_changes(true).snapshot.encode(&mut Vec::new());
    (10_000..20_000).for_each(|key| put(&mut table, key, key));
    put(&mut table, 7, 0);
    let before = places(&table).len();
    let shares = table.share_changes(false);
    assert_eq!((shares.most, shares.live), (10_001, 20_000));
    let away = before - places(&table).len();
    assert!((10_000 / SIZE..10_000 / SIZE + 3).contains(&away), "{away} segments");
    (20_000..30_000).for_each(|key| put(&mut table, key, key));
    let away = table.segments.iter().filter(|segment| segment.is_away).count();
    assert!(away >= 10_000 / SIZE, "{away} segments are still with the snapshot");
}

/// Keys whose hashes agree in what tells shards apart are no reason to make ever more of them, and are found.
#[test]
fn keys_that_are_alike_are_found() {
    let (mut table, hash) = (Table::default(), |key: u64| key << 36);
    for key in 0..20_000u64 {
        if let Place::Vacant(place) = table.place(hash(key), &key) {
            place.insert(key, key);
        }
    }
    assert_eq!(table.len(), 20_000);
    assert!((0..20_000).all(|key| table.get(hash(key), &key) == Some(&key)));
}

/// Says when it was touched and when it was encoded.
#[derive(Debug)]
struct Told(u64, std::sync::Arc<std::sync::Mutex<Vec<(char, u64)>>>);

impl Told {
    fn tell(&self, what: char) {
        self.1.lock().unwrap().push((what, self.0));
    }
}

impl State for Told {
    fn encode(&self, out: &mut Vec<u8>) {
        self.tell('e');
        self.0.encode(out);
    }
    fn touch(&self) -> u8 {
        self.tell('t');
        0
    }
    fn decode(_: &mut StateReader<'_>) -> Result<Self, crate::state::StateError> {
        unreachable!("it is never read")
    }
    fn schema() -> String {
        "told".into()
    }
}

/// Otherwise encoding waits for each of them, which is most of the time that it takes.
#[test]
fn a_segment_comes_into_the_caches_as_a_whole_before_it_is_encoded() {
    let told = std::sync::Arc::default();
    let mut table: Table<u64, Told> = Table::default();
    let put = |table: &mut Table<u64, Told>, key: u64, value: u64| match table.place(slot(key).hash, &key) {
        Place::Occupied(mut place) => place.value().0 = value,
        Place::Vacant(place) => drop(place.insert(key, Told(value, std::sync::Arc::clone(&told)))),
    };
    for key in 0..3 {
        put(&mut table, key, key);
    }
    let everything = table.share_changes(true);
    assert!(everything.snapshot.give(&mut Vec::new()));
    put(&mut table, 0, 7);
    put(&mut table, 2, 9);
    let changes = table.share_changes(false);
    assert!(changes.snapshot.give(&mut Vec::new()));
    table.share().unwrap().1.encode(&mut Vec::new());
    let expected = [[0, 1, 2].as_slice(), &[7, 9], &[7, 1, 9]];
    let expected: Vec<_> = expected
        .iter()
        .flat_map(|values| ['t', 'e'].into_iter().flat_map(|what| values.iter().map(move |value| (what, *value))))
        .collect();
    assert_eq!(*told.lock().unwrap(), expected);
}
