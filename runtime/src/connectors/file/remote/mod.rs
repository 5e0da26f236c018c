//! Files in a bucket: written by uploads in parts that are completed when their checkpoint is, and read by ranges.
//!
//! Nothing of an upload can be seen before it is completed, so that the upload itself is the staged file. For each there is a
//! small marker beside the files, `.millstream-<run>-<sink>/<name>`, with what it takes to abort the upload: a store gives no list
//! of them to everybody. The marker is stored before the first part is sent: an upload without a marker holds no bytes, and is aborted
//! where the store gives that list.

mod committable;
mod committer;
mod object;
mod success;
#[cfg(test)]
mod tests;
mod upload;

pub(super) use committer::RemoteCommitter;
pub(super) use object::{ObjectFile, cannot_find, find, stamp_at, start_of, store_failure};
pub(super) use success::RemoteSuccess;
pub(super) use upload::{Ending, Flow, Upload, UploadTarget};
