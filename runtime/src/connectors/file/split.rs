//! The splits of the file source: a file, or a byte range of a plain one.

use super::open::Codec;
use super::records::line_at;
use super::stamp::Stamp;
use crate::bytes::{Reader, put_str, put_u32, put_u64};
use crate::connectors::emitter::RecordSplit;
use crate::error::{JobError, JobResult};
use crate::source::Split;

/// A file or a part of it, and how far it has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSplit {
    /// The file.
    pub(crate) path: String,
    /// How many other files were found under this name before.
    pub(crate) version: u32,
    pub(crate) codec: Codec,
    /// The file when it was found; None: it is taken as it is.
    pub(crate) found: Option<Stamp>,
    /// Records that start in this range of bytes belong to the split. Only plain files have ranges.
    pub(crate) start: u64,
    /// None: to the end of the file.
    pub(crate) end: Option<u64>,
    /// Where the next record starts, in decompressed bytes. `start` when nothing was read.
    pub(crate) position: u64,
}

impl FileSplit {
    pub(crate) fn whole(path: String, codec: Codec) -> Self {
        FileSplit { path, version: 0, codec, found: None, start: 0, end: None, position: 0 }
    }
}

impl Split for FileSplit {
    fn id(&self) -> String {
        let mut id = self.path.clone();
        if self.version > 0 {
            id.push_str(&format!("#{}", self.version));
        }
        if self.start > 0 || self.end.is_some() {
            id.push_str(&format!("@{}", self.start));
        }
        id
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_str(&mut out, &self.path);
        put_u32(&mut out, self.version);
        put_u32(&mut out, self.codec.number());
        put_u32(&mut out, u32::from(self.found.is_some()));
        self.found.unwrap_or_default().encode(&mut out);
        put_u64(&mut out, self.start);
        put_u64(&mut out, self.end.unwrap_or(u64::MAX));
        put_u64(&mut out, self.position);
        out
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        let (path, version) = (input.str()?.to_owned(), input.u32()?);
        let codec = Codec::of_number(input.u32()?).ok_or_else(|| JobError::new("a split of unknown compression"))?;
        let has_stamp = input.u32()? != 0;
        let stamp = Stamp::decode(&mut input)?;
        let (start, end, position) = (input.u64()?, input.u64()?, input.u64()?);
        let end = (end != u64::MAX).then_some(end);
        Ok(FileSplit { path, version, codec, found: has_stamp.then_some(stamp), start, end, position })
    }
}

impl RecordSplit for FileSplit {
    fn origin(&self) -> &str {
        &self.path
    }

    fn advance(&mut self, position: u64) {
        self.position = position;
    }

    fn line_at(&self, position: u64) -> Option<u64> {
        line_at(&self.path, self.codec, position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_survive_their_encoding() {
        let found = Some(Stamp { len: 20, modified: 1, inode: 2, born: 3 });
        let whole = FileSplit::whole("a/b.csv".into(), Codec::Plain);
        let part = FileSplit { found, version: 2, codec: Codec::Gzip, start: 5, end: Some(9), position: 7, ..whole.clone() };
        for split in [whole, part] {
            assert_eq!(FileSplit::decode(&split.encode()).unwrap(), split);
        }
    }

    #[test]
    fn files_of_one_name_and_ranges_of_one_file_are_told_apart() {
        let whole = FileSplit::whole("a.csv".into(), Codec::Plain);
        let ids = [
            whole.id(),
            FileSplit { version: 1, ..whole.clone() }.id(),
            FileSplit { end: Some(9), ..whole.clone() }.id(),
            FileSplit { start: 9, ..whole.clone() }.id(),
        ];
        assert_eq!(ids, ["a.csv", "a.csv#1", "a.csv@0", "a.csv@9"]);
    }
}
