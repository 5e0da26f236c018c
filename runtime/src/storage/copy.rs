//! Checkpoints of a bucket in a local folder, for those who look into them.

use std::path::Path as LocalPath;
use std::process::ExitCode;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::{block, folder_store, root_cause};
use crate::checkpoint::{MANIFEST, Manifest, folder_of, number_of};
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
    let (directory, wanted) = match place.rsplit_once('/').map(|(directory, name)| (directory, number_of(name))) {
        Some((directory, Some(id))) => (directory.to_owned(), Some(id)),
        _ => (place.clone(), None),
    };
    let store = folder_store(&directory)?;
    // There may be nothing to copy.
    std::fs::create_dir_all(&folder).map_err(|error| JobError::io(format_args!("cannot make `{folder}`"), &error))?;
    block(async move {
        let failed = |error: object_store::Error| JobError::new(format!("cannot read `{place}`: {}", root_cause(&error)));
        let listed = store.list_with_delimiter(None).await.map_err(failed)?;
        let mut ids: Vec<u64> = listed.common_prefixes.iter().filter_map(|folder| number_of(folder.filename()?)).collect();
        ids.sort_unstable();
        // The data of the one that is meant, the newest that is whole if none is; of the others what is said of them.
        let mut data = wanted;
        for id in ids.into_iter().rev().filter(|id| wanted.is_none_or(|wanted| *id == wanted)) {
            let prefix = Path::from(folder_of(id));
            let target = LocalPath::new(&folder).join(folder_of(id));
            std::fs::create_dir_all(&target)
                .map_err(|error| JobError::io(format_args!("cannot make `{}`", target.display()), &error))?;
            let objects: Vec<ObjectMeta> = store.list(Some(&prefix)).try_collect().await.map_err(failed)?;
            let manifest = objects.iter().find(|object| object.location.filename() == Some(MANIFEST));
            let Some(manifest) = manifest else { continue };
            let bytes = fetch(&*store, &manifest.location, &target).await?;
            let manifest_of = Manifest::from_bytes(&bytes);
            if data.is_none() && manifest_of.is_ok() {
                data = Some(id);
            }
            if data == Some(id) {
                for object in objects.iter().filter(|object| object.location != manifest.location) {
                    fetch(&*store, &object.location, &target).await?;
                }
                for file in manifest_of.iter().flat_map(|manifest| &manifest.files) {
                    let Some(other) = file.of else { continue };
                    let target = LocalPath::new(&folder).join(folder_of(other));
                    std::fs::create_dir_all(&target)
                        .map_err(|error| JobError::io(format_args!("cannot make `{}`", target.display()), &error))?;
                    fetch(&*store, &Path::from(file.path(&folder_of(id))), &target).await?;
                }
            }
        }
        Ok(())
    })?
}

async fn fetch(store: &dyn ObjectStore, path: &Path, folder: &LocalPath) -> JobResult<Vec<u8>> {
    let got = async { store.get(path).await?.bytes().await }.await;
    let bytes = got.map_err(|error| JobError::new(format!("cannot read `{path}`: {}", root_cause(&error))))?.to_vec();
    let target = folder.join(path.filename().unwrap_or_default());
    std::fs::write(&target, &bytes).map_err(|error| JobError::io(format_args!("cannot write `{}`", target.display()), &error))?;
    Ok(bytes)
}
