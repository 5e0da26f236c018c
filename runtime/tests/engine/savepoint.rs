//! Savepoints: complete in one folder, never removed by a job, resumed from at another parallelism; claimed ones go.

use std::path::{Path, PathBuf};

use millstream::{JobEnd, JobHandle, JobState};

use super::job::{Setup, expected, job, output, running, wait_for};

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn whole(folder: &Path) -> bool {
    folder.join("manifest.json").is_file()
}

#[test]
fn a_savepoint_stays_and_can_be_moved_and_resumed_from() {
    let setup = Setup::new(40_000, 4);
    let (savepoints, checkpoints) = (setup.folder.path().join("savepoints"), setup.folder.path().join("checkpoints"));
    let handle = running(setup.options(5_000).checkpoints(&checkpoints).parallelism(2));
    let first = handle.savepoint(&savepoints).unwrap().savepoint.unwrap();
    let beside = handle.savepoint(&checkpoints).unwrap().savepoint.unwrap();
    for _ in 0..3 {
        handle.checkpoint().unwrap();
    }
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    // One checkpoint is kept, and the savepoints do not count.
    assert!(whole(&first) && whole(&beside), "{:?}", names(&checkpoints));
    assert_eq!(names(&checkpoints).iter().filter(|name| name.starts_with("checkpoint-")).count(), 1);

    // Under any name, without the rest.
    let moved = setup.folder.path().join("the old state");
    std::fs::rename(&first, &moved).unwrap();
    std::fs::remove_dir_all(&checkpoints).unwrap();
    let handle = running(setup.options(1_000_000_000).checkpoints(&checkpoints).parallelism(3).resume_from(&moved));
    assert_eq!(handle.wait().unwrap(), JobEnd::Finished);
    setup.check();
    assert!(whole(&moved), "it is not the job's");
}

#[test]
fn a_savepoint_beside_the_checkpoints_can_be_resumed_from_when_its_run_has_ended() {
    let setup = Setup::new(40_000, 4);
    let checkpoints = setup.folder.path().join("checkpoints");
    let handle = running(setup.options(5_000).checkpoints(&checkpoints).parallelism(2));
    let savepoint = handle.savepoint(&checkpoints).unwrap().savepoint.unwrap();
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    let fast = || setup.options(1_000_000_000).checkpoints(&checkpoints);
    assert_eq!(running(fast()).wait().unwrap(), JobEnd::Finished);
    setup.check();
    // Numbers begin anew in this directory; the savepoint is of the run before.
    assert_eq!(running(fast().resume_from(&savepoint)).wait().unwrap(), JobEnd::Finished);
    setup.check();
    assert!(whole(&savepoint));
}

/// What the job goes back to is not among what it gives up by that, although nothing tells to which run the rest belongs.
#[test]
fn a_savepoint_can_be_gone_back_to_again_when_no_checkpoint_can_be_read() {
    let setup = Setup::new(40_000, 4);
    let checkpoints = setup.folder.path().join("checkpoints");
    let handle = running(setup.options(5_000).checkpoints(&checkpoints).parallelism(2));
    let savepoint = handle.savepoint(&checkpoints).unwrap().savepoint.unwrap();
    handle.checkpoint().unwrap();
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    for name in names(&checkpoints).iter().filter(|name| name.starts_with("checkpoint-")) {
        std::fs::write(checkpoints.join(name).join("manifest.json"), "damaged").unwrap();
    }
    let again = || setup.options(1_000_000_000).checkpoints(&checkpoints).resume_from(&savepoint);
    let handle = running(again().param("rate", "1000"));
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    assert_eq!(running(again()).wait().unwrap(), JobEnd::Finished);
    setup.check();
}

#[test]
fn a_claimed_checkpoint_goes_when_there_is_a_newer_one() {
    let setup = Setup::new(40_000, 4);
    let savepoints = setup.folder.path().join("savepoints");
    // Without checkpoints of its own a job can be stopped with a savepoint.
    let handle = JobHandle::start(job(), setup.options(5_000).checkpoints(setup.path("first")).parallelism(1)).unwrap();
    let info = handle.stop_with_savepoint(&savepoints).unwrap();
    assert_eq!(handle.wait().unwrap(), JobEnd::Stopped(Some(setup.path("first"))));
    let savepoint = info.savepoint.unwrap();
    std::fs::write(savepoint.join("notes.txt"), "somebody's").unwrap();

    let handle = running(setup.options(5_000).checkpoints(setup.path("second")).resume_from(&savepoint).claim());
    assert!(whole(&savepoint), "nothing newer is complete");
    handle.checkpoint().unwrap();
    assert_eq!(names(&savepoint), ["notes.txt"]);
    assert!(matches!(handle.stop_with_checkpoint().unwrap(), JobEnd::Stopped(_)));
    // A supervisor says the same each time: what was claimed is gone, and what came of it is not.
    let again = |from: &Path| setup.options(5_000).checkpoints(setup.path("second")).resume_from(from).claim();
    for from in [&savepoint, &savepoints] {
        // As if it had been killed in the middle of the removal.
        std::fs::write(savepoint.join("0000.state"), "left").unwrap();
        let handle = running(again(from));
        assert_eq!(names(&savepoint), ["notes.txt"]);
        handle.checkpoint().unwrap();
        assert!(matches!(handle.stop_with_checkpoint().unwrap(), JobEnd::Stopped(_)));
    }
    // Another one that is gone was never this job's.
    let other = setup.folder.path().join("savepoints").join("savepoint-counts-000099");
    let error = JobHandle::start(job(), again(&other)).unwrap().wait().unwrap_err();
    assert!(error.message().contains("cannot resume from"), "{error}");
    let error = JobHandle::start(job(), setup.options(5_000).checkpoints(setup.path("third")).resume_from(&savepoint).claim());
    let error = error.unwrap().wait().unwrap_err();
    assert!(error.message().contains("there is no complete checkpoint"), "{error}");
    let fast = setup.options(1_000_000_000).checkpoints(setup.path("second")).resume_from(&savepoint).claim();
    assert_eq!(running(fast).wait().unwrap(), JobEnd::Finished);
    setup.check();
}

#[test]
fn a_savepoint_that_cannot_be_written_stops_nothing() {
    let setup = Setup::new(40_000, 4);
    let blocked: PathBuf = setup.folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let handle = running(setup.options(10_000).checkpoints(setup.path("checkpoints")).parallelism(2));
    let error = handle.savepoint(&blocked).unwrap_err();
    assert!(error.message().starts_with("cannot write a savepoint to `"), "{error}");
    let error = handle.stop_with_savepoint(&blocked).unwrap_err();
    assert!(error.message().starts_with("cannot write a savepoint to `"), "{error}");
    assert_eq!(handle.state(), JobState::Running);
    // Its sources, which waited behind the barrier, read on to the end.
    assert_eq!(handle.wait().unwrap(), JobEnd::Finished);
    setup.check();
    assert_eq!(output(&setup.out()).len(), expected(0..setup.bids).len());
}

/// A job goes back to an earlier savepoint while nothing can be read of its own checkpoints: what came behind it counts no more, a later
/// savepoint too, since its rows are written again.
#[test]
fn a_later_savepoint_counts_no_more_although_no_checkpoint_can_be_read() {
    let setup = Setup::new(40_000, 4);
    let (checkpoints, savepoints) = (setup.folder.path().join("checkpoints"), setup.folder.path().join("savepoints"));
    let slow = || setup.options(2_000).checkpoints(&checkpoints);
    let handle = running(slow());
    let earlier = handle.savepoint(&savepoints).unwrap().savepoint.unwrap();
    let later = handle.savepoint(&savepoints).unwrap().savepoint.unwrap();
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    let mut damaged = 0;
    for folder in std::fs::read_dir(&checkpoints).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.join("manifest.json").exists() {
            std::fs::write(folder.join("manifest.json"), "").unwrap();
            damaged += 1;
        }
    }
    assert!(damaged > 0, "there is no checkpoint");
    let handle = running(slow().resume_from(&earlier));
    handle.checkpoint().unwrap();
    assert!(matches!(handle.stop_with_checkpoint().unwrap(), JobEnd::Stopped(_)));
    let error = JobHandle::start(job(), slow().resume_from(&later)).unwrap().wait().unwrap_err();
    assert!(error.message().contains("counts no more"), "{error}");
    let fast = || setup.options(1_000_000_000).checkpoints(&checkpoints);
    assert_eq!(running(fast().resume_from(&earlier)).wait().unwrap(), JobEnd::Finished);
    setup.check();
}

/// Whether the newest checkpoint in a directory builds upon others.
fn builds(checkpoints: &Path) -> bool {
    let newest = names(checkpoints).into_iter().rfind(|name| whole(&checkpoints.join(name))).unwrap();
    std::fs::read_to_string(checkpoints.join(newest).join("manifest.json")).unwrap().contains("\"of\":")
}

/// A savepoint is put together from files, and the tasks are not asked for everything: neither for it nor behind it, where the job goes on
/// from it.
#[test]
fn a_savepoint_of_much_state_is_made_of_files_and_built_upon() {
    let setup = Setup::new(40_000, 4);
    let (savepoints, checkpoints) = (setup.folder.path().join("savepoints"), setup.folder.path().join("checkpoints"));
    let slow = |place: &Path| setup.options(500).param("bulk", "700000").checkpoints(place).parallelism(2);
    let handle = running(slow(&checkpoints));
    wait_for("state", || {
        handle.checkpoint().unwrap();
        builds(&checkpoints)
    });
    let savepoint = handle.savepoint(&savepoints).unwrap().savepoint.unwrap();
    assert!(builds(&checkpoints) && !std::fs::read_to_string(savepoint.join("manifest.json")).unwrap().contains("\"of\":"));
    // A file that a savepoint would be made of is not what was written: that is said, and the next one holds all state again.
    let damaged = std::fs::read_dir(&checkpoints)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path()).collect::<Vec<_>>());
    for file in damaged.filter(|file| file.extension().is_some_and(|extension| extension == "state")) {
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] = !bytes[middle];
        std::fs::write(&file, bytes).unwrap();
    }
    let error = handle.savepoint(&savepoints).unwrap_err();
    assert!(error.message().contains("cannot write a savepoint") && error.message().contains("is damaged"), "{error}");
    let whole_again = handle.savepoint(&savepoints).unwrap().savepoint.unwrap();
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);

    let later = setup.folder.path().join("later");
    std::fs::remove_dir_all(&checkpoints).unwrap();
    let handle = running(slow(&later).resume_from(&whole_again));
    handle.checkpoint().unwrap();
    assert!(builds(&later), "{:?}", names(&later));
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    std::fs::remove_dir_all(&savepoints).unwrap();
    let handle = running(setup.options(1_000_000_000).param("bulk", "700000").checkpoints(&later).parallelism(3));
    assert_eq!(handle.wait().unwrap(), JobEnd::Finished);
    setup.check();
}
