//! Sinks of built pipelines where the outside world does not do what it should: folders, disks, services.

mod files;
mod http;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support;

/// A pipeline that is built once, and its input.
struct Job {
    binary: PathBuf,
    folder: PathBuf,
    rows: u64,
}

impl Job {
    /// `sink`: what stands behind `into`.
    fn build(name: &str, sink: &str, rows: u64) -> Self {
        let folder = support::fresh_folder(name);
        let flow = folder.join(format!("{name}.flow"));
        let text = format!(
            "job {name} {{}}\n\nparam out: string = \"out\"\nparam rate: int64 = 1_000_000\n\nrecord Row {{ n: int64, text: string }}\n\n\
             source rows: Row from file {{ path: \"rows.jsonl\", format: json, rate: rate }}\n\nsink rows into {sink}\n"
        );
        std::fs::write(&flow, text).expect("the pipeline can be written");
        let lines: String = (0..rows).map(row).collect();
        std::fs::write(folder.join("rows.jsonl"), lines).expect("the input can be written");
        Job { binary: support::build(&flow, &folder), folder, rows }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the pipeline starts")
    }

    /// Rows of visible files, sorted. A file that ends in the middle of a line is an error.
    fn written(&self, out: &Path) -> Vec<u64> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(out).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).expect("a file of rows");
            assert!(text.is_empty() || text.ends_with('\n'), "{} is cut off", entry.path().display());
            numbers.extend(text.lines().map(number));
        }
        numbers.sort_unstable();
        numbers
    }

    fn assert_all_once(&self, out: &Path, what: &str) {
        let written = self.written(out);
        assert_eq!(written.len() as u64, self.rows, "{what}");
        assert!(written.iter().copied().eq(0..self.rows), "{what}: other rows than there should be");
    }
}

fn row(n: u64) -> String {
    format!("{{\"n\":{n},\"text\":\"row {n} with some text that makes it a little longer\"}}\n")
}

/// The number of a line that is exactly what it should be.
fn number(line: &str) -> u64 {
    let digits = line.strip_prefix("{\"n\":").and_then(|rest| rest.split(',').next());
    let n = digits.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("no row: {line}"));
    assert_eq!(row(n).trim_end(), line);
    n
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Ends a child that a failed assertion would leave behind.
struct Kill(Child);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
