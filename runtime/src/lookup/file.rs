//! `lookup .. from file`: files that are read as a whole.

use std::marker::PhantomData;

use super::WholeTable;
use crate::connectors::file::Stamps;
use crate::error::JobResult;
use crate::formats::Format;
use crate::options::Options;
use crate::record::Record;

/// Rows of type `T` in the format `F`, of all files that a path means.
#[derive(Clone, Debug)]
pub struct FileLookup<T, F> {
    path: String,
    format: F,
    row: PhantomData<fn() -> T>,
}

impl<T: Record, F: Format> FileLookup<T, F> {
    /// See the connector's options.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        Ok(FileLookup {
            path: options.required_text("path")?.to_owned(),
            format: crate::connectors::format_of(options)?,
            row: PhantomData,
        })
    }
}

impl<T: Record + Send + Sync + 'static, F: Format> WholeTable for FileLookup<T, F> {
    type Row = T;
    type Version = Stamps;

    fn load(&self, known: Option<&Stamps>) -> JobResult<Option<(Stamps, Vec<T>)>> {
        crate::connectors::file::read_all(&self.path, &self.format, known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::CsvFormat;

    #[derive(Clone, Debug, PartialEq, millstream_macros::Record)]
    struct Rate {
        currency: crate::value::Str,
        rate: f64,
    }

    fn lookup(path: &std::path::Path) -> FileLookup<Rate, CsvFormat> {
        FileLookup::from_options(&Options::new().with("path", path.to_str().unwrap())).unwrap()
    }

    #[test]
    fn files_are_read_again_only_when_they_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.csv");
        std::fs::write(&path, "currency,rate\nEUR,0.9\nJPY,150\n").unwrap();
        let lookup = lookup(&path);
        let (version, rows) = lookup.load(None).unwrap().unwrap();
        assert_eq!(rows.len(), 2);
        assert!(lookup.load(Some(&version)).unwrap().is_none());
        let new = folder.path().join("new.csv");
        std::fs::write(&new, "currency,rate\nEUR,0.8\n").unwrap();
        std::fs::rename(&new, &path).unwrap();
        let (_, rows) = lookup.load(Some(&version)).unwrap().unwrap();
        assert_eq!(rows, [Rate { currency: "EUR".into(), rate: 0.8 }]);
    }

    #[test]
    fn bad_rows_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.csv");
        std::fs::write(&path, "currency,rate\nEUR,0.9\nJPY,many\n").unwrap();
        let error = lookup(&path).load(None).unwrap_err();
        for part in ["rates.csv line 3", "rate", "`many`"] {
            assert!(error.message().contains(part), "{error}");
        }
        let missing = lookup(&folder.path().join("none.csv")).load(None).unwrap_err();
        assert!(missing.message().contains("no file matches"), "{missing}");
    }
}
