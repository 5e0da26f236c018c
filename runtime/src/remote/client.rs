//! Finding running jobs and asking them.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::folder::check;
use super::protocol::{Answer, JobInfo, Request};

/// A job that does not say what it is in this time hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// A job that listens.
#[derive(Debug)]
pub struct Running {
    /// The process, as its socket is named.
    pub pid: u32,
    /// None: it does not answer.
    pub info: Option<JobInfo>,
    /// For requests.
    pub connection: Connection,
}

/// All running jobs whose sockets are in this folder, by name and process. A folder that is not there holds none. Sockets without a
/// process are removed.
pub fn running(folder: &Path) -> io::Result<Vec<Running>> {
    match check(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        checked => checked?,
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".sock"));
        let Some(pid) = name.and_then(|name| name.split('-').next()?.parse().ok()) else { continue };
        let mut connection = match UnixStream::connect(&path) {
            Ok(stream) => Connection { stream: BufReader::new(stream) },
            Err(error) => {
                if error.kind() == io::ErrorKind::ConnectionRefused {
                    // Its process is gone.
                    let _ = fs::remove_file(&path);
                }
                continue;
            }
        };
        let info = match connection.ask(&Request::Info, Some(PATIENCE)) {
            Ok(Some(Answer::Info(info))) => Some(info),
            // It ended just now.
            Ok(None) => continue,
            Ok(Some(_)) | Err(_) => None,
        };
        found.push(Running { pid, info, connection });
    }
    found.sort_by_key(|job| (job.info.as_ref().map(|info| info.facts.job.clone()), job.pid));
    Ok(found)
}

/// An open connection to a job.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<UnixStream>,
}

impl Connection {
    /// Asks and waits for the answer, without a limit where none is given. None: the job has ended without one.
    pub fn ask(&mut self, request: &Request, limit: Option<Duration>) -> io::Result<Option<Answer>> {
        self.stream.get_ref().set_read_timeout(limit)?;
        let sent = self.stream.get_mut().write_all(format!("{}\n", request.to_line()).as_bytes());
        let mut line = String::new();
        let read = sent.and_then(|()| self.stream.read_line(&mut line));
        match read {
            Ok(0) => return Ok(None),
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => return Ok(None),
            read => read?,
        };
        let unknown =
            || io::Error::new(io::ErrorKind::InvalidData, "the job was built by another version: its answer is not understood");
        Answer::from_line(&line).map(Some).ok_or_else(unknown)
    }

    /// Waits until the job's process has let go of the connection, which it does when it ends.
    pub fn wait_for_end(mut self, limit: Duration) {
        let _ = self.stream.get_ref().set_read_timeout(Some(limit));
        while matches!(self.stream.fill_buf(), Ok(bytes) if !bytes.is_empty()) {
            let read = self.stream.buffer().len();
            self.stream.consume(read);
        }
    }
}
