//! Objects that are made once: of several who try, one succeeds.

use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutPayload};

use super::retried;

/// Makes an object that must not be there yet; [`Error::AlreadyExists`] where it is, unless it has just these bytes: a request
/// whose answer was lost is made again, and finds its own work.
///
/// `alone`: nobody else writes here, so that a file system without hard links will do, too.
pub(crate) async fn create(store: &dyn ObjectStore, path: &Path, bytes: Vec<u8>, alone: bool) -> Result<(), Error> {
    let payload = PutPayload::from(bytes.clone());
    let made = retried(|| store.put_opts(path, payload.clone(), PutMode::Create.into())).await;
    match made {
        Ok(_) => Ok(()),
        Err(Error::AlreadyExists { path: shown, source }) => {
            let there = retried(|| async { store.get(path).await?.bytes().await }).await?;
            if there == bytes { Ok(()) } else { Err(Error::AlreadyExists { path: shown, source }) }
        }
        Err(error) if alone && lacks_hard_links(&error) => retried(|| store.put(path, payload.clone())).await.map(drop),
        Err(error) => Err(error),
    }
}

/// A local file is made once by a hard link, which some file systems do not have.
fn lacks_hard_links(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            return matches!(io.kind(), std::io::ErrorKind::Unsupported | std::io::ErrorKind::PermissionDenied);
        }
        cause = inner.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;
    use crate::storage::faulty::{Faulty, Request};

    async fn make(store: &Faulty, bytes: &[u8], alone: bool) -> Result<(), Error> {
        create(store, &Path::from("once"), bytes.to_vec(), alone).await
    }

    #[tokio::test]
    async fn of_several_one_succeeds_also_when_its_answer_is_lost() {
        let store = Faulty::default();
        store.fail(Request::PutAnswer, "once", ErrorKind::TimedOut, 1);
        make(&store, b"first", false).await.unwrap();
        assert!(matches!(make(&store, b"second", true).await, Err(Error::AlreadyExists { .. })));
    }

    #[tokio::test]
    async fn without_hard_links_it_is_made_by_one_that_is_alone() {
        for kind in [ErrorKind::Unsupported, ErrorKind::PermissionDenied] {
            let store = Faulty::default();
            store.fail(Request::Put, "once", kind, 2);
            assert!(make(&store, b"one of several", false).await.is_err());
            make(&store, b"alone", true).await.unwrap();
        }
    }
}
