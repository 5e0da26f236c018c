//! The promises to committers: order, retries, losses, recovery, merging.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::sink::{
    CommitCounts, CommitOutcome, CommitRequest, Committer, CompactPlan, Compactor, GlobalCommitter, RetryPolicy, SUMMARY,
};

const UID: &str = "sink/x/test";

/// What was done, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// Commits texts: `later2 ..` only at the third try, `lost ..` never, `known ..` was there before, `broken ..` fails the job.
struct Scripted(Log);

impl Committer for Scripted {
    fn start(&mut self, start: &SinkStart) -> JobResult<()> {
        self.0.lock().unwrap().push(format!("start {start:?}"));
        Ok(())
    }

    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()> {
        for request in requests {
            let text = String::from_utf8(request.committable().to_vec()).unwrap();
            match text.split(' ').next().unwrap() {
                "later2" if request.retries() < 2 => request.retry_later("busy"),
                "half" => request.update_and_retry_later(b"rest".to_vec(), "half of it"),
                "never" => request.retry_later("still busy"),
                "lost" => request.failed("fenced"),
                "known" => request.already_committed(),
                "broken" => return Err(JobError::transient("no such table")),
                _ => {}
            }
            self.0.lock().unwrap().push(format!("{}: {text}", request.checkpoint()));
        }
        Ok(())
    }

    fn discard_unknown(&mut self, _start: &SinkStart, waiting: &[Vec<u8>]) -> JobResult<()> {
        let kept: Vec<_> = waiting.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
        self.0.lock().unwrap().push(format!("discard all but {kept:?}"));
        Ok(())
    }

    fn retry(&self) -> RetryPolicy {
        RetryPolicy { retries: 3, first_delay: Duration::from_millis(1), longest_delay: Duration::from_millis(2) }
    }
}

/// Merges texts with pluses; everything whose name begins with `big` goes by itself. Panics at what it does not know.
struct Pluses(usize);

impl Compactor for Pluses {
    fn plan(&self, waiting: Vec<Staged>, _checkpoint: u64, end: bool) -> JobResult<CompactPlan> {
        assert!(waiting.iter().all(|staged| !staged.committable.starts_with(b"odd")), "no plan for this");
        let (pass, hold): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|staged| staged.committable.starts_with(b"big"));
        let fire = hold.len() >= self.0 || (end && !hold.is_empty());
        let (merge, hold) = if fire { (vec![hold], Vec::new()) } else { (Vec::new(), hold) };
        Ok(CompactPlan { pass, merge, hold })
    }

    fn merge(&self, request: &[Staged]) -> JobResult<Vec<Vec<u8>>> {
        let texts: Vec<_> = request.iter().map(|staged| String::from_utf8_lossy(&staged.committable).into_owned()).collect();
        Ok(vec![texts.join("+").into_bytes()])
    }

    fn seal(&self, result: Vec<u8>, checkpoint: u64, number: u64) -> JobResult<Vec<u8>> {
        assert!(!result.starts_with(b"torn"), "no seal for this");
        Ok(format!("{} at {checkpoint}/{number}", String::from_utf8_lossy(&result)).into_bytes())
    }
}

struct Marker(Log);

impl GlobalCommitter for Marker {
    fn commit(&mut self, checkpoint: u64, committables: &[Vec<u8>]) -> JobResult<CommitOutcome> {
        let mut log = self.0.lock().unwrap();
        let busy = !log.iter().any(|line| line == &format!("global {checkpoint} busy"));
        if busy {
            log.push(format!("global {checkpoint} busy"));
            return Ok(CommitOutcome::RetryLater("busy".into()));
        }
        log.push(format!("global {checkpoint}: {}", committables.len()));
        Ok(CommitOutcome::Committed)
    }
}

struct Fixture {
    board: Board,
    log: Log,
    queue: CommitQueue,
}

impl Fixture {
    fn new(compactor: Option<Pluses>, global: bool) -> Self {
        let (board, log) = (Board::new(), Log::default());
        let queue = queue(&board, &log, compactor, global);
        Fixture { board, log, queue }
    }

    /// Everything that a checkpoint with these committables of two writers goes through up to its completion. Its entries.
    fn checkpoint(&mut self, id: u64, texts: [&[&str]; 2], purpose: Purpose) -> Vec<StateEntry> {
        let mut entries = Vec::new();
        for (subtask, texts) in texts.iter().enumerate() {
            entries.extend(made(u32::try_from(subtask).unwrap(), texts));
        }
        let sealed = self.queue.seal(id).unwrap();
        let collected = collect(&entries).unwrap();
        entries.extend(self.queue.entries(&sealed));
        self.queue.complete(id, collected, sealed, purpose).unwrap();
        entries
    }

    async fn work(&mut self) -> JobResult<()> {
        self.queue.go_on();
        while !self.queue.is_done() {
            self.queue.step_done().await?;
            self.queue.go_on();
        }
        Ok(())
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    fn counts(&self) -> CommitCounts {
        self.board.commits()[0].2
    }
}

fn queue(board: &Board, log: &Log, compactor: Option<Pluses>, global: bool) -> CommitQueue {
    let parts = SinkParts {
        name: "x into test".into(),
        committer: Some(Box::new(Scripted(log.clone()))),
        compactor: compactor.map(|compactor| Arc::new(compactor) as Arc<dyn Compactor>),
        global: global.then(|| Box::new(Marker(log.clone())) as Box<dyn GlobalCommitter>),
    };
    CommitQueue::new(BTreeMap::from([(UID.to_owned(), parts)]), board)
}

/// What a writer puts into a snapshot.
fn made(subtask: u32, texts: &[&str]) -> Vec<StateEntry> {
    let entry = |state: &str, bytes: Vec<u8>| StateEntry {
        uid: UID.into(),
        state: state.into(),
        schema: String::new(),
        subtask,
        part: Part::Item(bytes),
    };
    let mut entries = vec![entry(SUMMARY, u32::try_from(texts.len()).unwrap().to_le_bytes().to_vec())];
    entries.extend(texts.iter().map(|text| entry(COMMITTABLES, text.as_bytes().to_vec())));
    entries
}

#[tokio::test]
async fn checkpoints_are_committed_in_order_and_a_retry_holds_up_the_later_ones() {
    let mut fixture = Fixture::new(None, false);
    fixture.checkpoint(1, [&["later2 a"], &["b"]], Purpose::Periodic);
    fixture.checkpoint(2, [&["c"], &[]], Purpose::Periodic);
    fixture.work().await.unwrap();
    assert_eq!(
        fixture.log(),
        ["1: later2 a", "1: b", "1: later2 a", "1: later2 a", "2: c"],
        "only what is open is tried again, and 2 waits for it"
    );
    let counts = fixture.counts();
    assert_eq!(counts, CommitCounts { total: 3, committed: 3, retried: 2, ..CommitCounts::default() });
}

#[tokio::test]
async fn what_waits_to_be_tried_again_is_in_the_next_checkpoint_as_it_is_now() {
    let mut fixture = Fixture::new(None, false);
    fixture.checkpoint(1, [&["half a"], &[]], Purpose::Periodic);
    fixture.work().await.unwrap();
    assert_eq!(fixture.log(), ["1: half a", "1: rest"]);
    fixture.checkpoint(2, [&["never"], &["b"]], Purpose::Periodic);
    assert!(fixture.work().await.unwrap_err().message().contains("could not be committed in 4 tries: still busy"));
    let entries = fixture.checkpoint(3, [&["c"], &[]], Purpose::Periodic);
    let held: Vec<_> = entries.iter().filter(|entry| entry.state == "#commit@2").map(|entry| entry.part.clone()).collect();
    assert_eq!(held, [Part::Item(b"b".to_vec()), Part::Item(b"never".to_vec())], "all of a checkpoint until it is settled");
}

#[tokio::test]
async fn a_known_failure_is_counted_and_said_and_an_unknown_one_fails_the_job() {
    let mut fixture = Fixture::new(None, false);
    fixture.checkpoint(1, [&["lost a", "known b"], &["c"]], Purpose::Periodic);
    fixture.work().await.unwrap();
    let counts = fixture.counts();
    assert_eq!(counts, CommitCounts { total: 3, committed: 1, already_committed: 1, failed: 1, ..CommitCounts::default() });
    let losses = fixture.board.losses();
    assert!(
        losses[0].contains("x into test: 1 committables could not be committed") && losses[0].contains("fenced"),
        "{losses:?}"
    );
    fixture.checkpoint(2, [&["broken"], &[]], Purpose::Periodic);
    let error = fixture.work().await.unwrap_err();
    assert_eq!(error.message(), "sink x: no such table");
    assert_eq!(fixture.counts().pending, 1, "it comes again");
}

#[tokio::test]
async fn a_restored_checkpoint_is_committed_before_the_first_row() {
    let mut fixture = Fixture::new(None, false);
    let entries = fixture.checkpoint(4, [&["a"], &["later2 b"]], Purpose::Periodic);
    drop(fixture);
    let mut fixture = Fixture::new(None, false);
    fixture.queue.agree(Some(4)).await.unwrap();
    fixture.queue.start(Some(4), entries.iter(), None).await.unwrap();
    assert_eq!(
        fixture.log(),
        ["start Resumed { checkpoint: 4 }", "4: a", "4: later2 b", "4: later2 b", "4: later2 b", "discard all but []"]
    );
    assert!(fixture.queue.is_done());
}

/// It lost the checkpoint directory while it waited for the service: what the next process stages is unknown to it.
#[tokio::test]
async fn nothing_is_taken_back_by_a_process_that_lost_its_checkpoints() {
    let mut fixture = Fixture::new(None, false);
    let entries = fixture.checkpoint(4, [&["a"], &[]], Purpose::Periodic);
    drop(fixture);
    let objects = Arc::new(object_store::memory::InMemory::new());
    let first = CheckpointStore::over(objects.clone(), Some("lost while it commits")).await.unwrap();
    first.pause();
    let second = CheckpointStore::over(objects, Some("lost while it commits")).await.unwrap();
    let mut fixture = Fixture::new(None, false);
    fixture.queue.agree(Some(4)).await.unwrap();
    let error = fixture.queue.start(Some(4), entries.iter(), Some(&first)).await.unwrap_err();
    assert!(error.message().contains("has lost the checkpoint directory"), "{error}");
    assert_eq!(fixture.log(), ["start Resumed { checkpoint: 4 }", "4: a"]);
    let mut fixture = Fixture::new(None, false);
    fixture.queue.agree(Some(4)).await.unwrap();
    fixture.queue.start(Some(4), entries.iter(), Some(&second)).await.unwrap();
    assert_eq!(fixture.log().last().unwrap(), "discard all but []");
}

#[test]
fn a_second_summary_and_a_wrong_number_are_errors() {
    let mut entries = made(0, &["a"]);
    entries.extend(made(1, &["b"]));
    assert_eq!(collect(&entries).unwrap().len(), 2);
    entries.extend(made(1, &[]));
    assert!(collect(&entries).unwrap_err().message().contains("subtask 1 of sink/x/test has announced its committables"));
    let short = &made(0, &["a", "b"])[..2];
    assert!(collect(short).unwrap_err().message().contains("has announced 2 committables and 1 have come"));
}

#[tokio::test]
async fn the_global_committer_sees_a_checkpoint_once_all_of_it_is_committed() {
    let mut fixture = Fixture::new(None, true);
    fixture.checkpoint(1, [&["a"], &["later2 b"]], Purpose::Periodic);
    fixture.checkpoint(2, [&["lost c"], &[]], Purpose::Periodic);
    fixture.work().await.unwrap();
    assert_eq!(fixture.log(), ["1: a", "1: later2 b", "1: later2 b", "1: later2 b", "global 1 busy", "global 1: 2", "2: lost c"]);
}

/// Merges run only after the checkpoint that holds their inputs; results are committed with the checkpoint that holds them.
#[tokio::test]
async fn merged_committables_wait_for_the_next_checkpoint() {
    let mut fixture = Fixture::new(Some(Pluses(3)), false);
    fixture.checkpoint(1, [&["a"], &["b"]], Purpose::Periodic);
    fixture.work().await.unwrap();
    assert_eq!(fixture.log(), [""; 0], "two are not enough");
    fixture.checkpoint(2, [&["c", "big d"], &[]], Purpose::Periodic);
    fixture.work().await.unwrap();
    assert_eq!(fixture.log(), ["2: big d"]);
    assert!(fixture.queue.has_results());
    let entries = fixture.checkpoint(3, [&["e"], &[]], Purpose::Periodic);
    fixture.work().await.unwrap();
    assert_eq!(fixture.log(), ["3: a+b+c at 3/0"]);
    assert!(entries.iter().any(|entry| entry.state == "#commit@3"));
    fixture.checkpoint(4, [&[], &[]], Purpose::End);
    fixture.work().await.unwrap();
    assert!(fixture.queue.has_results(), "the end waits for one more checkpoint");
    fixture.checkpoint(5, [&[], &[]], Purpose::End);
    fixture.work().await.unwrap();
    assert_eq!(fixture.log(), ["5: e at 5/0"]);
    assert!(!fixture.queue.has_results() && fixture.queue.is_done());
}

/// Killed before, during and after a merge: whatever the checkpoint holds comes out once.
#[tokio::test]
async fn unfinished_merges_are_in_the_checkpoint_and_run_again() {
    for merged_before in [false, true] {
        let mut fixture = Fixture::new(Some(Pluses(2)), false);
        fixture.checkpoint(1, [&["a"], &["b"]], Purpose::Periodic);
        if merged_before {
            fixture.work().await.unwrap();
        }
        let entries = fixture.checkpoint(2, [&["c"], &[]], Purpose::Periodic);
        drop(fixture);
        let mut fixture = Fixture::new(Some(Pluses(2)), false);
        fixture.queue.agree(Some(2)).await.unwrap();
        fixture.queue.start(Some(2), entries.iter(), None).await.unwrap();
        fixture.work().await.unwrap();
        fixture.checkpoint(3, [&[], &[]], Purpose::End);
        fixture.work().await.unwrap();
        fixture.checkpoint(4, [&[], &[]], Purpose::End);
        fixture.work().await.unwrap();
        let log = fixture.log();
        let expected: &[&str] = match merged_before {
            true => &["start Resumed { checkpoint: 2 }", "2: a+b at 2/0", "discard all but [\"c\"]", "4: c at 4/0"],
            false => {
                &["start Resumed { checkpoint: 2 }", "discard all but [\"c\", \"a\", \"b\"]", "3: a+b at 3/0", "4: c at 4/0"]
            }
        };
        assert_eq!(log, expected);
    }
}

/// A panic of a compactor that is called beside the coordinator's loop is a failure of the attempt, not the end of the process.
#[tokio::test]
async fn a_compactor_that_panics_while_it_plans_or_seals_fails_the_attempt() {
    let mut fixture = Fixture::new(Some(Pluses(2)), false);
    let collected = collect(&made(0, &["odd"])).unwrap();
    let sealed = fixture.queue.seal(1).unwrap();
    let error = fixture.queue.complete(1, collected, sealed, Purpose::Periodic).unwrap_err();
    assert!(error.message().contains("its compactor panicked: no plan for this"), "{error}");

    let mut fixture = Fixture::new(Some(Pluses(2)), false);
    fixture.checkpoint(1, [&["torn"], &["b"]], Purpose::Periodic);
    fixture.work().await.unwrap();
    let error = fixture.queue.seal(2).unwrap_err();
    assert!(error.message().contains("its compactor panicked: no seal for this"), "{error}");
}
