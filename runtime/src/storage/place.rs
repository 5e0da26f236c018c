//! Where things are stored: a local folder, or a folder of a bucket: `s3://bucket/path`.

use std::collections::HashMap;
use std::fmt::Debug;
use std::path::Path as LocalPath;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use object_store::local::LocalFileSystem;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{Error, ObjectStore};

use super::root_cause;
use crate::error::{JobError, JobResult};

/// A store in which objects can be uploaded in parts.
pub(crate) trait Objects: ObjectStore + MultipartStore {}

impl<T: ObjectStore + MultipartStore> Objects for T {}

/// An upload that was begun and is neither completed nor aborted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// The object that it would become.
    pub key: String,
    /// What the store calls it.
    pub upload: String,
}

/// A bucket that says which uploads were begun.
pub(crate) trait BegunList: Debug + Send + Sync {
    /// Those for objects whose names begin with this.
    fn begun<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Begun>, Error>>;
}

/// A folder of a bucket. `bucket` and `path` of `s3://bucket/path`.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    /// All of the bucket.
    pub store: Arc<dyn Objects>,
    pub uploads: Arc<dyn BegunList>,
    /// The folder in it.
    pub path: String,
    /// As it was given, without a `/` at its end.
    pub shown: String,
}

impl Remote {
    /// The name of an object in the folder.
    pub fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    /// The bucket, for people: `s3://bucket`.
    pub fn bucket(&self) -> &str {
        self.shown.strip_suffix(&self.path).unwrap_or(&self.shown).trim_end_matches('/')
    }
}

/// What it takes to ask a bucket.
type Client = (Arc<dyn Objects>, Arc<dyn BegunList>);

/// By bucket.
static CLIENTS: LazyLock<Mutex<HashMap<String, Client>>> = LazyLock::new(Mutex::default);

/// Scheme and the rest of a place that is no local folder. Also of one that looks as if a scheme was meant: no folder `s3:` is made
/// where a bucket was to be. The schemes of such places are none that is known.
pub(crate) fn scheme_of(place: &str) -> Option<(&str, &str)> {
    let whole = place.split_once("://").filter(|(scheme, _)| *scheme != "file" && !scheme.contains('/'));
    whole.or_else(|| mistyped(place))
}

/// What others call places that are no folders, and those who write them.
const SCHEMES: [&str; 16] =
    ["s3", "s3a", "s3n", "gs", "gcs", "hdfs", "az", "abfs", "abfss", "wasb", "wasbs", "http", "https", "file", "oss", "minio"];

/// `s3:/bucket`, `s3:bucket`, `s3//bucket`, `file:/folder`: up to where the rest begins. A folder of such a name is `./s3:/bucket`.
fn mistyped(place: &str) -> Option<(&str, &str)> {
    let end = place.find(|letter: char| !letter.is_ascii_alphanumeric() && !"+-.".contains(letter))?;
    let (word, rest) = place.split_at(end);
    let known = SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    let looks_so = match rest.strip_prefix(':') {
        Some(rest) if rest.starts_with("//") => false,
        Some(rest) => known || rest.starts_with('/') && word.len() > 1 && word.starts_with(|letter: char| letter.is_alphabetic()),
        None => known && rest.starts_with("//"),
    };
    looks_so.then(|| place.split_at(end + rest.len() - rest.trim_start_matches([':', '/']).len()))
}

/// The error for a place whose scheme is none that is known.
fn unknown_place(place: &str) -> JobError {
    let known = "there are local folders and `s3://bucket/path`";
    let Some((scheme, rest)) = scheme_of(place) else {
        return JobError::usage(format!("`{place}` is no place that is known: {known}"));
    };
    let word = scheme.trim_end_matches([':', '/']).to_ascii_lowercase();
    let meant = match word.as_str() {
        "file" => format!("/{rest}"),
        "minio" => format!("s3://{rest}"),
        word if word.contains('3') => format!("s3://{rest}"),
        _ => return JobError::usage(format!("`{place}` is no place that is known: {known}")),
    };
    JobError::usage(format!(
        "`{place}` is no place that is known: did you mean `{meant}`? A local folder of this name is `./{place}`"
    ))
}

/// The local folder that a place without another scheme means.
pub(crate) fn local_path(place: &str) -> &str {
    place.strip_prefix("file://").unwrap_or(place)
}

/// Opens a place with a scheme, for requests by [`spawn`](super::spawn) and [`block`](super::block): their threads stay, so that there
/// is one client for each bucket. Nothing is asked of it yet.
pub(crate) fn open_remote(place: &str) -> JobResult<Remote> {
    let (bucket, path) = in_bucket(place)?;
    let shown = place.trim_end_matches('/').to_owned();
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let (store, uploads) = match clients.get(bucket) {
        Some(client) => client.clone(),
        None => clients.entry(bucket.to_owned()).or_insert(open_bucket(bucket, &shown)?).clone(),
    };
    Ok(Remote { store, uploads, path: path.to_owned(), shown })
}

/// The bucket and the path of a place with a scheme.
fn in_bucket(place: &str) -> JobResult<(&str, &str)> {
    match scheme_of(place.trim_end_matches('/')) {
        Some(("s3", rest)) => {
            let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty() {
                return Err(JobError::new(format!("`{place}` names no bucket: a place in S3 is `s3://bucket/path`")));
            }
            Ok((bucket, path.trim_matches('/')))
        }
        _ => Err(unknown_place(place)),
    }
}

#[cfg(feature = "s3")]
fn open_bucket(bucket: &str, shown: &str) -> JobResult<Client> {
    super::s3::open(bucket, shown)
}

#[cfg(not(feature = "s3"))]
fn open_bucket(_bucket: &str, shown: &str) -> JobResult<Client> {
    Err(JobError::new(format!(
        "this binary was built without S3, which `{shown}` needs: pipelines whose text names a place that begins with `s3://` get it; for \
         one that is only given on the command line, build with `--features s3`"
    )))
}

/// The objects in a folder, local or not, with a client of its own. Everything that is written is durable when it is said to be.
pub(crate) fn folder_store(place: &str) -> JobResult<Arc<dyn ObjectStore>> {
    #[cfg(feature = "sim")]
    if let (Some(store), Some((_, rest))) = (crate::seam::store(), scheme_of(place)) {
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        return Ok(Arc::new(PrefixStore::new(store, key_of(path))));
    }
    if scheme_of(place).is_some() {
        let (bucket, path) = in_bucket(place)?;
        let path = Path::parse(path).map_err(|error| bad_path(place, &error))?;
        let (store, _) = open_bucket(bucket, place.trim_end_matches('/'))?;
        return Ok(Arc::new(PrefixStore::new(store, path)));
    }
    let path = LocalPath::new(local_path(place));
    match local(path) {
        Ok(store) => Ok(Arc::new(store)),
        Err(error) => Err(JobError::new(format!("cannot open `{}`: {}", path.display(), root_cause(&error)))),
    }
}

/// The name of an object, as it is: names that come from folders of partitions have `%3A` in them.
pub(crate) fn key_of(name: impl AsRef<str>) -> Path {
    let name = name.as_ref();
    Path::parse(name).unwrap_or_else(|_| Path::from(name))
}

fn bad_path(place: &str, error: &object_store::path::Error) -> JobError {
    JobError::new(format!("`{place}` is no path of a bucket: {error}"))
}

fn local(path: &LocalPath) -> Result<LocalFileSystem, Error> {
    let path = if path.as_os_str().is_empty() { LocalPath::new(".") } else { path };
    Ok(LocalFileSystem::new_with_prefix(path)?.with_fsync(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart() {
        assert_eq!(scheme_of("s3://bucket/a"), Some(("s3", "bucket/a")));
        assert_eq!(scheme_of("a/b://c"), None);
        assert_eq!(scheme_of("file:///tmp/x"), None);
        assert_eq!(local_path("file:///tmp/x"), "/tmp/x");
        assert!(open_remote("s3:///x").unwrap_err().message().contains("names no bucket"));
        let error = open_remote("gs://b/x").unwrap_err();
        assert!(error.message().contains("no place that is known: there are local folders and `s3:"), "{error}");
    }

    #[test]
    fn a_bucket_that_is_misspelled_is_no_folder() {
        for (place, meant) in [
            ("s3:/bucket/jobs", "s3://bucket/jobs"),
            ("s3:bucket/jobs", "s3://bucket/jobs"),
            ("s3:///bucket/jobs", ""),
            ("s3//bucket/jobs", "s3://bucket/jobs"),
            ("S3://bucket/jobs", "s3://bucket/jobs"),
            ("s3a://bucket/jobs", "s3://bucket/jobs"),
            ("S3:/bucket/jobs/", "s3://bucket/jobs"),
            ("file:/tmp/jobs", "/tmp/jobs"),
            ("gs:/bucket", ""),
            ("hdfs:/a/b", ""),
        ] {
            let error = folder_store(place).unwrap_err();
            let said = if meant.is_empty() { "s3://bucket/path`".to_owned() } else { format!("did you mean `{meant}") };
            assert!(error.message().contains(&said), "{place}: {error}");
            assert!(open_remote(place).is_err(), "{place}");
        }
        for place in ["./s3:/bucket", "/s3:/bucket", "data", "data:2024/x", "a/b:/c", "x:/y", "s3", "s3/bucket", "file:///tmp/x"]
        {
            assert_eq!(scheme_of(place), None, "{place}");
        }
    }
}
