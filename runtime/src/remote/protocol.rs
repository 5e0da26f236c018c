//! The lines that go over a job's socket.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

/// What a job can be asked. One line, one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// What it is and where it stands.
    Info,
    /// A savepoint below this directory; None: below the job's directory of checkpoints.
    Savepoint(Option<String>),
    /// To end. With the directory of a savepoint, if one is wanted.
    Stop(Stop, Option<String>),
}

/// How a job ends on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// With a last checkpoint, to be resumed.
    Checkpoint,
    /// As if its input had ended: open windows are emitted.
    Drain,
    /// At once, as a crash would.
    Kill,
}

impl Stop {
    fn word(self) -> &'static str {
        match self {
            Stop::Checkpoint => "checkpoint",
            Stop::Drain => "drain",
            Stop::Kill => "kill",
        }
    }
}

impl Request {
    /// As a line, without its end.
    pub fn to_line(&self) -> String {
        match self {
            Request::Info => json!({ "do": "info" }),
            Request::Savepoint(to) => json!({ "do": "savepoint", "to": to }),
            Request::Stop(how, to) => json!({ "do": "stop", "how": how.word(), "to": to }),
        }
        .to_string()
    }

    /// None: this version knows no such request.
    pub fn from_line(line: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(line).ok()?;
        let to = || json["to"].as_str().map(str::to_owned);
        Some(match json["do"].as_str()? {
            "info" => Request::Info,
            "savepoint" => Request::Savepoint(to()),
            "stop" => {
                let how = json["how"].as_str()?;
                let how = [Stop::Checkpoint, Stop::Drain, Stop::Kill].into_iter().find(|stop| stop.word() == how)?;
                Request::Stop(how, to())
            }
            _ => return None,
        })
    }
}

/// What stays the same over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The job's name.
    pub job: String,
    /// The process.
    pub pid: u32,
    /// The directory of checkpoints, absolute; None: it stores none.
    pub checkpoints: Option<PathBuf>,
    /// Where metrics are shown.
    pub metrics: Option<String>,
}

impl Facts {
    /// Of a job that this process runs.
    #[cfg(feature = "engine")]
    pub(crate) fn of(settings: &crate::coordinator::RunSettings) -> Self {
        let everywhere = |directory: &String| crate::places::everywhere(directory).unwrap_or_else(|_| directory.clone()).into();
        Facts {
            job: settings.job.name.to_owned(),
            pid: std::process::id(),
            checkpoints: settings.checkpoint_directory.as_ref().map(everywhere),
            metrics: None,
        }
    }
}

/// A job as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobInfo {
    pub facts: Facts,
    /// In a word: `running`.
    pub state: String,
    pub uptime: Duration,
    /// Attempts after the first.
    pub restarts: u64,
    /// The last complete checkpoint of this process, and its age.
    pub checkpoint: Option<(u64, Duration)>,
}

/// What a job answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Info(JobInfo),
    /// A checkpoint is complete.
    Checkpoint {
        id: u64,
        /// The folder of the savepoint.
        savepoint: Option<String>,
    },
    /// The job has ended: `stopped`, `finished` or `killed`; with the checkpoint to go on from, and the savepoint.
    Ended {
        how: String,
        checkpoint: Option<String>,
        savepoint: Option<String>,
    },
    /// It cannot be done, for this reason.
    Refused(String),
}

impl Answer {
    /// As a line, without its end.
    pub fn to_line(&self) -> String {
        match self {
            Answer::Info(info) => json!({ "info": info.to_json() }),
            Answer::Checkpoint { id, savepoint } => json!({ "checkpoint": { "id": id, "savepoint": savepoint } }),
            Answer::Ended { how, checkpoint, savepoint } => {
                json!({ "ended": { "how": how, "checkpoint": checkpoint, "savepoint": savepoint } })
            }
            Answer::Refused(reason) => json!({ "refused": reason }),
        }
        .to_string()
    }

    /// None: this version knows no such answer.
    pub fn from_line(line: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(line).ok()?;
        let (kind, value) = json.as_object()?.iter().next()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(match kind.as_str() {
            "info" => Answer::Info(JobInfo::from_json(value)?),
            "checkpoint" => Answer::Checkpoint { id: value["id"].as_u64()?, savepoint: text("savepoint") },
            "ended" => Answer::Ended { how: text("how")?, checkpoint: text("checkpoint"), savepoint: text("savepoint") },
            "refused" => Answer::Refused(value.as_str()?.to_owned()),
            _ => return None,
        })
    }
}

impl JobInfo {
    /// For programs: times in milliseconds.
    pub fn to_json(&self) -> Value {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        json!({
            "job": self.facts.job,
            "pid": self.facts.pid,
            "state": self.state,
            "uptime_ms": millis(self.uptime),
            "restarts": self.restarts,
            "checkpoint": self.checkpoint.map(|(id, _)| id),
            "checkpoint_age_ms": self.checkpoint.map(|(_, age)| millis(age)),
            "checkpoints": self.facts.checkpoints.as_ref().map(|path| path.display().to_string()),
            "metrics": self.facts.metrics,
        })
    }

    fn from_json(json: &Value) -> Option<Self> {
        let millis = |name: &str| json[name].as_u64().map(Duration::from_millis);
        Some(JobInfo {
            facts: Facts {
                job: json["job"].as_str()?.to_owned(),
                pid: u32::try_from(json["pid"].as_u64()?).ok()?,
                checkpoints: json["checkpoints"].as_str().map(PathBuf::from),
                metrics: json["metrics"].as_str().map(str::to_owned),
            },
            state: json["state"].as_str()?.to_owned(),
            uptime: millis("uptime_ms")?,
            restarts: json["restarts"].as_u64()?,
            checkpoint: json["checkpoint"].as_u64().zip(millis("checkpoint_age_ms")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood_as_they_were_meant() {
        let to = || Some("/a \"b\"\n".to_owned());
        for request in [
            Request::Info,
            Request::Savepoint(None),
            Request::Savepoint(to()),
            Request::Stop(Stop::Checkpoint, to()),
            Request::Stop(Stop::Drain, None),
            Request::Stop(Stop::Kill, None),
        ] {
            let line = request.to_line();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(Request::from_line(&line), Some(request));
        }
        let facts = Facts { job: "orders".into(), pid: 7, checkpoints: Some("/c".into()), metrics: None };
        let info = JobInfo {
            facts,
            state: "running".into(),
            uptime: Duration::from_secs(3),
            restarts: 2,
            checkpoint: Some((9, Duration::from_millis(5))),
        };
        for answer in [
            Answer::Info(info.clone()),
            Answer::Info(JobInfo { checkpoint: None, ..info }),
            Answer::Checkpoint { id: 4, savepoint: to() },
            Answer::Ended { how: "stopped".into(), checkpoint: to(), savepoint: None },
            Answer::Refused("no".into()),
        ] {
            assert_eq!(Answer::from_line(&answer.to_line()), Some(answer));
        }
        assert_eq!(Request::from_line("{\"do\":\"dance\"}"), None);
        assert_eq!(Answer::from_line("[]"), None);
    }
}
