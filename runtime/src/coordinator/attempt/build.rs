//! Builds the tasks of a region: at the start of an attempt, and again when the region has failed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use crate::chain::{AlignmentMember, BuildContext, ChainBuilder, Routers, SinkRegistry, Timing};
use crate::checkpoint::SubtaskEntry;
use crate::coordinator::asked::Asked;
use crate::coordinator::dropped::{compare_keys, drop_unknown};
use crate::coordinator::ended::refuse_ended;
use crate::coordinator::in_flight::InFlight;
use crate::coordinator::layout::{Dealt, deal, deal_groups, wire};
use crate::coordinator::run::RunSettings;
use crate::coordinator::storage::Checkpoint;
use crate::error::JobResult;
use crate::exchange::{BATCH_ROWS, Gate, Outbox, OutboxHandle};
use crate::job::ExchangeKind;
use crate::notice::notice;
use crate::operator::{Drops, RestoredState};
use crate::progress::Board;
use crate::source::Throttle;
use crate::task::{Task, TaskId, TaskMessage, TaskReport};

/// What tasks say, with the attempt of their region: of an earlier one nobody wants to hear any more.
pub(super) type Reports = mpsc::UnboundedSender<(TaskId, u32, TaskReport)>;

/// What the regions of an attempt share.
pub(super) struct Shared<'a> {
    pub settings: &'a RunSettings,
    pub board: Arc<Board>,
    pub reports: Reports,
    pub run: String,
    pub asked: Arc<Asked>,
    #[cfg(feature = "disk")]
    pub disk: Option<Arc<crate::state::Disk>>,
}

/// A checkpoint, dealt out, as far as it is not taken yet.
pub(super) struct Restored {
    pub dealt: Dealt,
    pub in_flight: InFlight,
    /// Per chain: how many subtasks it had; 0: it was not there.
    old_parallelism: Vec<usize>,
    /// Its number.
    pub checkpoint: Option<u64>,
}

impl Restored {
    pub(super) fn new(settings: &RunSettings, checkpoint: Option<Checkpoint>) -> JobResult<Self> {
        let (chains, parallelism) = (&settings.job.chains, &settings.parallelism);
        let mut old_parallelism = vec![0; chains.len()];
        let Some(mut checkpoint) = checkpoint else {
            let dealt = deal(chains, parallelism, settings.max_parallelism, &[], Vec::new())?;
            return Ok(Restored { dealt, in_flight: InFlight::default(), old_parallelism, checkpoint: None });
        };
        for line in drop_unknown(&mut checkpoint, chains, &settings.drop_state) {
            notice(&format!("{}: {line}", settings.job.name));
        }
        let kept_by = &settings.job.kept_by;
        for line in compare_keys(&mut checkpoint, kept_by, &settings.drop_state, &settings.keep_state)? {
            notice(&format!("{}: {line}", settings.job.name));
        }
        for line in refuse_ended(&mut checkpoint, chains, parallelism, kept_by, &settings.drop_state)? {
            notice(&format!("{}: {line}", settings.job.name));
        }
        let drops = Drops::new(&settings.drop_state, &checkpoint.entries, &checkpoint.groups);
        let Checkpoint { manifest, entries, groups, .. } = checkpoint;
        let mut dealt = deal(chains, parallelism, settings.max_parallelism, &manifest.chains, entries)?;
        deal_groups(&mut dealt, chains, parallelism, settings.max_parallelism, groups)?;
        for state in dealt.states.iter_mut().flatten() {
            state.drop_what_does_not_fit(&drops);
        }
        for (old, chain) in old_parallelism.iter_mut().zip(chains) {
            *old = manifest.subtasks_of(chain.name);
        }
        let in_flight = InFlight::take(&mut dealt.own, &manifest, settings.job.fingerprint, chains, parallelism)?;
        Ok(Restored { dealt, in_flight, old_parallelism, checkpoint: Some(manifest.checkpoint) })
    }
}

/// The tasks of a region, and what the coordinator needs of them.
#[derive(Default)]
pub(super) struct Built {
    pub tasks: Vec<Task>,
    /// By chain.
    pub mailboxes: Vec<(usize, Vec<mpsc::UnboundedSender<TaskMessage>>)>,
    pub sinks: SinkRegistry,
    pub aligned: Vec<AlignmentMember>,
}

impl Shared<'_> {
    /// Whether something that all regions need has failed: none of them can begin again with it.
    #[cfg_attr(not(feature = "disk"), allow(clippy::unused_self))]
    pub(super) fn is_broken(&self) -> bool {
        #[cfg(feature = "disk")]
        return self.disk.as_ref().is_some_and(|disk| disk.is_broken());
        #[cfg(not(feature = "disk"))]
        false
    }

    /// Builds the tasks of these chains, with their part of what is restored. `attempt`: of the region.
    pub(super) fn build(
        &self,
        chains: &[usize],
        attempt: u32,
        cancelled: &watch::Receiver<bool>,
        first_checkpoint: u64,
        restored: &mut Restored,
    ) -> JobResult<Built> {
        let settings = self.settings;
        let job = &settings.job;
        let context = BuildContext {
            params: &settings.params,
            max_parallelism: settings.max_parallelism,
            on_error: job.on_error,
            #[cfg(feature = "disk")]
            disk: self.disk.clone(),
            batch_rows: if job.buffer_timeout_micros == 0 { 1 } else { BATCH_ROWS },
            run: &self.run,
            first_checkpoint,
            retained: u32::try_from(settings.retain).unwrap_or(u32::MAX),
            checkpoints: settings.checkpoint_directory.as_deref(),
            replace: settings.replace,
        };
        let buffer_timeout =
            u64::try_from(job.buffer_timeout_micros).ok().filter(|&micros| micros > 0).map(Duration::from_micros);
        let (mut codecs, mut routers) = (BTreeMap::new(), Routers::default());
        let mut built = Built::default();
        let mut wiring = wire(&job.chains, &settings.parallelism, chains)?;
        for &index in chains {
            let spec = &job.chains[index];
            let mut own_mailboxes = Vec::new();
            let throttle = Arc::new(Throttle::default());
            let (old, parallelism) = (restored.old_parallelism[index], settings.parallelism[index]);
            let mut on_their_way = restored.in_flight.deal(index, spec, old, parallelism, &codecs, &routers)?;
            for (subtask, wiring) in std::mem::take(&mut wiring[index]).into_iter().enumerate() {
                let outbox = OutboxHandle::new(wiring.senders.len());
                let mut builder = ChainBuilder {
                    context: &context,
                    chain: index,
                    subtask: u32::try_from(subtask).unwrap_or(u32::MAX),
                    parallelism,
                    outputs: &wiring.outputs,
                    outbox: outbox.clone(),
                    sinks: &mut built.sinks,
                    throttle: throttle.clone(),
                    timing: Timing::default(),
                    aligned: &mut built.aligned,
                    codecs: &mut codecs,
                    routers: &mut routers,
                };
                let chain = crate::panics::guarded(&format!("building {}", spec.name), || spec.build.build(&mut builder))?;
                let id = TaskId { chain: index, subtask: builder.subtask };
                let (mailbox, messages) = mpsc::unbounded_channel();
                own_mailboxes.push(mailbox);
                let SubtaskEntry { finished, watermark } = restored.dealt.subtasks[index][subtask];
                let gate = match spec.inputs.is_empty() {
                    true => None,
                    false => {
                        let gate = Gate::new(wiring.receivers).in_mode(settings.checkpoints.mode);
                        let mut gate = gate.with_codecs(|input| match spec.inputs[input].exchange {
                            // Every subtask has to have the same of them, for what they leave is restored from any one of them.
                            ExchangeKind::Broadcast => None,
                            _ => codecs.get(&spec.inputs[input].edge).copied(),
                        });
                        gate.restore_in_flight(std::mem::take(&mut on_their_way[subtask]));
                        Some(gate)
                    }
                };
                built.tasks.push(Task {
                    id,
                    attempt,
                    uid: spec.uids.first().copied().unwrap_or(spec.name).into(),
                    chain,
                    gate,
                    sender: Outbox::new(outbox.clone(), wiring.senders),
                    outbox,
                    messages,
                    reports: self.reports.clone(),
                    cancel: cancelled.clone(),
                    buffer_timeout,
                    status: self.board.status_of(id, attempt),
                    asked: self.asked.clone(),
                    restored: std::mem::replace(&mut restored.dealt.states[index][subtask], RestoredState::new()),
                    since: restored.checkpoint.unwrap_or(0),
                    watermark,
                    finished,
                });
            }
            built.mailboxes.push((index, own_mailboxes));
        }
        Ok(built)
    }
}

/// The disk of an attempt: empty, and gone with its last operator.
#[cfg(feature = "disk")]
pub(super) fn disk(
    state: crate::job::StateConfig,
    params: &crate::params::ParamValues,
) -> JobResult<Option<Arc<crate::state::Disk>>> {
    match state {
        crate::job::StateConfig::Memory => Ok(None),
        crate::job::StateConfig::Disk { path, memory } => {
            let path = path.read(params)?;
            Ok(Some(Arc::new(crate::state::Disk::open(path.as_ref(), memory)?)))
        }
    }
}
