//! Listens on the socket of a job and does what is asked, each connection on a thread of its own.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::folder::{folder, make};
use super::protocol::{Answer, Facts, JobInfo, Request, Stop};
use crate::coordinator::{CheckpointInfo, JobState, Remote, StopMode};
use crate::progress::Board;

/// How often one looks whether a stop was taken back.
const TAKEN_BACK: Duration = Duration::from_millis(50);
/// How long an end waits for those who asked for it to be told.
const FAREWELL: Duration = Duration::from_secs(2);

/// How the job ended, once it has.
#[derive(Debug, Default)]
struct End {
    /// `stopped`, `finished`, `killed`; or why it failed.
    how: Option<Result<&'static str, String>>,
    /// Who waits for it.
    waiting: usize,
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    facts: Facts,
    remote: Remote,
    board: Arc<Board>,
    end: Mutex<End>,
    changed: Condvar,
}

/// A listening job. Its socket goes with it.
#[derive(Debug)]
pub(crate) struct ControlServer {
    path: PathBuf,
    shared: Arc<Shared>,
}

impl ControlServer {
    /// Listens in the user's folder.
    pub(crate) fn start(facts: Facts, remote: Remote, board: Arc<Board>) -> io::Result<Self> {
        let folder = folder()?;
        make(&folder)?;
        // Not by the process alone: another container may have the same number.
        let path = folder.join(format!("{}-{:x}.sock", facts.pid, crate::seam::now_micros()));
        let listener = UnixListener::bind(&path)?;
        let shared = Arc::new(Shared { facts, remote, board, end: Mutex::default(), changed: Condvar::new() });
        let own = shared.clone();
        std::thread::Builder::new().name("control".to_owned()).spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else {
                    // No more files may be open, perhaps: that does not pass at once.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                };
                let shared = own.clone();
                let thread = std::thread::Builder::new().name("control client".to_owned());
                // Without a thread the client is refused, and the job goes on.
                let _ = thread.spawn(move || drop(serve(client, &shared)));
            }
        })?;
        Ok(ControlServer { path, shared })
    }

    /// The job has ended: tells those who wait for it. A failure comes with its reason.
    pub(crate) fn end(self, how: Result<&'static str, String>) {
        let mut end = self.shared.lock();
        end.how = Some(how);
        self.shared.changed.notify_all();
        let deadline = Instant::now() + FAREWELL;
        while end.waiting > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            end = self.shared.changed.wait_timeout(end, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn serve(client: UnixStream, shared: &Shared) -> io::Result<()> {
    let mut client = BufReader::new(client);
    loop {
        let mut line = String::new();
        if client.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let answer = match Request::from_line(&line) {
            Some(Request::Info) => Answer::Info(shared.info()),
            Some(Request::Savepoint(to)) => shared.savepoint(to),
            Some(Request::Stop(how, to)) => {
                shared.lock().waiting += 1;
                let answer = shared.stop(how, to);
                let sent = client.get_mut().write_all(format!("{}\n", answer.to_line()).as_bytes());
                shared.lock().waiting -= 1;
                shared.changed.notify_all();
                sent?;
                continue;
            }
            None => Answer::Refused("the job was built by another version and does not know this request".to_owned()),
        };
        client.get_mut().write_all(format!("{}\n", answer.to_line()).as_bytes())?;
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> JobState {
        *self.remote.state.borrow()
    }

    fn info(&self) -> JobInfo {
        let progress = self.board.progress();
        JobInfo {
            facts: self.facts.clone(),
            state: self.state().word().to_owned(),
            uptime: progress.uptime,
            restarts: u64::from(progress.restarts),
            checkpoint: progress.checkpoint,
        }
    }

    fn savepoint(&self, to: Option<String>) -> Answer {
        let own = || self.facts.checkpoints.as_ref().map(|path| path.display().to_string());
        let Some(to) = to.or_else(own) else {
            return Answer::Refused(format!(
                "`{}` stores no checkpoints: say where the savepoint goes, with --to DIRECTORY",
                self.facts.job
            ));
        };
        match self.remote.request(Some(to), false).map(|answer| answer.blocking_recv()) {
            Some(Ok(Ok(CheckpointInfo { id, savepoint, .. }))) => {
                Answer::Checkpoint { id, savepoint: savepoint.map(|path| path.display().to_string()) }
            }
            Some(Ok(Err(error))) => Answer::Refused(error.to_string()),
            Some(Err(_)) | None => Answer::Refused(format!(
                "`{}` failed or ended before the savepoint was complete; it is {} now",
                self.facts.job,
                self.state().word()
            )),
        }
    }

    /// Answers when the job has ended, or is not going to.
    fn stop(&self, how: Stop, to: Option<String>) -> Answer {
        let mode = match (how, &to) {
            (Stop::Kill, _) => StopMode::Kill,
            (Stop::Drain, _) => StopMode::Drain,
            (Stop::Checkpoint, Some(_)) => StopMode::Savepoint,
            (Stop::Checkpoint, None) => StopMode::Checkpoint,
        };
        let wants_savepoint = to.is_some();
        let answer = (mode != StopMode::Kill).then(|| self.remote.request(to, true)).flatten();
        self.remote.stop(mode);
        let checkpoint = answer.and_then(|answer| answer.blocking_recv().ok());
        let (mut folder, mut savepoint, mut lost) = (None, None, None);
        match checkpoint {
            Some(Ok(info)) => {
                folder = info.folder.filter(|_| mode != StopMode::Drain).map(|path| path.display().to_string());
                savepoint = info.savepoint.map(|path| path.display().to_string());
            }
            Some(Err(error)) if mode == StopMode::Savepoint && !self.stopping() => {
                return Answer::Refused(format!("{error}\n`{}` goes on", self.facts.job));
            }
            Some(Err(error)) => lost = Some(error.to_string()),
            None if mode == StopMode::Savepoint && self.taken_back() => {
                let job = &self.facts.job;
                return Answer::Refused(format!("an attempt of `{job}` failed when it was to stop; `{job}` goes on"));
            }
            None => {}
        }
        let how = self.ended();
        match (how, lost) {
            (Err(reason), _) => Answer::Refused(format!("`{}` failed while it was stopping: {reason}", self.facts.job)),
            (Ok(how), Some(lost)) => {
                Answer::Refused(format!("`{}` has ended ({how}) without a savepoint: {lost}", self.facts.job))
            }
            (Ok(how), None) if wants_savepoint && savepoint.is_none() && mode != StopMode::Kill => {
                Answer::Refused(format!("`{}` has ended ({how}) before it came to the savepoint", self.facts.job))
            }
            (Ok(how), None) => Answer::Ended { how: how.to_owned(), checkpoint: folder, savepoint },
        }
    }

    /// Whether a stop is under way.
    fn stopping(&self) -> bool {
        *self.remote.stop.borrow() != StopMode::None
    }

    /// Waits for the end.
    /// Whether a stop with a savepoint comes to nothing; false: the job has ended, or somebody has asked for another stop.
    fn taken_back(&self) -> bool {
        let mut end = self.lock();
        while end.how.is_none() {
            match *self.remote.stop.borrow() {
                StopMode::None => return true,
                // It is taken back by a thread that knows nothing of this one.
                StopMode::Savepoint => {}
                StopMode::Checkpoint | StopMode::Drain | StopMode::Kill => return false,
            }
            end = self.changed.wait_timeout(end, TAKEN_BACK).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    fn ended(&self) -> Result<&'static str, String> {
        let mut end = self.lock();
        loop {
            match &end.how {
                Some(how) => return how.clone(),
                None => end = self.changed.wait(end).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}
