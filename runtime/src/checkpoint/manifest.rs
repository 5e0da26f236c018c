//! The manifest of a checkpoint: written last, it makes the checkpoint valid. JSON, then a line with its own checksum.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::{NewFile, StateEntry, decode_entries, folder_of};
use crate::graph::{KeptBy, KeyText};

/// The version of everything in a checkpoint directory.
///
/// 1: every checkpoint has all its files. 2: files of other checkpoints, and key groups in pieces.
pub const FORMAT: u64 = 2;

/// What a checkpoint says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    pub job: String,
    pub fingerprint: u64,
    /// The id of the run, the same in all checkpoints of a run and its resumed continuations.
    pub run: String,
    pub checkpoint: u64,
    /// Of the lease that its writer held on the directory; 0: none.
    pub epoch: u64,
    pub max_parallelism: u32,
    /// The folder of the checkpoint that the job has taken over at last, and from which this one comes: it may be removed since.
    pub claimed: Option<String>,
    /// All sources had ended because the job was told to drain: windows that were open have been written, though more rows may come.
    pub drained: bool,
    pub chains: Vec<ChainEntry>,
    /// What the state of operators is kept by. None: whoever wrote it did not say.
    pub kept_by: Option<Vec<KeptBy>>,
    pub files: Vec<DataFile>,
}

/// One chain at the time of the checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainEntry {
    pub name: String,
    /// Its operators. Empty: whoever wrote it did not say.
    pub operators: Vec<String>,
    /// Per subtask: whether its input had ended, and its watermark.
    pub subtasks: Vec<SubtaskEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubtaskEntry {
    pub finished: bool,
    pub watermark: i64,
}

/// A data file. In the order of the manifest they hold the pieces of a key group in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    pub name: String,
    pub size: u64,
    pub xxh3: u64,
    /// The checkpoint in whose folder it is; None: in that of the manifest.
    pub of: Option<u64>,
}

impl DataFile {
    /// A file of this name with these bytes.
    pub fn of(name: String, bytes: &[u8]) -> Self {
        DataFile { name, size: bytes.len() as u64, xxh3: xxh3_64(bytes), of: None }
    }

    /// A file of this name that is to be written.
    pub fn new(name: String, file: &NewFile) -> Self {
        DataFile { name, size: file.bytes.len() as u64, xxh3: file.xxh3, of: None }
    }

    /// Where it is, beside the folder of the manifest: `checkpoint-000012/0000.state`.
    pub fn path(&self, folder: &str) -> String {
        match self.of {
            Some(other) => format!("{}/{}", folder_of(other), self.name),
            None => format!("{folder}/{}", self.name),
        }
    }

    /// Whether these bytes are what was written; else what is wrong with them.
    pub fn check(&self, bytes: &[u8]) -> Result<(), String> {
        if bytes.len() as u64 != self.size {
            return Err(format!("{} bytes, should be {}", bytes.len(), self.size));
        }
        if xxh3_64(bytes) != self.xxh3 {
            return Err("its checksum is wrong".to_owned());
        }
        Ok(())
    }

    /// What is in the file, if these bytes are what was written; else what is wrong with them.
    pub fn entries(&self, bytes: &[u8]) -> Result<Vec<StateEntry>, String> {
        self.check(bytes)?;
        decode_entries(bytes).map_err(|error| error.message().to_owned())
    }
}

/// Why a manifest cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestError {
    /// Damaged: an older checkpoint may be whole.
    Corrupt(String),
    /// Written by a newer version.
    Newer(u64),
}

impl Manifest {
    /// How many subtasks a chain had; 0: it was not there.
    pub fn subtasks_of(&self, chain: &str) -> usize {
        self.chains.iter().find(|old| old.name == chain).map_or(0, |old| old.subtasks.len())
    }

    /// Whether all input had ended when it was taken.
    pub fn is_of_the_end(&self) -> bool {
        let mut subtasks = self.chains.iter().flat_map(|chain| &chain.subtasks).peekable();
        subtasks.peek().is_some() && subtasks.all(|subtask| subtask.finished)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let chains: Vec<Value> = self
            .chains
            .iter()
            .map(|chain| {
                let subtasks: Vec<Value> = chain
                    .subtasks
                    .iter()
                    .map(|subtask| json!({ "finished": subtask.finished, "watermark": subtask.watermark }))
                    .collect();
                json!({ "name": chain.name, "operators": chain.operators, "subtasks": subtasks })
            })
            .collect();
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|file| {
                let mut json = json!({ "name": file.name, "size": file.size, "xxh3": format!("{:016x}", file.xxh3) });
                if let Some(other) = file.of {
                    json["of"] = other.into();
                }
                json
            })
            .collect();
        let mut json = json!({
            "format": FORMAT,
            "job": self.job,
            "fingerprint": format!("{:016x}", self.fingerprint),
            "run": self.run,
            "checkpoint": self.checkpoint,
            "epoch": self.epoch,
            "max_parallelism": self.max_parallelism,
            "chains": chains,
            "files": files,
        });
        if self.drained {
            json["drained"] = true.into();
        }
        if let Some(claimed) = &self.claimed {
            json["claimed"] = claimed.as_str().into();
        }
        if let Some(kept_by) = &self.kept_by {
            json["kept_by"] = kept_by.iter().map(kept_by_to_json).collect();
        }
        let mut bytes = json.to_string().into_bytes();
        let checksum = xxh3_64(&bytes);
        bytes.extend_from_slice(format!("\nxxh3 {checksum:016x}\n").as_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ManifestError> {
        let corrupt = |what: &str| ManifestError::Corrupt(what.to_owned());
        let text = std::str::from_utf8(bytes).map_err(|_| corrupt("it is not UTF-8"))?;
        if text.is_empty() {
            return Err(corrupt("it is empty"));
        }
        let (body, checksum) = text.split_once('\n').ok_or_else(|| corrupt("its end is missing"))?;
        let checksum = checksum.strip_prefix("xxh3 ").and_then(|rest| rest.strip_suffix('\n'));
        let checksum = checksum.ok_or_else(|| corrupt("its end is missing"))?;
        if u64::from_str_radix(checksum, 16) != Ok(xxh3_64(body.as_bytes())) {
            return Err(corrupt("its checksum is wrong"));
        }
        let json: Value = serde_json::from_str(body).map_err(|error| ManifestError::Corrupt(error.to_string()))?;
        let format = json["format"].as_u64().ok_or_else(|| corrupt("it has no format version"))?;
        if format > FORMAT {
            return Err(ManifestError::Newer(format));
        }
        Manifest::from_json(&json).ok_or_else(|| corrupt("a field is missing"))
    }

    fn from_json(json: &Value) -> Option<Self> {
        let chains = json["chains"].as_array()?.iter().map(|chain| {
            let subtasks = chain["subtasks"].as_array()?.iter().map(|subtask| {
                Some(SubtaskEntry { finished: subtask["finished"].as_bool()?, watermark: subtask["watermark"].as_i64()? })
            });
            let operators = chain["operators"].as_array().into_iter().flatten().map(|uid| uid.as_str().map(str::to_owned));
            Some(ChainEntry {
                name: chain["name"].as_str()?.to_owned(),
                operators: operators.collect::<Option<_>>()?,
                subtasks: subtasks.collect::<Option<_>>()?,
            })
        });
        let files = json["files"].as_array()?.iter().map(|file| {
            Some(DataFile {
                name: file["name"].as_str()?.to_owned(),
                size: file["size"].as_u64()?,
                xxh3: u64::from_str_radix(file["xxh3"].as_str()?, 16).ok()?,
                of: file.get("of").map(Value::as_u64).map_or(Some(None), |of| of.map(Some))?,
            })
        });
        Some(Manifest {
            job: json["job"].as_str()?.to_owned(),
            fingerprint: u64::from_str_radix(json["fingerprint"].as_str()?, 16).ok()?,
            run: json["run"].as_str()?.to_owned(),
            checkpoint: json["checkpoint"].as_u64()?,
            epoch: json["epoch"].as_u64().unwrap_or(0),
            max_parallelism: u32::try_from(json["max_parallelism"].as_u64()?).ok()?,
            claimed: json["claimed"].as_str().map(str::to_owned),
            drained: json["drained"].as_bool().unwrap_or_default(),
            chains: chains.collect::<Option<_>>()?,
            kept_by: json.get("kept_by").map(kept_by_from_json).map_or(Some(None), |kept_by| kept_by.map(Some))?,
            files: files.collect::<Option<_>>()?,
        })
    }
}

fn kept_by_to_json(kept: &KeptBy) -> Value {
    let keys = kept.keys.iter().map(|key| json!({ "by": key.text, "from": key.from }));
    let values = kept.values.iter().map(|(name, value)| json!({ "name": name, "of": value.text, "from": value.from }));
    json!({
        "operator": kept.uid,
        "keys": keys.collect::<Vec<_>>(),
        "window": kept.window,
        "values": values.collect::<Vec<_>>(),
    })
}

fn kept_by_from_json(json: &Value) -> Option<Vec<KeptBy>> {
    let texts = |json: &Value| json.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect::<Option<_>>();
    let operators = json.as_array()?.iter().map(|kept| {
        let keys = kept["keys"]
            .as_array()?
            .iter()
            .map(|key| Some(KeyText { text: key["by"].as_str()?.to_owned(), from: texts(&key["from"])? }));
        let (uid, window) = (kept["operator"].as_str()?.to_owned(), kept["window"].as_str()?.to_owned());
        // A version that did not look at them said nothing of them.
        let values = kept["values"].as_array().into_iter().flatten().map(|value| {
            let (name, text) = (value["name"].as_str()?.to_owned(), value["of"].as_str()?.to_owned());
            Some((name, KeyText { text, from: texts(&value["from"])? }))
        });
        Some(KeptBy { uid, keys: keys.collect::<Option<_>>()?, window, values: values.collect::<Option<_>>()? })
    });
    operators.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn sample() -> Manifest {
        Manifest {
            job: "flight_delays".into(),
            fingerprint: 0xfeed_0000_0000_0001,
            run: "r1".into(),
            checkpoint: 12,
            epoch: 3,
            max_parallelism: 128,
            claimed: Some("/old/checkpoint-000009".into()),
            drained: true,
            chains: vec![ChainEntry {
                name: "flights".into(),
                operators: vec!["flights/source/0".into()],
                subtasks: vec![SubtaskEntry { finished: true, watermark: i64::MIN }],
            }],
            kept_by: Some(vec![KeptBy::new("delays/aggregate/0").key("day", &["a", "b"]).window("tumbling(1d)").value(
                "total",
                "sum(v)",
                &["sum(w)"],
            )]),
            files: vec![
                DataFile { name: "flights-0.state".into(), size: 10, xxh3: u64::MAX, of: Some(9) },
                DataFile { name: "flights-0.state".into(), size: 10, xxh3: u64::MAX, of: None },
            ],
        }
    }

    #[test]
    fn a_manifest_survives_its_encoding() {
        assert_eq!(Manifest::from_bytes(&sample().to_bytes()), Ok(sample()));
    }

    #[test]
    fn any_damage_is_noticed() {
        let bytes = sample().to_bytes();
        for len in 0..bytes.len() {
            assert!(matches!(Manifest::from_bytes(&bytes[..len]), Err(ManifestError::Corrupt(_))), "cut at {len}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Manifest::from_bytes(&damaged).is_err(), "a bit flipped at {at}");
        }
    }

    #[test]
    fn a_newer_format_is_recognised() {
        let text = String::from_utf8(sample().to_bytes()).unwrap();
        let body = text.lines().next().unwrap().replace("\"format\":2", "\"format\":3");
        let newer = format!("{body}\nxxh3 {:016x}\n", xxh3_64(body.as_bytes()));
        assert_eq!(Manifest::from_bytes(newer.as_bytes()), Err(ManifestError::Newer(3)));
    }

    #[test]
    fn the_first_format_is_read() {
        let text = r#"{"format":1,"job":"j","fingerprint":"01","run":"r","checkpoint":3,"max_parallelism":8,"chains":[],"files":[{"name":"0000.state","size":8,"xxh3":"0f"}]}"#;
        let bytes = format!("{text}\nxxh3 {:016x}\n", xxh3_64(text.as_bytes()));
        let manifest = Manifest::from_bytes(bytes.as_bytes()).unwrap();
        assert_eq!((manifest.checkpoint, manifest.epoch, manifest.claimed, manifest.kept_by), (3, 0, None, None));
        assert_eq!(manifest.files, [DataFile { name: "0000.state".into(), size: 8, xxh3: 15, of: None }]);
        assert_eq!(manifest.files[0].path("savepoint-j-000003"), "savepoint-j-000003/0000.state");
    }
}
