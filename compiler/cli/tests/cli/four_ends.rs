//! C08: the four ways in which a pipeline ends, with one window that is still open: its input ends, it is stopped, it is drained, it is killed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Process, assert_success, build, fresh_folder, millstream, signal, wait_for};

/// `rows` shows what a complete checkpoint has, `counted` what windows give.
fn flow(name: &str, more: &str) -> String {
    format!(
        "job {name} {{ checkpoint: every 50ms to \"checkpoints\" }}\n\
         record Row {{ id: int64, @unit(\"ms\") ts: timestamp }}\n\
         source rows: Row from file {{ path: \"in\", format: json{more} }} watermark ts\n\
         stream counted = rows | aggregate over tumbling(10s) {{ start: window.start, n: count() }}\n\
         sink counted into file {{ path: \"out\", format: json }}\n\
         sink rows into file {{ path: \"seen\", format: json }}\n"
    )
}

/// A pipeline in a folder of its own, with the three rows of the case.
struct Place {
    folder: PathBuf,
    binary: PathBuf,
}

impl Place {
    fn new(root: &Path, name: &str, binary: &Path) -> Self {
        let place = Place { folder: root.join(name), binary: binary.to_owned() };
        std::fs::create_dir_all(place.folder.join("in")).expect("a folder");
        place.drop_in("1.json", "{\"id\":1,\"ts\":1000}\n{\"id\":2,\"ts\":2000}\n{\"id\":3,\"ts\":3000}\n");
        place
    }

    fn drop_in(&self, name: &str, rows: &str) {
        let hidden = self.folder.join(".arriving");
        std::fs::write(&hidden, rows).expect("written");
        std::fs::rename(hidden, self.folder.join("in").join(name)).expect("renamed");
    }

    fn start(&self, args: &[&str]) -> Process {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(&self.folder).env("MILLSTREAM_RUN_DIR", self.folder.join("run")).stderr(Stdio::piped());
        Process::start(&mut command)
    }

    /// Started, until a complete checkpoint has so many rows.
    fn until(&self, rows: usize, args: &[&str]) -> Process {
        let job = self.start(args);
        wait_for("the rows", || self.lines("seen").len() == rows);
        job
    }

    /// What it prints: the path of the savepoint, where one was asked for.
    fn millstream(&self, args: &[&str]) -> String {
        let mut command = millstream();
        let output = command.args(args).current_dir(&self.folder).env("MILLSTREAM_RUN_DIR", self.folder.join("run")).output();
        let output = output.expect("millstream starts");
        assert_success(&output, &format!("millstream {args:?}"));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn lines(&self, out: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for file in std::fs::read_dir(self.folder.join(out)).into_iter().flatten().map(|file| file.expect("a file").path()) {
            if file.extension().is_some_and(|extension| extension == "json") {
                lines.extend(std::fs::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned));
            }
        }
        lines
    }

    /// What windows have given: the window from 0 to 10 s, with so many rows.
    fn assert_given(&self, rows: Option<u32>, when: &str) {
        let expected: Vec<String> = rows.iter().map(|n| format!("{{\"start\":\"1970-01-01T00:00:00Z\",\"n\":{n}}}")).collect();
        assert_eq!(self.lines("out"), expected, "{when}");
    }

    /// Goes on from where it was, with the fourth row, to the end of the input.
    fn goes_on(&self, args: &[&str]) {
        self.drop_in("2.json", "{\"id\":4,\"ts\":4000}\n");
        let job = self.until(4, args);
        self.millstream(&["stop", "four_ends", "--drain"]);
        assert_success(&job.end(), "drained");
        self.assert_given(Some(4), "at its end");
    }
}

#[test]
fn only_the_end_of_the_input_closes_windows() {
    let root = fresh_folder("four-ends");
    let built = |name: &str, more: &str| {
        let path = root.join(format!("{name}.flow"));
        std::fs::write(&path, flow(name, more)).expect("written");
        build(&path, &root)
    };
    let watching = built("four_ends", ", watch: every 20ms");

    let ended = Place::new(&root, "ended", &built("bounded", ""));
    assert_success(&ended.start(&[]).end(), "to the end of its input");
    ended.assert_given(Some(3), "the input has ended");

    let stopped = Place::new(&root, "stopped", &watching);
    let job = stopped.until(3, &[]);
    let saved = stopped.millstream(&["stop", "four_ends", "--to", "saved"]);
    assert_success(&job.end(), "stopped");
    stopped.assert_given(None, "stopped with a savepoint");
    stopped.goes_on(&["--from", &saved]);

    let drained = Place::new(&root, "drained", &watching);
    let job = drained.until(3, &[]);
    let saved = drained.millstream(&["stop", "four_ends", "--drain", "--to", "saved"]);
    assert_success(&job.end(), "drained");
    drained.assert_given(Some(3), "drained");
    drained.drop_in("2.json", "{\"id\":4,\"ts\":4000}\n");
    let refused = drained.start(&["--from", &saved]).end();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && told.contains("--drain"), "a second, partial window: {told}");
    drained.assert_given(Some(3), "refused");

    let killed = Place::new(&root, "killed", &watching);
    let mut job = killed.until(3, &[]);
    signal(job.child(), "KILL");
    job.end();
    killed.assert_given(None, "killed");
    killed.goes_on(&[]);
}
