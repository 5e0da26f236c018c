//! Savepoints in a bucket: they stay, a job goes on from them at another parallelism, and claimed ones go; and the copy that is made
//! for those who look into a bucket.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use millstream::checkpoint::{DataFile, list, read};
use millstream::storage::s3::copy_checkpoints;
use millstream::{CheckpointConfig, Job, JobEnd, JobHandle};

use super::bucket::Folder;
use super::job::{Setup, job, running};

#[test]
fn savepoints_stay_and_claimed_ones_go() {
    let setup = Setup::new(40_000, 4);
    let folder = Folder::new();
    let place = |name: &str| format!("{}/{name}", folder.place());
    // What the bucket holds of a savepoint.
    let stored = |savepoint: &Path| folder.path().join("savepoints").join(savepoint.file_name().unwrap());
    let take = |handle: &JobHandle| -> PathBuf { handle.savepoint(place("savepoints")).unwrap().savepoint.unwrap() };

    let handle = running(setup.options(5_000).checkpoints(place("first")).parallelism(2));
    let first = take(&handle);
    assert_eq!(first.to_str().unwrap(), place("savepoints/savepoint-counts-000001"));
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    let handle = running(setup.options(5_000).checkpoints(place("another")).replace());
    let claimed = take(&handle);
    assert_eq!(claimed.file_name().unwrap(), "savepoint-counts-000001-2", "the first one stays");
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);

    std::fs::write(stored(&claimed).join("notes.txt"), "somebody's").unwrap();
    let handle = running(setup.options(5_000).checkpoints(place("second")).resume_from(&claimed).claim().parallelism(3));
    assert!(stored(&claimed).join("manifest.json").exists(), "nothing newer is complete");
    handle.checkpoint().unwrap();
    let left: Vec<_> = std::fs::read_dir(stored(&claimed)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    assert!(matches!(handle.stop_with_checkpoint().unwrap(), JobEnd::Stopped(_)));

    let handle = running(setup.options(1_000_000_000).checkpoints(place("second")));
    assert_eq!(handle.wait().unwrap(), JobEnd::Finished);
    setup.check();
    assert!(stored(&first).join("manifest.json").exists(), "it is not the job's");
}

#[test]
fn checkpoints_are_copied_for_those_who_look_into_them() {
    let setup = Setup::new(40_000, 4);
    let folder = Folder::new();
    let kept = CheckpointConfig { keep: 2, ..CheckpointConfig::new(0, |_| Ok(String::new())) };
    let options = setup.options(5_000).checkpoints(folder.place());
    let handle = JobHandle::start(Job { checkpoint: Some(kept), ..job() }, options).unwrap();
    handle.checkpoint().unwrap();
    handle.checkpoint().unwrap();
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    let copy = |place: String, name: &str| {
        let target = setup.folder.path().join(name);
        assert_eq!(copy_checkpoints([place, target.to_str().unwrap().to_owned()].into_iter()), ExitCode::SUCCESS);
        list(&target).unwrap()
    };
    // All of the newest; of the others what is said of them.
    let all = copy(folder.place(), "all");
    let ids: Vec<u64> = all.iter().map(|listed| listed.id).collect();
    assert_eq!(ids, [2, 1]);
    let (manifest, entries) = read(&all[0].folder).unwrap();
    assert!(manifest.job == "counts" && !entries.is_empty());
    assert!(all[1].manifest.is_ok() && read(&all[1].folder).is_err());
    let one = copy(format!("{}/checkpoint-000001", folder.place()), "one");
    assert!(one.len() == 1 && read(&one[0].folder).is_ok());
    // One that was moved there, as savepoints are, under a name of its own.
    let mine = folder.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    for file in std::fs::read_dir(folder.path().join("checkpoint-000001")).unwrap().map(|file| file.unwrap().path()) {
        std::fs::copy(&file, mine.join(file.file_name().unwrap())).unwrap();
    }
    assert_eq!(copy(format!("{}/mine", folder.place()), "moved"), []);
    assert!(read(&setup.folder.path().join("moved/mine")).is_ok());
    // A file that lies with an earlier one comes along.
    let stored = |id: u64, name: &str| folder.path().join(format!("checkpoint-{id:06}")).join(name);
    let mut building = manifest.clone();
    building.files[0] = DataFile { name: "moved.state".to_owned(), of: Some(1), ..building.files[0].clone() };
    std::fs::rename(stored(2, &manifest.files[0].name), stored(1, "moved.state")).unwrap();
    std::fs::write(stored(2, "manifest.json"), building.to_bytes()).unwrap();
    let built = copy(folder.place(), "built");
    assert_eq!(read(&built[0].folder).unwrap(), (building, entries));
    assert_eq!(copy(format!("{}/nothing", folder.place()), "none"), []);
}
