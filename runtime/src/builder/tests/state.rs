//! Keyed state on disk.

use super::*;
use crate::job::{Folder, StateConfig};

/// The same rows come of it, with files in the folder as long as the job runs, and it goes on from a checkpoint of a run in memory.
#[test]
fn state_on_disk() -> JobResult<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let state = folder.path().join("state");
    // Of each attempt; the lock on the folder stays.
    let of_attempt = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("millstream-");
    let files = || std::fs::read_dir(&state).into_iter().flatten().flatten().filter(of_attempt).count();
    let run = |is_on_disk: bool, last: bool| -> JobResult<Vec<(String, i64)>> {
        let pipeline = Pipeline::new("disk").checkpoints(&path("checkpoints"), Duration::from_secs(3600));
        let on_disk = StateConfig::Disk { path: Folder::At(names::keep(&path("state"))), memory: 0 };
        let pipeline = if is_on_disk { pipeline.state(on_disk) } else { pipeline };
        let (sender, orders) = pipeline.channel::<Order>("orders", 9);
        let orders = orders.watermark(|order| order.at, Duration::ZERO).shared();
        let mut told = orders.clone().stream("told").map(|order| order.amount).into_channel(9);
        let keyed = orders.stream("sums").key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        let sums = keyed.tumbling(3600 * SECOND).aggregate(sum(|order: &Order| order.amount), |name, _, sum| (name.clone(), sum));
        let sums = sums.into_channel(9);
        let job = pipeline.start(RunOptions::new().parallelism(2))?;
        for row in super::orders() {
            sender.send_blocking(row).unwrap();
            told.recv_blocking().unwrap();
        }
        assert_eq!(files() > 0, is_on_disk);
        if last {
            drop((sender, told));
            return Ok(sorted(job, sums));
        }
        job.stop_with_checkpoint()?;
        assert_eq!(files(), 0, "it leaves nothing");
        Ok(sums.collect())
    };
    assert_eq!(run(false, false)?, []);
    assert_eq!(run(true, false)?, []);
    let expected = [("ann", 3 * 600), ("bob", 3 * 100), ("eve", 3 * 999)].map(|(name, sum)| (name.to_owned(), sum));
    assert_eq!(run(true, true)?, expected);
    Ok(())
}
