//! The pipelines as programs of their own, killed in the middle again and again: every row comes once, and a table is what it should be.

mod service;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use service::Service;

fn start(program: &str, service: &Service, folder: &Path, drain: bool) -> Child {
    Command::new(program)
        .args(["--parallelism", "2", "--service", &service.url, "--drain", &drain.to_string()])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the pipeline starts")
}

/// Waits until so many rows can be seen. A job that ends before has failed, and says why.
fn wait_for_rows(service: &Service, mut job: Child, rows: usize) -> Child {
    let deadline = Instant::now() + Duration::from_secs(60);
    while service.table().len() < rows {
        let ended = job.try_wait().expect("a child").is_some();
        if ended || Instant::now() > deadline {
            let _ = job.kill();
            let output = job.wait_with_output().expect("a child");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            panic!("{} of {rows} rows, then {}:\n{said}", service.table().len(), output.status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    job
}

fn empty(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_table_stays_the_one_of_the_pipeline() {
    let program = env!("CARGO_BIN_EXE_devices");
    let service = Service::start().expect("a service");
    let folder = empty("mirror-killed");
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for round in 0..5 {
        // Each round has a device of its own, so that it can be seen that it is at work.
        for id in 0..3000_u64 {
            let device = if id % 3 == 0 { format!("r{round}") } else { format!("d{}", id % 7) };
            service.add(id as usize % 3, format!(r#"{{"id":{id},"device":"{device}","celsius":{}.5}}"#, id % 40));
            *counts.entry(device).or_default() += 1;
        }
        let mut job = start(program, &service, &folder, false);
        let own = format!(r#"{{"device":"r{round}","#);
        let deadline = Instant::now() + Duration::from_secs(60);
        while !service.table().iter().any(|row| row.starts_with(&own)) {
            let ended = job.try_wait().expect("a child").is_some();
            if ended || Instant::now() > deadline {
                let _ = job.kill();
                let output = job.wait_with_output().expect("a child");
                panic!("round {round}, {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        job.kill().expect("it can be killed");
        job.wait().expect("it is over");
    }
    let output = start(program, &service, &folder, true).wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let row = |(device, count): (&String, &u64)| format!(r#"{{"device":"{device}","readings":{count},"warmest":39.5}}"#);
    let mut found = service.table();
    found.sort();
    assert_eq!(found, counts.iter().map(row).collect::<Vec<_>>());
}

#[test]
fn every_row_comes_once() {
    let service = Service::start().expect("a service");
    let folder = empty("connector-killed");
    let (mut id, mut expected) = (0_u64, Vec::new());
    let mut add = |count: u64| {
        for _ in 0..count {
            let celsius = id % 40;
            service.add(id as usize % 3, format!(r#"{{"id":{id},"device":"d{}","celsius":{celsius}.5}}"#, id % 7));
            if celsius >= 20 {
                expected.push(format!(r#"{{"id":{id},"celsius":{celsius}.5}}"#));
            }
            id += 1;
        }
        expected.len()
    };
    let mut seen = 0;
    for _ in 0..6 {
        // All of the round before can be seen, and nothing of this one need be: it is killed at work.
        let all = add(4000);
        let mut job = wait_for_rows(&service, start(env!("CARGO_BIN_EXE_connector"), &service, &folder, false), seen + 1);
        job.kill().expect("it can be killed");
        job.wait().expect("it is over");
        let now = service.table().len();
        assert!(now <= all, "{now} rows of {all}");
        seen = now;
    }
    add(1000);
    let output = start(env!("CARGO_BIN_EXE_connector"), &service, &folder, true).wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = service.table();
    found.sort();
    expected.sort();
    assert!(found == expected, "{} rows, expected {}", found.len(), expected.len());
}
