//! What the file sink commits in a bucket: an upload that waits to be completed.

use crate::bytes::{Reader, put_str, put_u32, put_u64};
use crate::error::JobResult;

/// An upload of which all parts are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UploadedFile {
    /// The object that it becomes.
    pub key: String,
    /// The name of its marker.
    pub marker: String,
    /// What the store calls it.
    pub upload: String,
    /// What the store calls its parts, in order.
    pub parts: Vec<String>,
    pub size: u64,
}

impl UploadedFile {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for text in [&self.key, &self.marker, &self.upload] {
            put_str(&mut out, text);
        }
        put_u64(&mut out, self.size);
        put_u32(&mut out, u32::try_from(self.parts.len()).unwrap_or(u32::MAX));
        self.parts.iter().for_each(|part| put_str(&mut out, part));
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        let (key, marker, upload) = (input.str()?.to_owned(), input.str()?.to_owned(), input.str()?.to_owned());
        let size = input.u64()?;
        let parts = (0..input.u32()?).map(|_| input.str().map(str::to_owned)).collect::<JobResult<_>>()?;
        Ok(UploadedFile { key, marker, upload, parts, size })
    }
}

/// A marker: the object and the upload, a line each.
pub(super) fn marker_text(key: &str, upload: &str) -> String {
    format!("{key}\n{upload}\n")
}

/// What [`marker_text`] gave.
pub(super) fn parse_marker(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix('\n')?.split_once('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_survive_their_encoding() {
        let file = UploadedFile {
            key: "out/part-0.json".into(),
            marker: "0-1-abc".into(),
            upload: "id".into(),
            parts: vec!["\"a\"".into(), "\"b\"".into()],
            size: 7,
        };
        assert_eq!(UploadedFile::decode(&file.encode()).unwrap(), file);
        assert_eq!(parse_marker(&marker_text("a b", "id")), Some(("a b", "id")));
        assert_eq!(parse_marker("cut"), None);
    }
}
