//! Access to stores of objects: local folders and buckets. What may pass is tried again, the rest is explained.

mod block;
#[cfg(feature = "s3")]
mod copy;
mod create;
mod direct;
#[cfg(test)]
pub(crate) mod faulty;
mod folder;
mod place;
mod retry;
#[cfg(feature = "s3")]
pub mod s3;
#[cfg(feature = "s3")]
mod uploads;

pub(crate) use block::{block, spawn};
pub(crate) use create::create;
pub(crate) use direct::{LARGE, write_durably};
pub(crate) use folder::{create_durably, sync_folder};
#[cfg(test)]
pub(crate) use place::BegunList;
pub(crate) use place::{Begun, Objects, Remote, folder_store, key_of, local_path, open_remote, scheme_of};
pub(crate) use retry::{is_answer, retried, root_cause};
