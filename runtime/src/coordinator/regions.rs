//! The regions of a job: what has to begin again together when a task fails.
//!
//! A region is a connected component of the chains: those that rows go between, in whatever direction. Rows of a task that failed are lost
//! on their way to its consumers, so these have to go back as well; and its producers, which cannot send rows again that they have
//! sent; and so on to everything that is joined by an edge. Between regions there is no edge: one that goes back to the last checkpoint
//! while others go on loses and repeats nothing.
//!
//! Subtasks that only forward edges join are not told apart: they share an enumerator, whose splits go to any of them.

use crate::job::ChainSpec;

/// The chains of each region, in order.
pub(crate) fn regions_of(chains: &[ChainSpec]) -> Vec<Vec<usize>> {
    let mut region: Vec<usize> = (0..chains.len()).collect();
    for (consumer, chain) in chains.iter().enumerate() {
        for input in &chain.inputs {
            let (from, to) = (region[input.from], region[consumer]);
            region.iter_mut().filter(|region| **region == from.max(to)).for_each(|region| *region = from.min(to));
        }
    }
    let members = |first: usize| (0..chains.len()).filter(|&chain| region[chain] == first).collect::<Vec<_>>();
    (0..chains.len()).map(members).filter(|members| !members.is_empty()).collect()
}

/// By its sources and sinks: `orders, prices -> totals`.
pub(crate) fn name_of(chains: &[ChainSpec], region: &[usize]) -> String {
    let mut ends: [Vec<&str>; 2] = Default::default();
    for chain in region.iter().map(|&chain| &chains[chain]) {
        for uid in chain.uids {
            let mut parts = uid.split('/');
            let (end, name) = match (parts.next(), parts.next()) {
                (Some("sink"), Some(name)) => (1, name),
                (Some(name), Some("source")) => (0, name),
                _ => continue,
            };
            if !ends[end].contains(&name) {
                ends[end].push(name);
            }
        }
    }
    let [sources, sinks] = ends.map(|names| names.join(", "));
    match (sources.is_empty(), sinks.is_empty()) {
        (false, false) => format!("{sources} -> {sinks}"),
        (false, true) => sources,
        (true, false) => sinks,
        (true, true) => region.iter().map(|&chain| chains[chain].name).collect::<Vec<_>>().join(", "),
    }
}

/// The name of each chain's region.
pub(crate) fn names_by_chain(chains: &[ChainSpec]) -> Vec<String> {
    let mut names = vec![String::new(); chains.len()];
    for region in regions_of(chains) {
        let name = name_of(chains, &region);
        region.into_iter().for_each(|chain| names[chain].clone_from(&name));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{BuildChain, ExchangeKind, InputSpec};

    fn chain(name: &'static str, uids: &'static [&'static str], inputs: &[usize]) -> ChainSpec {
        let input = |&from| InputSpec { from, edge: 0, exchange: ExchangeKind::Hash };
        ChainSpec {
            name,
            uids,
            parallelism: None,
            slot_group: "default",
            inputs: inputs.iter().map(input).collect(),
            build: BuildChain::new(|_| Err(crate::error::JobError::new("not built"))),
            source: None,
        }
    }

    #[test]
    fn an_edge_joins_regions_however_many_chains_are_between() {
        let chains = [
            chain("a", &["a/source/0", "a/where/0"], &[]),
            chain("b", &["b/source/0", "sink/b/file"], &[]),
            chain("c", &["c/source/0"], &[]),
            chain("d", &["d/aggregate/0", "sink/x/file"], &[2]),
            chain("e", &["e/join/0", "sink/y/file", "sink/z/file"], &[0, 2]),
        ];
        let regions = regions_of(&chains);
        assert_eq!(regions, [vec![0, 2, 3, 4], vec![1]]);
        assert_eq!(name_of(&chains, &regions[0]), "a, c -> x, y, z");
        assert_eq!(name_of(&chains, &regions[1]), "b -> b");
        assert_eq!(regions_of(&chains[..1]), [[0]]);
        assert_eq!(names_by_chain(&chains)[..3], ["a, c -> x, y, z", "b -> b", "a, c -> x, y, z"]);
    }
}
