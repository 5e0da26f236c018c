//! What the record of a lease says: who holds it, whether it lives, and which checkpoints count no more.

use serde_json::{Value, json};

use super::holder::Holder;
use crate::checkpoint::Manifest;

/// So many fences are remembered: a process that was overtaken so often without noticing is long gone.
const FENCES: usize = 16;

/// So many ranges are remembered. Savepoints may stay for ever: one that was given up before so many others is not known as such.
const RANGES: usize = 256;

/// Which checkpoints count no more, although they are complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GivenUp {
    /// `(7, 42)`: what a process of an epoch before 7 completed behind checkpoint 42 came too late.
    pub fences: Vec<(u64, u64)>,
    pub ranges: Vec<Range>,
}

/// A run went on from a checkpoint, although there were later ones. Sinks have taken back what these had committed. Numbers begin anew
/// after a run that has ended: of checkpoints of other runs this says nothing, nor of what is written in later epochs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// Where it went on; 0: at its beginning.
    pub from: u64,
    /// The last that counts no more.
    pub to: u64,
    /// The epoch in which it did.
    pub by: u64,
    /// None: in a record of before runs were named, which counts for all.
    pub run: Option<String>,
}

impl Range {
    fn names(&self, id: u64) -> bool {
        self.from < id && id <= self.to
    }

    fn covers(&self, manifest: &Manifest) -> bool {
        self.names(manifest.checkpoint) && manifest.epoch <= self.by && self.run.as_ref().is_none_or(|run| *run == manifest.run)
    }
}

impl GivenUp {
    /// Why a checkpoint counts no more.
    pub(crate) fn reason(&self, manifest: &Manifest) -> Option<String> {
        let (id, epoch) = (manifest.checkpoint, manifest.epoch);
        let late = || self.fences.iter().any(|&(fence, after)| epoch < fence && id > after);
        let too_late = || "it was completed by a process that had lost the directory to another one".to_owned();
        self.reason_of_savepoint(manifest).or_else(|| late().then(too_late))
    }

    /// Why a savepoint counts no more. None comes too late: it is written when the checkpoint of which it is a copy is complete. It may
    /// stay longer than all checkpoints of its run.
    pub(crate) fn reason_of_savepoint(&self, manifest: &Manifest) -> Option<String> {
        let Range { from, .. } = self.ranges.iter().find(|range| range.covers(manifest))?;
        let from = if *from == 0 { "without it".to_owned() } else { format!("from checkpoint {from}") };
        Some(format!("the job went on {from}, and sinks have taken back what this one had committed"))
    }

    pub(super) fn add_fence(&mut self, epoch: u64, after: u64) {
        self.fences.push((epoch, after));
        let excess = self.fences.len().saturating_sub(FENCES);
        self.fences.drain(..excess);
    }

    /// Also forgets those within it, and the oldest, of which nothing will be there any more.
    pub(super) fn add_range(&mut self, range: Range) {
        let within = |old: &Range| old.run == range.run && range.from <= old.from && old.to <= range.to && old.by <= range.by;
        self.ranges.retain(|old| !within(old));
        self.ranges.push(range);
        let excess = self.ranges.len().saturating_sub(RANGES);
        self.ranges.drain(..excess);
    }
}

/// The record of an epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub holder: Holder,
    /// Grows while the holder lives.
    pub beat: u64,
    /// The holder has ended, and said so.
    pub released: bool,
    pub given_up: GivenUp,
}

impl Record {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let pairs = |pairs: &[(u64, u64)]| pairs.iter().map(|&(a, b)| json!([a, b])).collect::<Vec<_>>();
        let json = json!({
            "holder": self.holder.to_json(),
            "beat": self.beat,
            "released": self.released,
            "fences": pairs(&self.given_up.fences),
            "given_up": self.given_up.ranges.iter().map(|Range { from, to, by, run }| json!([from, to, by, run])).collect::<Vec<_>>(),
        });
        format!("{json}\n").into_bytes()
    }

    /// None: it is not whole.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let json: Value = serde_json::from_slice(bytes).ok()?;
        let pairs = |name: &str| -> Option<Vec<(u64, u64)>> {
            json[name].as_array()?.iter().map(|pair| Some((pair[0].as_u64()?, pair[1].as_u64()?))).collect()
        };
        let ranges = json["given_up"].as_array()?.iter();
        let range = |range: &Value| {
            let (from, to) = (range[0].as_u64()?, range[1].as_u64()?);
            // Without an epoch: one of before there was one, which counts for all.
            let by = range[2].as_u64().unwrap_or(u64::MAX);
            Some(Range { from, to, by, run: range[3].as_str().map(str::to_owned) })
        };
        Some(Record {
            holder: Holder::from_json(&json["holder"])?,
            beat: json["beat"].as_u64()?,
            released: json["released"].as_bool()?,
            given_up: GivenUp { fences: pairs("fences")?, ranges: ranges.map(range).collect::<Option<_>>()? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u64, to: u64, by: u64) -> Range {
        Range { from, to, by, run: Some("first".to_owned()) }
    }

    #[test]
    fn a_record_survives_its_encoding() {
        let given_up = GivenUp { fences: vec![(2, 40)], ranges: vec![range(42, 44, 2), Range { run: None, ..range(45, 46, 3) }] };
        let record = Record { holder: Holder::own(), beat: 7, released: true, given_up };
        assert_eq!(Record::from_bytes(&record.to_bytes()), Some(record.clone()));
        let bytes = record.to_bytes();
        assert_eq!(Record::from_bytes(&bytes[..bytes.len() / 2]), None);
    }

    #[test]
    fn what_counts_no_more() {
        let mut given_up = GivenUp::default();
        given_up.add_fence(3, 10);
        given_up.add_range(range(12, 13, 2));
        given_up.add_range(range(12, 14, 3));
        assert_eq!(given_up.ranges.len(), 1, "an attempt that fails again and again adds nothing");
        let manifest =
            |checkpoint, epoch, run: &str| Manifest { checkpoint, epoch, run: run.to_owned(), ..crate::checkpoint::sample() };
        let reason = |id, epoch| given_up.reason(&manifest(id, epoch, "first"));
        assert_eq!(reason(10, 2), None, "it was there when the directory changed hands");
        assert!(reason(11, 2).is_some(), "too late");
        assert_eq!(reason(11, 3), None, "of the new holder");
        assert_eq!(reason(12, 3), None);
        assert!(reason(13, 3).unwrap().contains("from checkpoint 12"));
        assert!(reason(14, 3).is_some());
        assert_eq!(reason(15, 3), None);
        assert_eq!(reason(13, 4), None, "the run was gone on with from an earlier checkpoint, where its numbers began anew");
        assert_eq!(given_up.reason(&manifest(13, 3, "second")), None, "of another run");
        let savepoint = |id, epoch, run| given_up.reason_of_savepoint(&manifest(id, epoch, run));
        assert_eq!(savepoint(11, 2, "first"), None, "it was complete, or there would be no savepoint");
        assert_eq!(savepoint(13, 1, "earlier"), None, "of a run before, which has ended");
        assert!(savepoint(13, 3, "first").is_some());
    }
}
