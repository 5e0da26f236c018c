//! The same work as the pipelines do, as a plain loop: what a person would write for this one query, and the limit to
//! compare with. No checkpoints, no channels, no late rows, no restart.

mod input;
mod queries;

use std::hint::black_box;
use std::path::PathBuf;

use input::Bids;

/// The queries that have a hand-written twin.
pub const QUERIES: [&str; 6] = ["q0", "q1", "q2", "q11", "q17", "q18"];

/// `xtask handwritten QUERY INPUT EVENTS FILE`
pub fn run(args: &[String]) -> Result<(), String> {
    let [query, input, events, file] = args else {
        return Err("handwritten takes a query, an input, a number of events and a file".to_string());
    };
    let events: u64 = events.parse().map_err(|_| format!("{events} is no number of events"))?;
    let bids = match input.as_str() {
        "json" => Bids::Json(PathBuf::from(file)),
        _ => Bids::Generator(events),
    };
    let query = match query.as_str() {
        "q0" => queries::q0,
        "q1" => queries::q1,
        "q2" => queries::q2,
        "q11" => queries::q11,
        "q17" => queries::q17,
        "q18" => queries::q18,
        other => return Err(format!("{other} has no hand-written twin")),
    };
    let rows = query(&bids)?;
    black_box(rows);
    Ok(())
}
