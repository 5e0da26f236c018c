//! Who holds a lease, and whether that process is still there.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holder {
    pub host: String,
    /// One kernel, from its start to its end; empty: not known.
    pub boot: String,
    /// Where process numbers mean the same: that of a container, mostly.
    pub namespace: String,
    pub process: u32,
    /// When the process began, in ticks of its kernel: numbers are used again.
    pub began: u64,
    /// Since when it holds the lease, in microseconds since the epoch.
    pub since: i64,
}

static OWN: LazyLock<Holder> = LazyLock::new(|| {
    let read = |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    let process = std::process::id();
    let namespace = std::fs::read_link("/proc/self/ns/pid").map(|link| link.display().to_string()).unwrap_or_default();
    let host = read("/proc/sys/kernel/hostname");
    Holder {
        host: if host.is_empty() { std::env::var("HOSTNAME").unwrap_or_default() } else { host },
        boot: read("/proc/sys/kernel/random/boot_id"),
        namespace,
        process,
        began: began(process).unwrap_or(0),
        since: 0,
    }
});

impl Holder {
    /// This process.
    pub(super) fn own() -> Self {
        Holder { since: crate::seam::now_micros(), ..OWN.clone() }
    }

    pub(super) fn is_own(&self) -> bool {
        self.is_near() && (self.process, self.began) == (OWN.process, OWN.began)
    }

    /// Whether it runs on this kernel, where a lock on a file keeps it out.
    pub(super) fn shares_kernel(&self) -> bool {
        !self.boot.is_empty() && self.boot == OWN.boot
    }

    /// Whether its process number means something here.
    fn is_near(&self) -> bool {
        self.shares_kernel() && !self.namespace.is_empty() && self.namespace == OWN.namespace
    }

    /// Whether it has certainly ended. One that runs elsewhere may have.
    pub(super) fn has_ended(&self) -> bool {
        self.is_near() && OWN.began != 0 && began(self.process) != Some(self.began)
    }

    /// Whether it certainly lives and runs. One that is stopped may be stopped for ever.
    pub(super) fn lives(&self) -> bool {
        self.is_near() && !self.is_own() && stat(self.process).is_some_and(|stat| stat.began == self.began && stat.state != 'T')
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "host": self.host, "boot": self.boot, "namespace": self.namespace, "process": self.process, "began": self.began,
            "since": self.since,
        })
    }

    pub(super) fn from_json(json: &Value) -> Option<Self> {
        let text = |name: &str| Some(json[name].as_str()?.to_owned());
        Some(Holder {
            host: text("host")?,
            boot: text("boot")?,
            namespace: text("namespace")?,
            process: u32::try_from(json["process"].as_u64()?).ok()?,
            began: json["began"].as_u64()?,
            since: json["since"].as_i64()?,
        })
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}", self.process)?;
        if !self.host.is_empty() {
            write!(f, " on `{}`", self.host)?;
        }
        write!(f, ", since {}", crate::value::Timestamp(self.since / 1_000_000 * 1_000_000))
    }
}

/// What the kernel says of a process.
struct Stat {
    state: char,
    began: u64,
}

/// None: there is no such process, or this is no Linux.
fn stat(process: u32) -> Option<Stat> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some(Stat { state: fields.first()?.chars().next()?, began: fields.get(19)?.parse().ok()? })
}

/// When a process began; None: it has ended. One that nobody has waited for yet holds nothing any more.
fn began(process: u32) -> Option<u64> {
    stat(process).filter(|stat| stat.state != 'Z').map(|stat| stat.began)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_one_that_ended_and_from_one_of_the_same_number() {
        let own = Holder::own();
        assert!(own.is_own() && !own.has_ended());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let other = Holder { process: child.id(), began: began(child.id()).unwrap(), ..own.clone() };
        assert!(!other.is_own() && !other.has_ended() && other.lives());
        assert!(Holder { began: other.began + 1, ..other.clone() }.has_ended(), "the number is used again");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(other.has_ended() && !other.lives());
        assert!(!Holder { boot: "another".into(), ..other.clone() }.has_ended(), "nobody knows from here");
        assert!(!Holder { namespace: "pid:[1]".into(), ..other }.has_ended(), "its numbers are others");
    }

    #[test]
    fn it_is_shown_and_stored() {
        let holder = Holder { host: "web-1".into(), process: 77, since: 1_764_457_200_123_456, ..Holder::default() };
        assert_eq!(holder.to_string(), "process 77 on `web-1`, since 2025-11-29T23:00:00Z");
        assert_eq!(Holder::from_json(&holder.to_json()), Some(holder));
    }
}
