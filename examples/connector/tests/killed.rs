//! The pipeline as a program of its own, killed in the middle again and again: every row comes once.

mod service;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use service::Service;

fn start(service: &Service, folder: &Path, drain: bool) -> Child {
    Command::new(env!("CARGO_BIN_EXE_connector"))
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

#[test]
fn every_row_comes_once() {
    let service = Service::start().expect("a service");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("connector-killed");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
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
        let mut job = wait_for_rows(&service, start(&service, &folder, false), seen + 1);
        job.kill().expect("it can be killed");
        job.wait().expect("it is over");
        let now = service.table().len();
        assert!(now <= all, "{now} rows of {all}");
        seen = now;
    }
    add(1000);
    let output = start(&service, &folder, true).wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = service.table();
    found.sort();
    expected.sort();
    assert!(found == expected, "{} rows, expected {}", found.len(), expected.len());
}
