//! Sources that do not end: watched folders, files that grow, and splits that fall silent.

use std::io::Write as _;
use std::time::{Duration, Instant};

use millstream::{JobEnd, JobHandle, RunOptions};

use super::job::{Setup, bid, expected, job, output, write_bids};

/// How often a folder is looked at.
const WATCH: &str = "20000";

fn options(setup: &Setup, parallelism: u32) -> RunOptions {
    RunOptions::new()
        .param("input", setup.path("in"))
        .param("output", setup.path("out"))
        .param("watch", WATCH)
        .checkpoints(setup.path("checkpoints"))
        .checkpoint_every(Duration::from_secs(3600))
        .parallelism(parallelism)
}

fn setup() -> Setup {
    let setup = Setup::new(0, 1);
    std::fs::create_dir(setup.path("in")).unwrap();
    setup
}

/// Writes under a hidden name and renames, as files should come into a watched folder.
fn deliver(setup: &Setup, name: &str, numbers: std::ops::Range<u64>) {
    let hidden = setup.path(&format!("in/.{name}"));
    write_bids(hidden.as_ref(), numbers);
    std::fs::rename(hidden, setup.path(&format!("in/{name}"))).unwrap();
}

/// Asks for checkpoints until at least so much is committed.
fn wait_for_output(handle: &JobHandle, setup: &Setup, what: &str, enough: impl Fn(&[String]) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        handle.checkpoint().unwrap();
        let found = output(&setup.out());
        if enough(&found) {
            return;
        }
        assert!(Instant::now() < deadline, "{what} has not come: {} rows", found.len());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The windows that are whole before this bid came, by any order of the bids.
fn whole_before(number: u64) -> Vec<String> {
    let minute = (number * 20 - 5000 - 3000) / 60_000;
    let end = millstream::value::Timestamp(i64::try_from(minute * 60_000_000).unwrap()).to_string();
    let before = |line: &String| line.split("\"minute\":\"").nth(1).unwrap().split('"').next().unwrap() < end.as_str();
    expected(0..number).into_iter().filter(before).collect()
}

/// What was whole is there, once and right. Later windows may miss rows that were not read when the job was drained.
fn contains(found: &[String], whole: &[String]) {
    let missing: Vec<_> = whole.iter().filter(|line| found.binary_search(line).is_err()).collect();
    assert!(missing.is_empty(), "{missing:?} of {found:?}");
    let key = |line: &String| line.split("\"bids\"").next().map(str::to_owned);
    assert!(found.windows(2).all(|pair| key(&pair[0]) != key(&pair[1])), "a window twice: {found:?}");
}

/// Files come one after the other, over a stop and a start at another parallelism: each is read once, and what is whole is
/// emitted although some readers have nothing to read.
#[test]
fn files_that_come_later_are_read_once_over_restarts() {
    let setup = setup();
    deliver(&setup, "bids 1.jsonl", 0..6000);
    let handle = JobHandle::start(job(), options(&setup, 2)).unwrap();
    let first = whole_before(6000);
    wait_for_output(&handle, &setup, "the first file", |found| found.len() >= first.len());
    deliver(&setup, "bids:2.jsonl", 6000..12_000);
    let second = whole_before(12_000);
    wait_for_output(&handle, &setup, "the second file", |found| found.len() >= second.len());
    assert!(matches!(handle.stop_with_checkpoint(), Ok(JobEnd::Stopped(Some(_)))));

    deliver(&setup, "bids-ü-3.jsonl", 12_000..18_000);
    let handle = JobHandle::start(job(), options(&setup, 3)).unwrap();
    let third = whole_before(18_000);
    wait_for_output(&handle, &setup, "the third file", |found| found.len() >= third.len());
    assert_eq!(handle.drain().unwrap(), JobEnd::Finished);
    contains(&output(&setup.out()), &whole_before(18_000));
}

/// C05: a file to which nothing more is written holds nothing back, and takes part again when it speaks.
#[test]
fn a_silent_file_holds_nothing_back() {
    let setup = setup();
    let files = ["a.jsonl", "b.jsonl"].map(|name| setup.path(&format!("in/{name}")));
    let write = |file: &str, numbers: std::ops::Range<u64>| {
        let mut file = std::fs::File::options().create(true).append(true).open(file).unwrap();
        file.write_all(numbers.map(bid).collect::<String>().as_bytes()).unwrap();
    };
    write(&files[0], 0..100);
    write(&files[1], 100..6000);
    let run = |idle: &str| JobHandle::start(job(), options(&setup, 3).param("append", "true").param("idle", idle)).unwrap();
    let whole = whole_before(12_000);
    assert!(whole.len() > 20);

    let handle = run("3600000000");
    std::thread::sleep(Duration::from_millis(500));
    handle.checkpoint().unwrap();
    assert_eq!(output(&setup.out()), [""; 0], "a.jsonl may have more old rows");
    assert!(matches!(handle.stop_with_checkpoint(), Ok(JobEnd::Stopped(Some(_)))));

    let handle = run("300000");
    write(&files[1], 6000..12_000);
    wait_for_output(&handle, &setup, "what is whole", |found| found.len() >= whole.len());
    write(&files[0], 12_000..18_000);
    let more = whole_before(18_000);
    wait_for_output(&handle, &setup, "what is whole then", |found| found.len() >= more.len());
    assert_eq!(handle.drain().unwrap(), JobEnd::Finished);
    contains(&output(&setup.out()), &whole_before(18_000));
}

/// C40: a line that is written in two halves, with a checkpoint and a restart between them.
#[test]
fn half_a_line_waits_over_a_restart() {
    let setup = setup();
    let path = setup.path("in/bids.jsonl");
    let text: String = (0..9000).map(bid).collect();
    let half = text.len() / 2;
    let write = |text: &str| {
        let mut file = std::fs::File::options().create(true).append(true).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    write(&text[..half]);
    let run = || JobHandle::start(job(), options(&setup, 1).param("append", "true")).unwrap();
    let handle = run();
    let first = whole_before(4400);
    wait_for_output(&handle, &setup, "the first half", |found| found.len() >= first.len());
    assert!(matches!(handle.stop_with_checkpoint(), Ok(JobEnd::Stopped(Some(_)))));
    write(&text[half..]);
    let handle = run();
    let all = whole_before(9000);
    wait_for_output(&handle, &setup, "all", |found| found.len() >= all.len());
    assert_eq!(handle.drain().unwrap(), JobEnd::Finished);
    contains(&output(&setup.out()), &all);
}

/// What is wrong with a folder is said at once, and in words.
#[test]
fn a_folder_that_is_not_there_is_said_at_once() {
    let setup = Setup::new(0, 1);
    let handle = JobHandle::start(job(), options(&setup, 1)).unwrap();
    let error = handle.wait().unwrap_err();
    assert!(error.message().starts_with("source bids: there is no folder `"), "{error}");
    assert!(error.message().contains("what is watched is a folder that exists"), "{error}");
}
