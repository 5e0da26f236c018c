//! What the record of a lease says: who holds it, whether it lives, and which checkpoints count no more.

use serde_json::{Value, json};

use super::holder::Holder;

/// So many fences are remembered: a process that was overtaken so often without noticing is long gone.
const FENCES: usize = 16;

/// Which checkpoints count no more, although they are complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GivenUp {
    /// `(7, 42)`: what a process of an epoch before 7 completed behind checkpoint 42 came too late.
    pub fences: Vec<(u64, u64)>,
    /// `(42, 44, 7)`: the job of epoch 7 went on from 42, although 43 and 44 were there. Sinks have taken back what these had
    /// committed. It says nothing of what is written in later epochs: numbers begin anew after a run that has ended.
    pub ranges: Vec<(u64, u64, u64)>,
}

impl GivenUp {
    /// Why a checkpoint of this number, written in this epoch, counts no more.
    pub(crate) fn reason(&self, id: u64, epoch: u64) -> Option<String> {
        let covers = |&&(from, to, by): &&(u64, u64, u64)| from < id && id <= to && epoch <= by;
        if let Some((from, ..)) = self.ranges.iter().find(covers) {
            let from = if *from == 0 { "without it".to_owned() } else { format!("from checkpoint {from}") };
            return Some(format!("the job went on {from}, and sinks have taken back what this one had committed"));
        }
        let late = self.fences.iter().any(|&(fence, after)| epoch < fence && id > after);
        late.then(|| "it was completed by a process that had lost the directory to another one".to_owned())
    }

    pub(super) fn add_fence(&mut self, epoch: u64, after: u64) {
        self.fences.push((epoch, after));
        let excess = self.fences.len().saturating_sub(FENCES);
        self.fences.drain(..excess);
    }

    /// Whether one of this number may count no more; of which epoch it is, its manifest says.
    pub(crate) fn names(&self, id: u64) -> bool {
        self.ranges.iter().any(|&(from, to, _)| from < id && id <= to)
    }

    /// Also forgets ranges of checkpoints that are not there any more.
    pub(super) fn add_range(&mut self, from: u64, to: u64, by: u64, oldest: u64) {
        self.ranges.retain(|&(_, end, _)| end >= oldest);
        self.ranges.push((from, to, by));
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
            "given_up": self.given_up.ranges.iter().map(|&(from, to, by)| json!([from, to, by])).collect::<Vec<_>>(),
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
        // Without an epoch: one of before there was one, which counts for all.
        let range = |range: &Value| Some((range[0].as_u64()?, range[1].as_u64()?, range[2].as_u64().unwrap_or(u64::MAX)));
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

    #[test]
    fn a_record_survives_its_encoding() {
        let given_up = GivenUp { fences: vec![(2, 40)], ranges: vec![(42, 44, 2)] };
        let record = Record { holder: Holder::own(), beat: 7, released: true, given_up };
        assert_eq!(Record::from_bytes(&record.to_bytes()), Some(record.clone()));
        let bytes = record.to_bytes();
        assert_eq!(Record::from_bytes(&bytes[..bytes.len() / 2]), None);
    }

    #[test]
    fn what_counts_no_more() {
        let mut given_up = GivenUp::default();
        given_up.add_fence(3, 10);
        given_up.add_range(12, 14, 3, 1);
        assert_eq!(given_up.reason(10, 2), None, "it was there when the directory changed hands");
        assert!(given_up.reason(11, 2).is_some(), "too late");
        assert_eq!(given_up.reason(11, 3), None, "of the new holder");
        assert_eq!(given_up.reason(12, 3), None);
        assert!(given_up.reason(13, 3).unwrap().contains("from checkpoint 12"));
        assert!(given_up.reason(14, 3).is_some());
        assert_eq!(given_up.reason(15, 3), None);
        assert_eq!(given_up.reason(13, 4), None, "of a later run, whose numbers began anew");
    }
}
