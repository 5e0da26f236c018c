//! Runs cargo on a crate and follows what it does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use super::messages::{Message, message, progress};
use super::{BuildError, Profile};

/// What a build is doing, for those who watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another build holds the cache.
    Waiting,
    /// Crates are fetched from the network.
    Fetching,
    /// `done` of `total` units are there.
    Compiling {
        /// Units that are done.
        done: usize,
        /// All units, as far as they are known.
        total: usize,
        /// A crate that is being compiled.
        name: String,
    },
}

/// One run of cargo.
pub(super) struct Run<'a> {
    pub(super) folder: &'a Path,
    pub(super) target: &'a Path,
    pub(super) package: &'a str,
    pub(super) profile: Profile,
    /// Rust files of the user: where they lie, and how the user named them.
    pub(super) rust: &'a BTreeMap<PathBuf, String>,
}

/// What a successful run made.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) executable: Option<PathBuf>,
    /// Packages that were compiled now.
    pub(super) compiled: Vec<String>,
    /// Units that were up to date.
    pub(super) fresh: usize,
    /// What rustc warns about in the generated crate.
    pub(super) warnings: Vec<String>,
    /// What rustc warns about in Rust files of the user.
    pub(super) rust_warnings: Vec<String>,
}

enum Event {
    Line(String),
    Progress(String),
}

impl Run<'_> {
    /// Builds without the network; if that is not enough, with it.
    pub(super) fn build(&self, watch: &mut dyn FnMut(Progress)) -> Result<Outcome, BuildError> {
        match self.attempt(true, watch) {
            Err(Failure::NeedsNetwork(_)) => {
                watch(Progress::Fetching);
                self.attempt(false, watch).map_err(Failure::into_error)
            }
            other => other.map_err(Failure::into_error),
        }
    }

    /// Whether a message is about a Rust file of the user.
    fn rust_file(&self, file: &Option<PathBuf>) -> bool {
        file.as_ref().is_some_and(|file| self.rust.contains_key(file))
    }

    /// What rustc says, with files as the user named them.
    fn named(&self, rendered: String) -> String {
        self.rust.iter().fold(rendered, |text, (path, name)| text.replace(&path.display().to_string(), name))
    }

    fn attempt(&self, offline: bool, watch: &mut dyn FnMut(Progress)) -> Result<Outcome, Failure> {
        let mut command = Command::new(program());
        command
            .arg(if self.profile == Profile::Quick { "rustc" } else { "build" })
            .args(["--profile", self.profile.name()])
            .arg("--target-dir")
            .arg(self.target)
            .arg("--message-format=json")
            // The user's own cargo configuration does not reach into the cache.
            .current_dir(self.folder)
            .env("CARGO_TERM_PROGRESS_WHEN", "always")
            .env("CARGO_TERM_PROGRESS_WIDTH", "120")
            .env("CARGO_TERM_COLOR", "never")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if offline {
            command.arg("--offline");
        }
        if self.profile == Profile::Quick {
            command.args(["--", "-Copt-level=0"]);
        }
        let mut child = command.spawn().map_err(|error| Failure::Other(BuildError::no_tool("cargo", &error)))?;
        let (send, receive) = mpsc::channel();
        let (outcome, failure) = std::thread::scope(|scope| {
            if let Some(stdout) = child.stdout.take() {
                let send = send.clone();
                scope.spawn(move || {
                    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                        let _ = send.send(Event::Line(line));
                    }
                });
            }
            if let Some(stderr) = child.stderr.take() {
                let send = send.clone();
                scope.spawn(move || split_lines(stderr, &mut |text| drop(send.send(Event::Progress(text)))));
            }
            drop(send);
            self.follow(receive, watch)
        });
        let status = child.wait().map_err(|error| Failure::Other(BuildError::no_tool("cargo", &error)))?;
        if status.success() { Ok(outcome) } else { Err(failure) }
    }

    /// Takes events until cargo has closed its outputs. Gives both what was made and, in case cargo failed, why.
    fn follow(&self, events: mpsc::Receiver<Event>, watch: &mut dyn FnMut(Progress)) -> (Outcome, Failure) {
        let mut outcome = Outcome::default();
        let mut said = Vec::new();
        let mut errors: Vec<(PathBuf, String)> = Vec::new();
        let mut foreign = Vec::new();
        for event in events {
            match event {
                Event::Line(line) => match message(&line) {
                    Some(Message::Artifact { package, fresh, executable }) => {
                        if package == self.package {
                            outcome.executable = executable.or(outcome.executable.take());
                        }
                        if fresh {
                            outcome.fresh += 1;
                        } else if !outcome.compiled.contains(&package) {
                            outcome.compiled.push(package);
                        }
                    }
                    Some(Message::Error { package, file, rendered }) if package == self.package => {
                        let file = file.map_or_else(|| self.folder.join("src/main.rs"), |file| self.folder.join(file));
                        errors.push((file, rendered));
                    }
                    Some(Message::Error { rendered, .. }) => foreign.push(rendered),
                    Some(Message::Warning { package, file, rendered }) if package == self.package => {
                        match self.rust_file(&file) {
                            true => outcome.rust_warnings.push(self.named(rendered)),
                            // `3 warnings emitted` belongs to them.
                            false if file.is_none() && !outcome.rust_warnings.is_empty() => {}
                            false => outcome.warnings.push(rendered),
                        }
                    }
                    _ => {}
                },
                Event::Progress(text) => match progress(&text) {
                    Some((done, total, name)) => watch(Progress::Compiling { done, total, name }),
                    None if text.contains("waiting for file lock on build directory") => watch(Progress::Waiting),
                    None if !text.trim().is_empty() => said.push(text),
                    None => {}
                },
            }
        }
        let failure = match errors.first() {
            // A mistake there may have others behind it, in generated code.
            Some(_) if errors.iter().any(|(file, _)| self.rust.contains_key(file)) => {
                let wrong = |path: &PathBuf| errors.iter().any(|(file, _)| file == path);
                let name = self.rust.iter().find(|(path, _)| wrong(path)).map_or("", |(_, name)| name);
                let own = errors.into_iter().filter(|(file, _)| self.rust.contains_key(file));
                let rendered = own.map(|(_, rendered)| self.named(rendered)).collect();
                Failure::Other(BuildError::rust(name, rendered))
            }
            Some((file, _)) => {
                let file = file.clone();
                Failure::Other(BuildError::generated(&file, errors.into_iter().map(|(_, rendered)| rendered).collect()))
            }
            None if needs_network(&said) => Failure::NeedsNetwork(BuildError::cargo(said)),
            None => {
                foreign.extend(said);
                Failure::Other(BuildError::cargo(foreign))
            }
        };
        (outcome, failure)
    }
}

enum Failure {
    NeedsNetwork(BuildError),
    Other(BuildError),
}

impl Failure {
    fn into_error(self) -> BuildError {
        match self {
            Failure::NeedsNetwork(error) | Failure::Other(error) => error,
        }
    }
}

/// Whether cargo missed something that the network would have given.
fn needs_network(said: &[String]) -> bool {
    said.iter().any(|line| line.contains("offline"))
}

/// `$CARGO`, which cargo itself sets for what it runs, else `cargo`.
pub(super) fn program() -> OsString {
    std::env::var_os("CARGO").filter(|value| !value.is_empty()).unwrap_or_else(|| "cargo".into())
}

/// What the compiler says of itself: version, commit, host.
pub(super) fn toolchain() -> Result<String, BuildError> {
    let rustc = std::env::var_os("RUSTC").filter(|value| !value.is_empty()).unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().map_err(|error| BuildError::no_tool("rustc", &error))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Pieces of text that end in a line break or in a carriage return, which is what progress bars end in.
fn split_lines(mut input: impl Read, take: &mut dyn FnMut(String)) {
    let mut piece = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = input.read(&mut buffer) {
        for byte in &buffer[..count] {
            match byte {
                b'\r' | b'\n' => take(String::from_utf8_lossy(&std::mem::take(&mut piece)).into_owned()),
                byte => piece.push(*byte),
            }
        }
    }
    take(String::from_utf8_lossy(&piece).into_owned());
}
