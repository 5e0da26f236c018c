//! Access to stores of objects: local folders and buckets. What may pass is tried again, the rest is explained.

mod create;
#[cfg(test)]
pub(crate) mod faulty;
mod folder;
mod retry;

pub(crate) use create::create;
pub(crate) use folder::{create_durably, sync_folder};
pub(crate) use retry::{retried, root_cause};
