//! Tables that spill, against a map.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::Disk;
use crate::error::JobError;
use crate::operator::OperatorContext;
use crate::state::{KeyHasher, KeyedTables, Place, StateReader, decode_entries};

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
                    Step::Push(number, value) => {
                        let key = key(*number);
                        let slot = hashers[at].slot(&key).unwrap();
                        match tables.place(slot, &key).unwrap() {
                            Place::Occupied(mut place) => place.value().push(*value),
                            Place::Vacant(place) => place.insert(key.clone(), Vec::new()).push(*value),
                        }
                        map.entry(key).or_default().push(*value);
                    }
                    Step::Remove(number) => {
                        let key = key(*number);
                        let slot = hashers[at].slot(&key).unwrap();
                        let removed = match tables.place(slot, &key).unwrap() {
                            Place::Occupied(place) => Some(place.remove().1),
                            Place::Vacant(_) => None,
                        };
                        assert_eq!(removed, map.remove(&key));
                    }
                    Step::Get(number) => {
                        let key = key(*number);
                        let slot = hashers[at].slot(&key).unwrap();
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
                    Step::Restore(next) => {
                        at = if *next { (at + 1) % disks.len() } else { at };
                        tables = restored(&mut tables, &mut hashers[at]);
                    }
                }
            }
            assert_eq!(all(&mut tables), map);
            // Twice: to look does not change anything.
            assert_eq!(all(&mut tables), map);
        }
    }
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
