//! How the subtasks of a job are wired: parallelism, channels, and which state goes where.

use std::collections::{BTreeMap, HashMap, HashSet};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::chain::OutputEdge;
use crate::checkpoint::{ChainEntry, Part, StateEntry, StoredGroup, SubtaskEntry};
use crate::error::{JobError, JobResult};
use crate::exchange::{CHANNEL_CAPACITY, Element};
use crate::job::{ChainSpec, ExchangeKind, InputSpec};
use crate::operator::RestoredState;
use crate::state::KeyGroups;

/// The ends of one subtask's channels.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    pub outputs: Vec<OutputEdge>,
    pub senders: Vec<Sender<Element>>,
    /// With the number of the input that each belongs to.
    pub receivers: Vec<(usize, Receiver<Element>)>,
}

/// Connects all subtasks of the chains of a region, which only chains of the same region feed: per chain of the job, per subtask.
pub(crate) fn wire(chains: &[ChainSpec], parallelism: &[u32], region: &[usize]) -> JobResult<Vec<Vec<Wiring>>> {
    let mut wiring: Vec<Vec<Wiring>> =
        parallelism.iter().map(|&subtasks| (0..subtasks).map(|_| Wiring::default()).collect()).collect();
    for (consumer, chain) in region.iter().map(|&consumer| (consumer, &chains[consumer])) {
        for (input, spec) in chain.inputs.iter().enumerate() {
            if spec.from >= consumer {
                return Err(JobError::new(format!("the chain `{}` reads from a chain that comes after it", chain.name)));
            }
            for producer in 0..parallelism[spec.from] {
                let start = wiring[spec.from][producer as usize].senders.len();
                for target in targets(spec.exchange, producer, parallelism[spec.from], parallelism[consumer]) {
                    let (sender, receiver) = channel(CHANNEL_CAPACITY);
                    wiring[spec.from][producer as usize].senders.push(sender);
                    wiring[consumer][target as usize].receivers.push((input, receiver));
                }
                let from = &mut wiring[spec.from][producer as usize];
                from.outputs.push(OutputEdge { edge: spec.edge, channels: start..from.senders.len() });
            }
        }
    }
    Ok(wiring)
}

fn targets(exchange: ExchangeKind, producer: u32, producers: u32, consumers: u32) -> std::ops::Range<u32> {
    match exchange {
        ExchangeKind::Forward if producers == consumers => producer..producer + 1,
        _ => 0..consumers,
    }
}

/// The state of a checkpoint, dealt out to the subtasks of each chain.
#[derive(Debug)]
pub(crate) struct Dealt {
    pub states: Vec<Vec<RestoredState>>,
    pub subtasks: Vec<Vec<SubtaskEntry>>,
    /// Entries that the coordinator keeps: splits, enumerators, committables. With the index of the chain.
    pub own: Vec<(usize, StateEntry)>,
}

/// Deals out key groups that are not read yet.
pub(crate) fn deal_groups(
    dealt: &mut Dealt,
    chains: &[ChainSpec],
    parallelism: &[u32],
    max_parallelism: u32,
    stored: Vec<StoredGroup>,
) -> JobResult<()> {
    let groups = KeyGroups::new(max_parallelism);
    for StoredGroup { uid, state, schema, group, bytes } in stored {
        let chain = chains.iter().position(|chain| chain.uids.contains(&uid.as_str())).ok_or_else(|| unknown(&uid))?;
        let states = &mut dealt.states[chain];
        let last = states.len() - 1;
        let subtask = groups.subtask(group, parallelism[chain]) as usize;
        states[subtask.min(last)].add_stored(&uid, &state, &schema, group, bytes);
    }
    Ok(())
}

#[cold]
fn unknown(uid: &str) -> JobError {
    JobError::new(format!(
        "the checkpoint has state of `{uid}`, which this job does not have\n  give the operator its old name with @id(\"{uid}\"), drop \
         just this state with --drop-state {uid}, or start from the beginning with --fresh"
    ))
}

/// Deals the entries of a checkpoint out: key groups by their range, items to the same subtask or, with another
/// parallelism, in turn; items of a union to all, and of copies, which are all the same, one to each. An operator may have been in
/// another chain, with more subtasks than the one it is in now: that this one is as it was says nothing of its items.
pub(crate) fn deal(
    chains: &[ChainSpec],
    parallelism: &[u32],
    max_parallelism: u32,
    old: &[ChainEntry],
    entries: Vec<StateEntry>,
) -> JobResult<Dealt> {
    let chain_of: HashMap<&str, usize> =
        chains.iter().enumerate().flat_map(|(index, chain)| chain.uids.iter().map(move |&uid| (uid, index))).collect();
    let groups = KeyGroups::new(max_parallelism);
    let unchanged = unchanged(chains, parallelism, old);
    let mut beyond: HashSet<String> = HashSet::new();
    for entry in &entries {
        let chain = chain_of.get(entry.uid.as_str()).copied();
        if matches!(entry.part, Part::Item(_)) && chain.is_some_and(|chain| entry.subtask >= parallelism[chain]) {
            beyond.insert(entry.uid.clone());
        }
    }
    let mut dealt = Dealt {
        states: parallelism.iter().map(|&subtasks| (0..subtasks).map(|_| RestoredState::new()).collect()).collect(),
        subtasks: stand(chains, parallelism, old),
        own: Vec::new(),
    };
    let mut turn: HashMap<(String, String), u32> = HashMap::new();
    let mut copies: BTreeMap<(usize, String, String), Vec<StateEntry>> = BTreeMap::new();
    for entry in entries {
        let &chain = chain_of.get(entry.uid.as_str()).ok_or_else(|| unknown(&entry.uid))?;
        if entry.state.starts_with('#') {
            dealt.own.push((chain, entry));
            continue;
        }
        match entry.part {
            Part::Group(group, bytes) => {
                let subtask = groups.subtask(group, parallelism[chain]);
                let states = &mut dealt.states[chain];
                let last = states.len() - 1;
                states[(subtask as usize).min(last)].add_group(&entry.uid, &entry.state, &entry.schema, group, bytes);
            }
            Part::Item(bytes) => {
                let subtask = if unchanged[chain] && !beyond.contains(&entry.uid) {
                    entry.subtask
                } else {
                    let turn = turn.entry((entry.uid.clone(), entry.state.clone())).or_default();
                    *turn += 1;
                    (*turn - 1) % parallelism[chain]
                };
                dealt.states[chain][subtask as usize].add_item(&entry.uid, &entry.state, &entry.schema, bytes);
            }
            Part::Union(bytes) => {
                for state in &mut dealt.states[chain] {
                    state.add_item(&entry.uid, &entry.state, &entry.schema, bytes.clone());
                }
            }
            Part::Piece(..) => return Err(JobError::new("a piece of a key group was not put together")),
            Part::Copy(_) => copies.entry((chain, entry.uid.clone(), entry.state.clone())).or_default().push(entry),
        }
    }
    for ((chain, uid, state), mut copies) in copies {
        copies.sort_by_key(|copy| copy.subtask);
        for (subtask, restored) in dealt.states[chain].iter_mut().enumerate() {
            let copy = &copies[subtask % copies.len()];
            restored.add_item(&uid, &state, &copy.schema, copy.part.bytes().to_vec());
        }
    }
    Ok(dealt)
}

/// Which chains have as many subtasks as they had.
fn unchanged(chains: &[ChainSpec], parallelism: &[u32], old: &[ChainEntry]) -> Vec<bool> {
    let subtasks: HashMap<&str, usize> = old.iter().map(|old| (old.name.as_str(), old.subtasks.len())).collect();
    chains.iter().zip(parallelism).map(|(chain, &now)| subtasks.get(chain.name) == Some(&(now as usize))).collect()
}

/// Where the subtasks of each chain stand: whether their input has ended, and how far they are in event time.
pub(super) fn stand(chains: &[ChainSpec], parallelism: &[u32], old: &[ChainEntry]) -> Vec<Vec<SubtaskEntry>> {
    let unchanged = unchanged(chains, parallelism, old);
    let old: HashMap<&str, &ChainEntry> = old.iter().map(|chain| (chain.name.as_str(), chain)).collect();
    let mut stand: Vec<Vec<SubtaskEntry>> = Vec::new();
    // The splits of a source are dealt anew, to any of its subtasks, and go on straight to those behind it.
    let mut anew: Vec<bool> = Vec::new();
    for ((chain, &subtasks), unchanged) in chains.iter().zip(parallelism).zip(unchanged) {
        let straight = |input: &InputSpec| {
            input.exchange == ExchangeKind::Forward && parallelism[input.from] == subtasks && anew[input.from]
        };
        anew.push(chain.inputs.is_empty() || chain.inputs.iter().any(straight));
        // None is further in event time than the slowest was.
        let slowest = |all: &[SubtaskEntry]| all.iter().map(|subtask| subtask.watermark).min().unwrap_or(i64::MIN);
        let mut own = match old.get(chain.name) {
            Some(old) if unchanged && !anew[anew.len() - 1] => old.subtasks.clone(),
            // So too with another parallelism, and none is finished unless all were.
            Some(old) => {
                let finished = old.subtasks.iter().all(|subtask| subtask.finished);
                vec![SubtaskEntry { finished, watermark: slowest(&old.subtasks) }; subtasks as usize]
            }
            None => vec![SubtaskEntry { finished: false, watermark: i64::MIN }; subtasks as usize],
        };
        // None is finished behind one that is not, whose rows would be lost.
        let feeds = |input: &InputSpec, producer: usize, subtask: usize| {
            let producer = u32::try_from(producer).unwrap_or(u32::MAX);
            let targets = targets(input.exchange, producer, parallelism[input.from], subtasks);
            targets.contains(&u32::try_from(subtask).unwrap_or(u32::MAX))
        };
        let is_fed = |subtask: usize| {
            let open = |input: &InputSpec| {
                let mut producers = stand[input.from].iter().enumerate();
                producers.any(|(producer, entry)| !entry.finished && feeds(input, producer, subtask))
            };
            chain.inputs.iter().any(open)
        };
        if own.iter().enumerate().any(|(subtask, entry)| entry.finished && is_fed(subtask)) {
            let watermark = if own.iter().all(|entry| entry.finished) { i64::MIN } else { slowest(&own) };
            own.fill(SubtaskEntry { finished: false, watermark });
        }
        stand.push(own);
    }
    stand
}
