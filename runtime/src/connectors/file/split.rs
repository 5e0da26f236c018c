//! The splits of the file source: a file, or a byte range of a plain one.

use super::open::Codec;
use crate::bytes::{Reader, put_str, put_u32, put_u64};
use crate::error::{JobError, JobResult};
use crate::source::Split;

/// A file or a part of it, and how far it has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSplit {
    /// The file.
    pub(crate) path: String,
    pub(crate) codec: Codec,
    /// Records that start in this range of bytes belong to the split. Only plain files have ranges.
    pub(crate) start: u64,
    /// None: to the end of the file.
    pub(crate) end: Option<u64>,
    /// Where the next record starts, in decompressed bytes. `start` when nothing was read.
    pub(crate) position: u64,
}

impl FileSplit {
    pub(crate) fn whole(path: String, codec: Codec) -> Self {
        FileSplit { path, codec, start: 0, end: None, position: 0 }
    }
}

impl Split for FileSplit {
    fn id(&self) -> String {
        if self.start == 0 && self.end.is_none() { self.path.clone() } else { format!("{}@{}", self.path, self.start) }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_str(&mut out, &self.path);
        put_u32(&mut out, self.codec.number());
        put_u64(&mut out, self.start);
        put_u64(&mut out, self.end.unwrap_or(u64::MAX));
        put_u64(&mut out, self.position);
        out
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        let path = input.str()?.to_owned();
        let codec = Codec::of_number(input.u32()?).ok_or_else(|| JobError::new("a split of unknown compression"))?;
        let (start, end, position) = (input.u64()?, input.u64()?, input.u64()?);
        Ok(FileSplit { path, codec, start, end: (end != u64::MAX).then_some(end), position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_survive_their_encoding() {
        let split = FileSplit { path: "a/b.csv".into(), codec: Codec::Gzip, start: 5, end: Some(9), position: 7 };
        assert_eq!(FileSplit::decode(&split.encode()).unwrap(), split);
        let split = FileSplit::whole("a".into(), Codec::Plain);
        assert_eq!(FileSplit::decode(&split.encode()).unwrap(), split);
    }
}
