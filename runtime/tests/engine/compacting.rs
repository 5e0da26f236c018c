//! The test job with so much state, of which little changes from one checkpoint to the next, that its checkpoints are put together: what it
//! reads, and which files they leave.

use std::collections::BTreeSet;
use std::path::Path;

use millstream::checkpoint::list;
use millstream::codegen::Timestamp;
use millstream::{CheckpointConfig, Job};

use super::job::{Setup, output};

/// Says to a process that runs the job that there are few key groups.
pub const FEW: &str = "MILLSTREAM_TEST_FEW_GROUPS";

/// Bytes beside each count: 4.5 MB in all, less comes as a whole each time.
const BULK: &str = "320000";

/// Auctions with one bid; another one has all the others. So a chain of checkpoints takes many to grow long, and does not become too long while
/// a slow machine puts it together.
const STILL: u64 = 13;

const BIDS: u64 = 2000;

/// Behind a compaction the first manifest that names what it gave is about to be stored; or it is, and the manifests of the older checkpoints are
/// gone whose files were put together, and these files are not. The first checkpoint behind a compaction may have been on its way before.
pub const NOT_NAMED: &str = "compaction.end:1,checkpoint.write:1,checkpoint.manifest:1";
pub const JUST_NAMED: &str = "compaction.end:1,checkpoint.write:2,checkpoint.bare:1";

/// So few that in each there are keys that do not change: what does comes in pieces that build upon others. Every checkpoint is the only one.
pub fn with_few_groups(job: Job) -> Job {
    if std::env::var_os(FEW).is_none() {
        return job;
    }
    let keep = CheckpointConfig { keep: 1, ..CheckpointConfig::new(1, |_| Ok(String::new())) };
    Job { max_parallelism: 2, checkpoint: Some(keep), ..job }
}

/// Bids of auctions that have one, and of that which has many, all in one window.
pub fn setup() -> Setup {
    let setup = Setup::new(0, 0);
    let line = |auction, number: u64| {
        let time = Timestamp(i64::try_from(number * 20_000).unwrap());
        format!("{{\"auction\":\"a{auction}\",\"price\":{},\"time\":\"{time}\"}}\n", 100 + number)
    };
    let (mut still, mut hot) = (String::new(), String::new());
    still.extend((0..STILL).map(|auction| line(1 + auction, auction)));
    hot.extend((0..BIDS).map(|number| line(0, number)));
    std::fs::write(setup.folder.path().join("bids-0.jsonl"), still).unwrap();
    std::fs::write(setup.folder.path().join("bids-1.jsonl"), hot).unwrap();
    setup
}

/// The arguments of the job on these: `rate` is rows a second.
pub fn args(setup: &Setup, checkpoints: &str, rate: &str, interval: &str) -> Vec<String> {
    setup.args(&["--checkpoint-dir", checkpoints, "--checkpoint-interval", interval, "--rate", rate, "--bulk", BULK])
}

/// Every bid counts once.
pub fn check(setup: &Setup) {
    let line = |auction, numbers: &[u64]| {
        let total: u64 = numbers.iter().map(|number| 100 + number).sum();
        let minute = Timestamp(0);
        format!("{{\"auction\":\"a{auction}\",\"minute\":\"{minute}\",\"bids\":{},\"total\":{total}}}", numbers.len())
    };
    let still = (0..STILL).map(|auction| line(1 + auction, &[auction]));
    let mut expected: Vec<_> = still.chain([line(0, &(0..BIDS).collect::<Vec<_>>())]).collect();
    expected.sort();
    assert_eq!(output(&setup.out()), expected);
}

/// What of the files of checkpoints a manifest names, and what none does.
pub fn files(checkpoints: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut named = BTreeSet::new();
    for listed in list(checkpoints).unwrap() {
        let folder = listed.folder.file_name().unwrap().to_str().unwrap().to_owned();
        let Ok(manifest) = listed.manifest else { continue };
        named.insert(format!("{folder}/manifest.json"));
        named.extend(manifest.files.iter().map(|file| file.path(&folder)));
    }
    let mut left = BTreeSet::new();
    for folder in std::fs::read_dir(checkpoints).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            left.insert(file.strip_prefix(checkpoints).unwrap().to_str().unwrap().to_owned());
        }
    }
    assert!(named.is_subset(&left), "{:?} are missing", named.difference(&left));
    left.retain(|file| !named.contains(file));
    (named, left)
}

pub fn joined(files: &BTreeSet<String>) -> usize {
    files.iter().filter(|file| file.contains("joined-")).count()
}
