//! Seeds: 100 of them, or as many as `MILLSTREAM_SEEDS` says, from `MILLSTREAM_SEED` on.

use millstream_sim::{Kind, Plan, Report, simulate, simulate_all};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn kind(seed: u64) -> Kind {
    // Seven: plans go by tens, so that every kind meets every plan.
    let kinds = [Kind::Windows, Kind::Rows, Kind::Union, Kind::Apart, Kind::Joined, Kind::Union, Kind::Joined];
    kinds[usize::try_from(seed % 7).unwrap_or(0)]
}

fn plan(seed: u64) -> Plan {
    if seed.is_multiple_of(10) { Plan::Peace } else { Plan::Chance(u32::try_from(seed % 40).unwrap_or(0)) }
}

#[test]
fn every_row_comes_once_whatever_happens() {
    let (first, count) = (number("MILLSTREAM_SEED", 1), number("MILLSTREAM_SEEDS", 100));
    let (mut processes, mut overtaken, mut beside, mut built_upon, mut gone_on, mut compacted, mut alone) = (0, 0, 0, 0, 0, 0, 0);
    let mut failures = Vec::new();
    let plans: Vec<_> = (first..first + count).map(|seed| (seed, kind(seed), plan(seed))).collect();
    for report in simulate_all(&plans, |report| Report { trace: String::new(), ..report }) {
        match report {
            Ok(report) => {
                processes += report.processes;
                overtaken += report.overtaken;
                beside += report.beside;
                built_upon += report.built_upon;
                gone_on += report.gone_on;
                compacted += report.hits.get("compaction.end").copied().unwrap_or(0);
                alone += report.alone;
            }
            Err(failure) => failures.push(failure),
        }
    }
    println!(
        "{count} seeds from {first}, {processes} processes, {overtaken} files with overtaken rows, {beside} checkpoints beside others, {built_upon} checkpoints that build \
         upon others ({gone_on} on those of earlier processes), {compacted} of them compacted, {alone} restarts of parts of jobs, {} failures",
        failures.len()
    );
    assert!(failures.is_empty(), "{}\n{} of {count} seeds fail", failures[0], failures.len());
    assert!(built_upon > 0 || count < 100, "no checkpoint builds upon another: they are not simulated");
    assert!(gone_on > 0 || count < 100, "no checkpoint builds upon one of an earlier process: that is not simulated");
    assert!(compacted > 0 || count < 100, "no chain of checkpoints is compacted: that is not simulated");
    assert!(alone > 0 || count < 100, "no part of a job has begun again by itself: that is not simulated");
    assert!(beside > 0 || count < 100, "no checkpoint was taken while the one before was on its way: that is not simulated");
    assert!(overtaken > 0 || count < 100, "no barrier has overtaken a row: unaligned checkpoints are not simulated");
}

#[test]
fn a_seed_gives_the_same_run_line_by_line() {
    for seed in [3, 14, 37] {
        let run = || simulate(seed, kind(seed), plan(seed)).unwrap_or_else(|failure| panic!("{failure}")).trace;
        let (first, second) = (run(), run());
        let differs = first.lines().zip(second.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(first.lines().count(), second.lines().count(), "seed {seed}");
    }
}
