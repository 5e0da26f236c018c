//! `cargo xtask soak hybrid`: the kill test of hybrid sources, many more times than CI runs it. `cargo xtask soak mixed`: the same with
//! state in memory and on disk, checkpoints in a folder and in a bucket, and sinks to both, against a local S3 server.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::repeat;

/// Runs the test with the given number of cycles and shows what it says.
pub fn run(args: &[String]) -> Result<(), String> {
    let flags = [("--cycles", "MILLSTREAM_CYCLES", Some(200)), ("--seed", "MILLSTREAM_SEED", None)];
    let test = |environment: &[(String, String)]| {
        repeat::run_with("millstream-cli", &["hybrid_kill"], &flags, args.get(1..).unwrap_or_default(), environment)
    };
    match args.first().map(String::as_str) {
        Some("hybrid") => test(&[]),
        Some("mixed") => {
            let server = Server::start()?;
            test(&server.environment)
        }
        Some(other) => Err(format!("there is no soak `{other}`; there are `hybrid` and `mixed`")),
        None => Err("say what is soaked: `cargo xtask soak hybrid`, or `mixed`".to_string()),
    }
}

/// A local S3 server in a process of its own, gone at the end.
struct Server {
    process: Child,
    folder: PathBuf,
    /// Of those who use it.
    environment: Vec<(String, String)>,
}

impl Server {
    fn start() -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
        let programs = own.parent().unwrap_or(Path::new("."));
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--package", "millstream-testkit-s3"]);
        if programs.file_name().is_some_and(|name| name == "release") {
            build.arg("--release");
        }
        match build.status() {
            Ok(status) if status.success() => {}
            other => return Err(format!("the S3 server cannot be built: {other:?}")),
        }
        let folder = std::env::temp_dir().join(format!("millstream-soak-{}", std::process::id()));
        let mut command = Command::new(programs.join("millstream-testkit-s3"));
        command.arg(&folder).arg("127.0.0.1:0").stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("the S3 server cannot be started: {error}"))?;
        let lines = process.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines().map_while(Result::ok));
        let pair = |line: String| line.strip_prefix("export ")?.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned()));
        let mut environment: Vec<_> = lines.filter_map(pair).take(VARIABLES).collect();
        if environment.len() < VARIABLES {
            let _ = process.kill();
            return Err("the S3 server has not started".to_owned());
        }
        environment.push(("MILLSTREAM_BUCKET".to_owned(), folder.join("data").display().to_string()));
        Ok(Server { process, folder, environment })
    }
}

/// So many does the server print when it listens.
const VARIABLES: usize = 4;

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
