//! Speaking to a running job from another process: what it is asked, what it answers, and where it listens.
//!
//! A job listens on a Unix socket in a folder that only its user can enter. One line of JSON asks, one answers. The socket of a
//! process that was killed stays behind, refuses connections, and is removed by the next who looks.

mod client;
mod folder;
mod protocol;
#[cfg(feature = "engine")]
mod server;

pub use client::{Connection, Running, running};
pub use folder::{VARIABLE, folder};
pub use protocol::{Answer, Facts, JobInfo, Request, Stop};
#[cfg(feature = "engine")]
pub(crate) use server::ControlServer;
