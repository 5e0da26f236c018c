//! Checkpoints of a bucket in a local folder, for those who look into them.

use std::path::{Path as LocalPath, PathBuf};
use std::process::ExitCode;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::{block, folder_store, root_cause};
use crate::checkpoint::{MANIFEST, Manifest, any_number_of, folder_of};
use crate::error::{JobError, JobResult};
use crate::notice::notice;

/// The program behind `millstream state ls s3://..`: a place, and a local folder.
pub fn copy_checkpoints(args: impl Iterator<Item = String>) -> ExitCode {
    let args: Vec<String> = args.collect();
    let copied = match args.as_slice() {
        [place, folder] => copy(place, folder),
        _ => Err(JobError::usage("a place and a folder are needed")),
    };
    match copied {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            notice(&error.to_string());
            ExitCode::from(1)
        }
    }
}

fn copy(place: &str, folder: &str) -> JobResult<()> {
    let place = place.trim_end_matches('/').to_owned();
    let folder = folder.to_owned();
    let (parent, name) = place.rsplit_once('/').unwrap_or(("", &place));
    // There may be nothing to copy.
    std::fs::create_dir_all(&folder).map_err(|error| JobError::io(format_args!("cannot make `{folder}`"), &error))?;
    let is_one = any_number_of(name).is_some() || (is_inside_a_bucket(parent) && has_manifest(&place)?);
    let (store, wanted) = if is_one { (folder_store(parent)?, Some(name.to_owned())) } else { (folder_store(&place)?, None) };
    block(async move {
        let failed = |error: object_store::Error| JobError::new(format!("cannot read `{place}`: {}", root_cause(&error)));
        let listed = store.list_with_delimiter(None).await.map_err(failed)?;
        let names = listed.common_prefixes.iter().filter_map(|folder| folder.filename().map(str::to_owned));
        let mut names: Vec<String> = match &wanted {
            Some(wanted) => names.filter(|name| name == wanted).collect(),
            None => names.filter(|name| any_number_of(name).is_some()).collect(),
        };
        names.sort_unstable_by_key(|name| std::cmp::Reverse(any_number_of(name)));
        // The data of the one that is meant, the newest that is whole if none is; of the others what is said of them.
        let mut data = wanted;
        for name in names {
            let target = local(&folder, &name)?;
            let objects: Vec<ObjectMeta> = store.list(Some(&Path::from(name.as_str()))).try_collect().await.map_err(failed)?;
            let manifest = objects.iter().find(|object| object.location.filename() == Some(MANIFEST));
            let Some(manifest) = manifest else { continue };
            let bytes = fetch(&*store, &manifest.location, &target).await?;
            let manifest_of = Manifest::from_bytes(&bytes);
            if data.is_none() && manifest_of.is_ok() {
                data = Some(name.clone());
            }
            if data.as_ref() == Some(&name) {
                for object in objects.iter().filter(|object| object.location != manifest.location) {
                    fetch(&*store, &object.location, &target).await?;
                }
                for file in manifest_of.iter().flat_map(|manifest| &manifest.files) {
                    let Some(other) = file.of else { continue };
                    let target = local(&folder, &folder_of(other))?;
                    fetch(&*store, &Path::from(file.path(&name)), &target).await?;
                }
            }
        }
        Ok(())
    })?
}

/// Whether there is more than the name of a bucket.
fn is_inside_a_bucket(place: &str) -> bool {
    place.split_once("://").is_some_and(|(_, path)| !path.is_empty())
}

fn has_manifest(place: &str) -> JobResult<bool> {
    let (store, place) = (folder_store(place)?, place.to_owned());
    block(async move {
        match store.head(&Path::from(MANIFEST)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(JobError::new(format!("cannot read `{place}`: {}", root_cause(&error)))),
        }
    })?
}

/// A folder beside the others.
fn local(folder: &str, name: &str) -> JobResult<PathBuf> {
    let target = LocalPath::new(folder).join(name);
    std::fs::create_dir_all(&target).map_err(|error| JobError::io(format_args!("cannot make `{}`", target.display()), &error))?;
    Ok(target)
}

async fn fetch(store: &dyn ObjectStore, path: &Path, folder: &LocalPath) -> JobResult<Vec<u8>> {
    let got = async { store.get(path).await?.bytes().await }.await;
    let bytes = got.map_err(|error| JobError::new(format!("cannot read `{path}`: {}", root_cause(&error))))?.to_vec();
    let target = folder.join(path.filename().unwrap_or_default());
    std::fs::write(&target, &bytes).map_err(|error| JobError::io(format_args!("cannot write `{}`", target.display()), &error))?;
    Ok(bytes)
}
