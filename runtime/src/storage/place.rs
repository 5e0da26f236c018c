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
use crate::places;
pub(crate) use crate::places::{local_path, scheme_of};

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
        _ => Err(JobError::usage(places::unknown(place))),
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
    }
}
