//! Every point where something can go wrong, with everything that can go wrong there, at its first and at a later visit.

use std::time::Duration;

use millstream_runtime::sim::{Fault, POINTS};
use millstream_sim::{Kind, Plan, simulate};

#[test]
fn every_point_may_fail_be_slow_or_be_the_end() {
    // `MILLSTREAM_POINT`: only those whose names begin so.
    let wanted = std::env::var("MILLSTREAM_POINT").unwrap_or_default();
    let points = || POINTS.iter().copied().filter(|point| point.starts_with(&wanted));
    let mut unreached: Vec<&str> = points().collect();
    for point in points() {
        for kind in [Kind::Rows, Kind::Windows, Kind::Union, Kind::Apart] {
            for fault in [Fault::Crash, Fault::Error, Fault::Delay(Duration::from_secs(20))] {
                for visit in [1, 2, 5] {
                    let report = simulate(u64::from(visit), kind, Plan::At(point, visit, fault));
                    let report = report.unwrap_or_else(|failure| panic!("{failure}"));
                    if report.hits.contains_key(point) {
                        unreached.retain(|other| *other != point);
                    }
                }
            }
        }
    }
    assert!(unreached.is_empty(), "no simulation comes by {unreached:?}");
}

#[test]
fn a_process_may_be_killed_while_it_restores_and_the_next_ones_too() {
    for point in ["restore.search", "attempt.start", "attempt.restored", "source.discover", "commit.begin", "commit.end"] {
        assert!(POINTS.contains(&point), "{point}");
        for kind in [Kind::Rows, Kind::Windows, Kind::Union, Kind::Apart] {
            for first in [2, 3, 5] {
                let report = simulate(u64::from(first), kind, Plan::Again(point, first, first + 4));
                let report = report.unwrap_or_else(|failure| panic!("{failure}"));
                let (hits, last) = (report.hits.get(point).copied().unwrap_or(0), first + 4);
                assert!(report.processes > 4 || hits < last, "{point}: {} processes, {hits} visits", report.processes);
            }
        }
    }
}
