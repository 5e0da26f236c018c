//! Every point where something can go wrong, with everything that can go wrong there, at its first and at a later visit.

use std::time::Duration;

use millstream_runtime::sim::{Fault, POINTS};
use millstream_sim::{Kind, Plan, simulate_all};

const KINDS: [Kind; 5] = [Kind::Rows, Kind::Windows, Kind::Union, Kind::Apart, Kind::Joined];

#[test]
fn every_point_may_fail_be_slow_or_be_the_end() {
    // `MILLSTREAM_POINT`: only those whose names begin so.
    let wanted = std::env::var("MILLSTREAM_POINT").unwrap_or_default();
    let points = || POINTS.iter().copied().filter(|point| point.starts_with(&wanted));
    let mut plans = Vec::new();
    for point in points() {
        for kind in KINDS {
            for fault in [Fault::Crash, Fault::Error, Fault::Delay(Duration::from_secs(20))] {
                plans.extend([1, 2, 5].map(|visit| (u64::from(visit), kind, Plan::At(point, visit, fault))));
            }
        }
    }
    let mut unreached: Vec<&str> = points().collect();
    for hits in simulate_all(&plans, |report| report.hits) {
        let hits = hits.unwrap_or_else(|failure| panic!("{failure}"));
        unreached.retain(|point| !hits.contains_key(point));
    }
    assert!(unreached.is_empty(), "no simulation comes by {unreached:?}");
}

#[test]
fn a_process_may_be_killed_while_it_restores_and_the_next_ones_too() {
    let mut plans = Vec::new();
    for point in ["restore.search", "attempt.start", "attempt.restored", "source.discover", "commit.begin", "commit.end"] {
        assert!(POINTS.contains(&point), "{point}");
        for kind in KINDS {
            plans.extend([2, 3, 5].map(|first| (u64::from(first), kind, Plan::Again(point, first, first + 4))));
        }
    }
    let reports = simulate_all(&plans, |report| (report.hits, report.processes));
    for ((.., plan), report) in plans.iter().zip(reports) {
        let (hits, processes) = report.unwrap_or_else(|failure| panic!("{failure}"));
        let Plan::Again(point, _, last) = *plan else { continue };
        let hits = hits.get(point).copied().unwrap_or(0);
        assert!(processes > 4 || hits < last, "{point}: {processes} processes, {hits} visits");
    }
}
