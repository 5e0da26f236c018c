//! What operators promise, each against an obvious, slow reference, and the law that all of them keep:
//! `restore(snapshot(run(a))); run(b)` gives what `run(a ++ b)` gives, at any parallelism before and after.

extern crate millstream_runtime as millstream;

mod bench;
mod broadcast_joins;
mod call_async;
mod chains;
mod dedup;
mod harness;
mod joins;
mod law;
mod lookups;
mod over;
mod process;
mod process_broadcast;
mod process_many;
mod process_two;
mod ranking;
mod sessions;
mod tables;
mod ttl;
mod windows;
