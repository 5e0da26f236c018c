//! What the end-to-end tests share: building and running pipelines, and comparing rows with expected ones.

pub mod compare;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

/// The folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("compiler/cli lies two folders deep").to_path_buf()
}

/// `millstream`, with a cache that all tests share and that survives between runs.
pub fn millstream() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    command.env("MILLSTREAM_HOME", home());
    // What cargo sets for this test must not leak into the builds that the test starts.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_") && name != "CARGO_HOME") {
        command.env_remove(name);
    }
    command
}

/// The cache that all end-to-end tests build in: what the environment names, else one beside cargo's own target folder.
pub fn home() -> PathBuf {
    let named = std::env::var_os("MILLSTREAM_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
    named.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("millstream-home"))
}

/// An empty folder of this name for one test.
pub fn fresh_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the test's old folder can be removed");
    }
    std::fs::create_dir_all(&folder).expect("the test's folder can be made");
    folder
}

/// Builds a pipeline into a binary in `folder`.
pub fn build(flow: &Path, folder: &Path) -> PathBuf {
    let binary = folder.join(flow.file_stem().expect("a file"));
    let output = millstream().arg("build").arg(flow).arg("-o").arg(&binary).output().expect("millstream starts");
    assert_success(&output, &format!("millstream build {}", flow.display()));
    binary
}

/// A process that does not outlive a test that fails.
pub struct Process(Option<Child>);

impl Process {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        Process(Some(command.spawn().expect("the process starts")))
    }

    /// While it runs.
    pub fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it has not ended")
    }

    /// Waits for its end.
    pub fn end(mut self) -> Output {
        self.0.take().expect("it has not ended").wait_with_output().expect("its end")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Fails with everything that the command said.
pub fn assert_success(output: &Output, what: &str) {
    assert!(
        output.status.success(),
        "{what}: {}\n--- stdout\n{}\n--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Waits until something is so; a test that waits in vain fails.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited a minute in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal, such as `TERM`.
pub fn signal(process: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(process.id().to_string()).status().expect("kill is there");
    assert!(sent.success(), "no signal {name}");
}

/// A small generator of pseudo-random numbers (xorshift), so that a failing run can be repeated by its seed.
pub struct Random(pub u64);

impl Random {
    /// A number below the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
