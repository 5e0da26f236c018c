//! Metrics: scraped from a running job, with the meanings of FLIP-33.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use millstream::{JobEnd, JobHandle, RunOptions};

use super::job::{Setup, job, run, wait_for};

fn options(setup: &Setup) -> RunOptions {
    RunOptions::new()
        .param("input", setup.path("bids-*.jsonl"))
        .param("output", setup.path("out"))
        .checkpoints(setup.path("checkpoints"))
        .metrics("127.0.0.1:0")
}

fn scrape(address: SocketAddr) -> String {
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The sum over all samples of a metric whose labels contain this.
fn sum(text: &str, name: &str, label: &str) -> Option<f64> {
    let samples = text.lines().filter(|line| line.starts_with(&format!("{name}{{")) && line.contains(label));
    samples.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).reduce(|sum, value| sum + value)
}

#[test]
fn a_running_job_is_scraped() {
    let setup = Setup::new(20_000, 2);
    let first = std::fs::read_to_string(setup.path("bids-0.jsonl")).unwrap();
    std::fs::write(setup.path("bids-0.jsonl"), format!("{first}null\n")).unwrap();
    let bytes: u64 = (0..2).map(|file| std::fs::metadata(setup.path(&format!("bids-{file}.jsonl"))).unwrap().len()).sum();
    let options = options(&setup)
        .param("rate", "20000")
        .param("on_error", "skip")
        .parallelism(2)
        .checkpoint_every(Duration::from_millis(20));
    let mut handle = JobHandle::start(job(), options).unwrap();
    let address = handle.metrics_address().unwrap();
    let mut text = String::new();
    wait_for("a checkpoint and rows", || {
        text = scrape(address);
        sum(&text, "millstream_job_numberOfCompletedCheckpoints", "job=\"counts\"") > Some(1.0)
            && sum(&text, "millstream_source_numRecordsIn", "source=\"bids\"") > Some(1000.0)
    });
    for expected in [
        "# TYPE millstream_source_numRecordsIn counter\nmillstream_source_numRecordsIn{job=\"counts\",source=\"bids\",subtask=\"0\"} ",
        "\nmillstream_task_busyTimeMsPerSecond{job=\"counts\",task=\"counts\",subtask=\"1\",region=\"bids -> counts\",attempt=\"1\"} ",
        "\nmillstream_source_unassignedSplits{job=\"counts\",source=\"bids\"} ",
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    assert!(sum(&text, "millstream_job_lastCheckpointSize", "") > Some(100.0), "{text}");
    assert!(sum(&text, "millstream_job_lastCheckpointDuration", "") > Some(0.0), "{text}");
    // The times of a task make up the whole second.
    for task in ["bids", "counts"] {
        let label = format!("task=\"{task}\",subtask=\"0\"");
        let of = |name: &str| sum(&text, &format!("millstream_task_{name}TimeMsPerSecond"), &label).unwrap();
        let whole = of("busy") + of("idle") + of("backPressured");
        assert!((whole - 1000.0).abs() < 0.1, "{task}: {whole}");
    }
    // Event time of the test is 1970: the lag is that of history.
    let lag = |name: &str| sum(&text, &format!("millstream_source_current{name}EventTimeLag"), "subtask=\"0\"").unwrap();
    assert!(lag("Fetch") > 1e12 && lag("Emit") >= lag("Fetch"), "{text}");

    assert_eq!(handle.wait_for(Duration::from_secs(60)), Some(Ok(JobEnd::Finished)));
    let text = scrape(address);
    assert_eq!(sum(&text, "millstream_source_numRecordsIn", ""), Some(20_001.0));
    assert_eq!(sum(&text, "millstream_source_numRecordsInErrors", ""), Some(1.0));
    assert_eq!(sum(&text, "millstream_source_numBytesIn", ""), Some(f64::from(u32::try_from(bytes).unwrap())));
    assert_eq!(sum(&text, "millstream_source_unassignedSplits", ""), Some(0.0));
    let rows = super::job::output(&setup.out()).len();
    assert_eq!(
        sum(&text, "millstream_sink_numRecordsSend", "sink=\"counts into file\""),
        Some(f64::from(u32::try_from(rows).unwrap()))
    );
    assert_eq!(handle.metrics().sum("millstream_source_numRecordsIn", &[("source", "bids")]), Some(20_001.0));
    drop(handle);
    wait_for("the end of listening", || TcpStream::connect(address).is_err());
}

/// A slow consumer: the source waits for room, the consumer works, and neither is idle.
#[test]
fn backpressure_is_told_from_idleness() {
    let setup = Setup::new(60_000, 1);
    let handle = JobHandle::start(job(), options(&setup).param("slow", "100").parallelism(1)).unwrap();
    let of = |task: &str, name: &str| {
        let name = format!("millstream_task_{name}TimeMsPerSecond");
        handle.metrics().sum(&name, &[("task", task)]).unwrap_or_default()
    };
    // Over the time since the start: it takes a while until it begins to count.
    wait_for("backpressure", || of("bids", "backPressured") > 700.0 && of("counts", "busy") > 700.0);
    assert!(of("bids", "idle") < 300.0 && of("counts", "backPressured") < 50.0);
    assert_eq!(handle.kill(), Ok(JobEnd::Killed));
}

#[test]
fn an_address_that_is_taken_is_a_usage_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let setup = Setup::new(1, 1);
    let error = JobHandle::start(job(), options(&setup).metrics(taken.local_addr().unwrap().to_string())).unwrap_err();
    assert!(error.message().contains("give another port"), "{error}");
    let (input, output) = (setup.path("bids-*.jsonl"), setup.path("out"));
    assert_eq!(run(&["--input", &input, "--output", &output, "--metrics", "nowhere"]), 2);
}
