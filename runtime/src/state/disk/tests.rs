//! Tables that spill, against a map.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::Disk;
use crate::checkpoint::{Part, Piece, StateEntry, pieces};
use crate::error::JobError;
use crate::operator::OperatorContext;
use crate::state::{KeyHasher, KeyedTables, Place, SharedChanges, StateReader, decode_entries};

type Tables = KeyedTables<String, Vec<i64>>;

fn key(number: u8) -> String {
    format!("a key that is not short: {number}")
}

fn hasher(disk: &Arc<Disk>) -> KeyHasher {
    KeyHasher::new(&OperatorContext { max_parallelism: 4, disk: Some(disk.clone()), ..OperatorContext::single("op") })
}

fn disk(memory: u64) -> (tempfile::TempDir, Arc<Disk>) {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(Disk::open(folder.path(), memory).unwrap());
    (folder, disk)
}

#[derive(Clone, Debug)]
enum Step {
    Push(u8, i64),
    Remove(u8),
    Get(u8),
    /// Takes a table away from which all entries with an even first number go.
    Sweep,
    Change,
    Drain(u32),
    /// All of it goes into a checkpoint, and into new tables with another amount of memory.
    Restore(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0..24u8;
    let step = prop_oneof![
        12 => (key.clone(), 0..100i64).prop_map(|(key, value)| Step::Push(key, value)),
        4 => key.clone().prop_map(Step::Remove),
        4 => key.prop_map(Step::Get),
        1 => Just(Step::Sweep),
        1 => Just(Step::Change),
        1 => (0..4u32).prop_map(Step::Drain),
        1 => any::<bool>().prop_map(Step::Restore),
    ];
    prop::collection::vec(step, 0..150)
}

fn all(tables: &mut Tables) -> BTreeMap<String, Vec<i64>> {
    let mut all = BTreeMap::new();
    let mut count = 0;
    for table in 0..tables.tables() {
        let each = |_, key: &String, value: &Vec<i64>| {
            count += 1;
            all.insert(key.clone(), value.clone());
            Ok::<_, JobError>(())
        };
        tables.each(table, each).unwrap();
    }
    assert_eq!((count, tables.len()), (all.len(), all.len()), "every entry comes once");
    all
}

/// As `tables` in a checkpoint, and read back.
fn restored(tables: &mut Tables, hasher: &mut KeyHasher) -> Tables {
    let mut new = KeyedTables::new(hasher);
    for table in 0..tables.tables() {
        let Some(shared) = tables.share(table).unwrap() else { continue };
        let mut bytes = Vec::new();
        // What happens in between is not in it.
        tables.sweep(table, |_| true, |_, _| true).unwrap();
        shared.encode(&mut bytes).unwrap();
        decode_entries(&mut StateReader::new(&bytes), |key: String, value: Vec<i64>| {
            match new.place(hasher.slot(&key)?, &key)? {
                Place::Vacant(place) => drop(place.insert(key, value)),
                Place::Occupied(_) => panic!("{key} is there twice"),
            }
            Ok(())
        })
        .unwrap();
    }
    new
}

type Model = BTreeMap<String, Vec<i64>>;

/// Does to the tables and to a map what the step says.
fn apply(step: &Step, tables: &mut Tables, hasher: &mut KeyHasher, map: &mut Model) {
    match step {
        Step::Push(number, value) => {
            let key = key(*number);
            let slot = hasher.slot(&key).unwrap();
            match tables.place(slot, &key).unwrap() {
                Place::Occupied(mut place) => place.value().push(*value),
                Place::Vacant(place) => place.insert(key.clone(), Vec::new()).push(*value),
            }
            map.entry(key).or_default().push(*value);
        }
        Step::Remove(number) => {
            let key = key(*number);
            let slot = hasher.slot(&key).unwrap();
            let removed = match tables.place(slot, &key).unwrap() {
                Place::Occupied(place) => Some(place.remove().1),
                Place::Vacant(_) => None,
            };
            assert_eq!(removed, map.remove(&key));
        }
        Step::Get(number) => {
            let key = key(*number);
            let slot = hasher.slot(&key).unwrap();
            assert_eq!(tables.get(slot, &key).unwrap(), map.get(&key));
        }
        Step::Sweep => {
            let change = |_: &String, value: &mut Vec<i64>| {
                value.push(7);
                value[0] % 2 == 0
            };
            for table in 0..4 {
                tables.sweep(table, |value| value.len() > 1, change).unwrap();
            }
            map.retain(|key, value| value.len() <= 1 || !change(key, value));
        }
        Step::Change => {
            for table in 0..4 {
                let change = |_: &String, value: &mut Vec<i64>| {
                    value.push(-1);
                    Ok::<_, JobError>(())
                };
                tables.change(table, |value| value[0] > 50, change).unwrap();
            }
            map.values_mut().filter(|value| value[0] > 50).for_each(|value| value.push(-1));
        }
        Step::Drain(table) => {
            let drained = tables.drain(*table, |key, value| {
                assert_eq!(map.remove(&key), Some(value));
                Ok::<_, JobError>(())
            });
            drained.unwrap();
        }
        Step::Restore(_) => panic!("that is for the caller"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_that_spill_are_a_map(steps in steps()) {
        // Nothing stays in memory; some does; all does.
        let disks = [disk(0), disk(4000), disk(1 << 30)];
        let mut hashers: Vec<_> = disks.iter().map(|(_, disk)| hasher(disk)).collect();
        for start in 0..disks.len() {
            let mut at = start;
            let mut tables: Tables = KeyedTables::new(&hashers[at]);
            let mut map: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            for step in &steps {
                match step {
                    Step::Restore(next) => {
                        at = if *next { (at + 1) % disks.len() } else { at };
                        tables = restored(&mut tables, &mut hashers[at]);
                    }
                    step => apply(step, &mut tables, &mut hashers[at], &mut map),
                }
            }
            assert_eq!(all(&mut tables), map);
            // Twice: to look does not change anything.
            assert_eq!(all(&mut tables), map);
        }
    }
}

/// Tables whose checkpoints are pieces: what the coordinator stores, and what it puts together.
struct InPieces {
    /// The last checkpoint, and what has to be in it.
    last: (u64, Model),
    /// Taken and not encoded yet, with the checkpoint before.
    waiting: Vec<(u64, Vec<SharedChanges<String, Vec<i64>>>)>,
    stored: Vec<StateEntry>,
}

impl InPieces {
    fn take(&mut self, tables: &mut Tables, map: &Model, anew: bool) {
        let since = if anew { 0 } else { self.last.0 };
        let taken = (0..tables.tables()).map(|table| tables.share_changes(table, since == 0).unwrap()).collect();
        self.waiting.push((since, taken));
        self.last = (self.last.0 + 1, map.clone());
    }

    /// The thread that writes has come to them.
    fn encode(&mut self) {
        let first = self.last.0 + 1 - self.waiting.len() as u64;
        for (checkpoint, (since, taken)) in (first..).zip(self.waiting.drain(..)) {
            for (group, changes) in (0..).zip(taken) {
                let since = if changes.is_whole() { 0 } else { since };
                let piece = Piece { checkpoint, since, live: changes.live() };
                let mut bytes = Vec::new();
                piece.table(&[], &mut bytes);
                changes.encode(&[], &mut bytes).unwrap();
                pieces::end(&mut bytes);
                assert_eq!(Piece::of(&bytes), Some(piece));
                let (uid, state, schema) = (String::new(), String::new(), String::new());
                self.stored.push(StateEntry { uid, state, schema, subtask: 0, part: Part::Piece(group, bytes) });
            }
        }
    }

    /// The last checkpoint, as it is read; it has what it has to have.
    fn read(&mut self, mut take: impl FnMut(String, Vec<i64>)) {
        self.encode();
        let mut found = Model::new();
        for entry in pieces::whole(self.last.0, self.stored.clone()).unwrap() {
            decode_entries(&mut StateReader::new(entry.part.bytes()), |key: String, value: Vec<i64>| {
                assert_eq!(found.insert(key.clone(), value.clone()), None, "{key} is there twice");
                take(key, value);
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(found, self.last.1);
    }
}

#[derive(Clone, Debug)]
enum Event {
    Step(Step),
    /// Everything, or what has changed.
    Checkpoint(bool),
    Encode,
    /// The state is that of the last checkpoint again, with another amount of memory. Whether the next one builds upon it.
    Restore(bool),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let step = steps().prop_map(|steps| {
        let steps = steps.into_iter().filter(|step| !matches!(step, Step::Restore(_)));
        steps.take(12).map(Event::Step).collect::<Vec<_>>()
    });
    let event = prop_oneof![
        6 => step,
        5 => Just(vec![Event::Checkpoint(false)]),
        1 => Just(vec![Event::Checkpoint(true)]),
        2 => Just(vec![Event::Encode]),
        2 => any::<bool>().prop_map(|goes_on| vec![Event::Restore(goes_on)]),
    ];
    prop::collection::vec(event, 0..30).prop_map(|events| events.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Checkpoints that hold what has changed, put together, are the state at that moment.
    #[test]
    fn what_has_changed_is_all_that_has_changed(events in events()) {
        let disks = [disk(0), disk(4000), disk(1 << 30)];
        let mut hashers: Vec<_> = disks.iter().map(|(_, disk)| hasher(disk)).collect();
        for start in 0..disks.len() {
            let mut at = start;
            let (mut tables, mut map): (Tables, Model) = (KeyedTables::new(&hashers[at]), Model::new());
            let mut checkpoints = InPieces { last: (0, Model::new()), waiting: Vec::new(), stored: Vec::new() };
            for event in &events {
                match event {
                    Event::Step(step) => apply(step, &mut tables, &mut hashers[at], &mut map),
                    Event::Checkpoint(anew) => checkpoints.take(&mut tables, &map, *anew),
                    Event::Encode => checkpoints.encode(),
                    Event::Restore(goes_on) => {
                        at = (at + 1) % disks.len();
                        tables = KeyedTables::new(&hashers[at]);
                        let hasher = &mut hashers[at];
                        checkpoints.read(|key, value| {
                            if let Place::Vacant(place) = tables.place(hasher.slot(&key).unwrap(), &key).unwrap() {
                                place.insert(key, value);
                            }
                        });
                        map.clone_from(&checkpoints.last.1);
                        if *goes_on {
                            (0..tables.tables()).for_each(|table| tables.restored(table).unwrap());
                        } else {
                            // Another attempt: its first is by itself.
                            checkpoints.stored.clear();
                            checkpoints.take(&mut tables, &map, true);
                        }
                    }
                }
            }
            checkpoints.read(|_, _| {});
            assert_eq!(all(&mut tables), map);
        }
    }
}

/// Few keys of many: no more is written than they are.
#[test]
fn what_has_not_changed_is_not_written() {
    let (_folder, disk) = disk(64 << 10);
    let mut hasher = hasher(&disk);
    let mut tables: KeyedTables<i64, i64> = KeyedTables::new(&hasher);
    let mut put = |tables: &mut KeyedTables<i64, i64>, key: i64, value: i64| match tables
        .place(hasher.slot(&key).unwrap(), &key)
        .unwrap()
    {
        Place::Occupied(mut place) => *place.value() = value,
        Place::Vacant(place) => drop(place.insert(key, value)),
    };
    let size = |tables: &mut KeyedTables<i64, i64>, anew| -> usize {
        let mut bytes = Vec::new();
        (0..4).for_each(|table| tables.share_changes(table, anew).unwrap().encode(&[], &mut bytes).unwrap());
        bytes.len()
    };
    (0..10_000).for_each(|key| put(&mut tables, key, 1));
    assert!(tables.in_memory() < 5000, "{}", tables.in_memory());
    let (all, nothing) = (size(&mut tables, true), size(&mut tables, false));
    (0..100).for_each(|key| put(&mut tables, 100 * key, 2));
    let few = size(&mut tables, false);
    assert!(all > 50_000 && nothing < 20 && (500..1000).contains(&few), "{all}, {nothing}, {few}");
    // So much has changed that the keys of it would take too much memory: all of it.
    (0..9000).for_each(|key| put(&mut tables, key, 3));
    let many = size(&mut tables, false);
    assert!(many >= all, "{many}");
    (0..10).for_each(|key| put(&mut tables, key, 4));
    let few = size(&mut tables, false);
    assert!(few < 200, "{few}");
}

#[test]
fn memory_stays_within_its_bounds_and_what_is_asked_for_often_stays_there() {
    let (_folder, disk) = disk(1 << 20);
    let mut hasher = hasher(&disk);
    let mut tables: KeyedTables<i64, [i64; 4]> = KeyedTables::new(&hasher);
    let often = 5i64;
    for number in 0..30_000i64 {
        for key in [number, often] {
            let slot = hasher.slot(&key).unwrap();
            match tables.place(slot, &key).unwrap() {
                Place::Occupied(mut place) => place.value()[0] += 1,
                Place::Vacant(place) => drop(place.insert(key, [1, 0, 0, 0])),
            }
        }
    }
    assert_eq!(tables.len(), 30_000);
    assert!(disk.used() <= 1 << 20, "{}", disk.used());
    assert!(tables.in_memory() < 20_000, "{}", tables.in_memory());
    let slot = hasher.slot(&often).unwrap();
    assert_eq!(tables.get(slot, &often).unwrap(), Some(&[30_001, 0, 0, 0]));
    drop(tables);
    assert_eq!(disk.used(), 0);
}

impl crate::state::State for [i64; 4] {
    fn encode(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|number| number.encode(out));
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, crate::state::StateError> {
        let mut all = [0; 4];
        for number in &mut all {
            *number = i64::decode(input)?;
        }
        Ok(all)
    }
    fn schema() -> String {
        "(int64,int64,int64,int64)".into()
    }
}

#[test]
fn a_folder_goes_with_its_attempt_and_what_killed_processes_left_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("millstream-1-0");
    std::fs::create_dir_all(left.join("entries")).unwrap();
    std::fs::write(left.join(".lock"), "").unwrap();
    std::fs::write(folder.path().join("of somebody else"), "").unwrap();
    let names = || {
        let mut names: Vec<String> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let one = Disk::open(folder.path(), 0).unwrap();
    let other = Disk::open(folder.path(), 0).unwrap();
    assert_eq!(names().iter().filter(|name| name.starts_with("millstream-")).count(), 2, "{:?}", names());
    assert!(!left.exists(), "left behind by a process that is no more");
    other.store().unwrap();
    drop((one, other));
    assert_eq!(names(), [".lock", "of somebody else"]);
}

#[test]
fn an_error_names_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Disk::open(&file.join("state"), 0).unwrap_err();
    assert!(error.message().contains(&*file.join("state").to_string_lossy()), "{error}");
    // The folder is taken away under the job: the first entry that has to go finds that out.
    let disk = Arc::new(Disk::open(&folder.path().join("gone"), 0).unwrap());
    std::fs::remove_dir_all(folder.path().join("gone")).unwrap();
    std::fs::write(folder.path().join("gone"), "").unwrap();
    let mut hasher = hasher(&disk);
    let mut tables: Tables = KeyedTables::new(&hasher);
    let mut put = |number| -> Result<(), JobError> {
        let key = key(number);
        match tables.place(hasher.slot(&key)?, &key)? {
            Place::Occupied(_) => {}
            Place::Vacant(place) => drop(place.insert(key, Vec::new())),
        }
        Ok(())
    };
    put(1).unwrap();
    let error = put(2).unwrap_err();
    assert!(error.message().starts_with("cannot keep state in `"), "{error}");
    assert!(error.message().contains("gone"), "{error}");
}
