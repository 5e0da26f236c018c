//! Puts the metrics of a job together from what its tasks have published.

use super::{Definition, Metrics, Sample, Share};
use crate::progress::JobNumbers;
use crate::seam::now_micros;

macro_rules! definitions {
    ($($id:ident $counter:ident $name:literal $help:literal;)*) => {$(
        static $id: Definition = Definition { name: $name, help: $help, counter: $counter };
    )*
    /// All of them.
    pub(super) static DEFINITIONS: &[&Definition] = &[$(&$id),*];
    };
}

const COUNTER: bool = true;
const GAUGE: bool = false;

definitions! {
    UPTIME GAUGE "millstream_job_uptime" "Milliseconds since the process started the job.";
    RESTARTS COUNTER "millstream_job_numRestarts" "Attempts after the first, of the job or of a region.";
    CHECKPOINTS COUNTER "millstream_job_numberOfCompletedCheckpoints" "Checkpoints completed by this process.";
    FAILED_CHECKPOINTS COUNTER "millstream_job_numberOfFailedCheckpoints" "Checkpoints that were begun and given up.";
    CHECKPOINTS_IN_PROGRESS GAUGE "millstream_job_numberOfInProgressCheckpoints" "Checkpoints that wait for tasks, or to be stored.";
    CHECKPOINT_ID GAUGE "millstream_job_lastCompletedCheckpointId" "The number of the last complete checkpoint.";
    CHECKPOINT_DURATION GAUGE "millstream_job_lastCheckpointDuration" "Milliseconds from its trigger to its end.";
    CHECKPOINT_SIZE GAUGE "millstream_job_lastCheckpointSize" "Bytes of state in it.";
    BUSY GAUGE "millstream_task_busyTimeMsPerSecond" "Milliseconds per second of work, over the last minute.";
    IDLE GAUGE "millstream_task_idleTimeMsPerSecond" "Milliseconds per second without input, over the last minute.";
    BACKPRESSURED GAUGE "millstream_task_backPressuredTimeMsPerSecond"
        "Milliseconds per second of waiting for room in the output or for the sink, over the last minute.";
    INPUT_WATERMARK GAUGE "millstream_task_currentInputWatermark" "Event time, in milliseconds since the epoch.";
    SOURCE_RECORDS COUNTER "millstream_source_numRecordsIn" "Records read, those that were left out included.";
    SOURCE_BYTES COUNTER "millstream_source_numBytesIn" "Bytes read, unpacked; 0 where a source does not count them.";
    SOURCE_ERRORS COUNTER "millstream_source_numRecordsInErrors" "Records that were left out because they are no rows.";
    FETCH_LAG GAUGE "millstream_source_currentFetchEventTimeLag"
        "Milliseconds from the time that the last row gives to the watermark to when it was fetched from outside.";
    EMIT_LAG GAUGE "millstream_source_currentEmitEventTimeLag"
        "Milliseconds from the time that the last row gives to the watermark to its emission; while the source is idle, to \
         when it became so; -1 without event time.";
    WATERMARK_LAG GAUGE "millstream_source_watermarkLag" "Milliseconds from the last watermark to now, once there is one.";
    SOURCE_IDLE GAUGE "millstream_source_sourceIdleTime" "Milliseconds since the reader has nothing to read; 0: it has.";
    ALIGNMENT_DRIFT GAUGE "millstream_source_watermarkAlignmentDrift"
        "Milliseconds by which the watermark is beyond what alignment allows; less than 0: it has so far to go.";
    UNASSIGNED GAUGE "millstream_source_unassignedSplits" "Splits that are found and that no reader has.";
    SENT COUNTER "millstream_sink_numRecordsSend" "Rows sent, again after failures included.";
    SENT_BYTES COUNTER "millstream_sink_numBytesSend" "Bytes sent, where the sink counts them.";
    SEND_ERRORS COUNTER "millstream_sink_numRecordsSendErrors" "Rows whose sending failed.";
    SEND_TIME GAUGE "millstream_sink_currentSendTime" "Milliseconds from the last request to its answer.";
    SEND_PENDING GAUGE "millstream_sink_pendingRecords" "Rows that wait to be sent or for an answer.";
    COMMITTABLES COUNTER "millstream_sink_totalCommittables" "Committables that came to the committer.";
    COMMITTED COUNTER "millstream_sink_successfulCommittables" "Committables made visible.";
    ALREADY COUNTER "millstream_sink_alreadyCommittedCommittables" "Committables that had been visible before.";
    FAILED COUNTER "millstream_sink_failedCommittables" "Committables that can never be committed: their rows are lost.";
    RETRIED COUNTER "millstream_sink_retriedCommittables" "Commits that were tried again.";
    PENDING GAUGE "millstream_sink_pendingCommittables" "Committables of complete checkpoints that are not settled.";
    OPERATOR_IN COUNTER "millstream_operator_numRecordsIn" "Rows taken.";
    OPERATOR_OUT COUNTER "millstream_operator_numRecordsOut" "Rows emitted.";
    OPERATOR_SKIPPED COUNTER "millstream_operator_numRecordsSkipped" "Rows left out because an expression had no value.";
    OPERATOR_STRAY COUNTER "millstream_operator_numStrayRetractions" "Rows taken back that were never there.";
    OPERATOR_LATE COUNTER "millstream_operator_numLateRecordsDropped" "Rows that came too late.";
}

/// All metrics, those of one name together. `shares`: one per task.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn collect(job: &'static str, numbers: &JobNumbers, shares: &[Share]) -> Metrics {
    let mut out = Collector { job, samples: Vec::new() };
    out.add(&UPTIME, &[], numbers.uptime.as_millis() as f64);
    out.add(&RESTARTS, &[], f64::from(numbers.restarts));
    out.add(&CHECKPOINTS, &[], numbers.checkpoints as f64);
    out.add(&FAILED_CHECKPOINTS, &[], numbers.failed_checkpoints as f64);
    out.add(&CHECKPOINTS_IN_PROGRESS, &[], numbers.checkpoints_in_progress as f64);
    if let Some(last) = &numbers.last_checkpoint {
        out.add(&CHECKPOINT_ID, &[], last.id as f64);
        out.add(&CHECKPOINT_DURATION, &[], last.took.as_secs_f64() * 1000.0);
        out.add(&CHECKPOINT_SIZE, &[], last.size as f64);
    }
    for (source, splits) in &numbers.unassigned {
        out.add(&UNASSIGNED, &[("source", source)], *splits as f64);
    }
    for (index, task) in numbers.tasks.iter().enumerate() {
        let (subtask, attempt) = (task.id.subtask.to_string(), task.attempt.to_string());
        let (name, region) = numbers.chains.get(task.id.chain).map_or(("", ""), |chain| (chain.name, chain.region.as_str()));
        let labels = [("task", name), ("subtask", subtask.as_str()), ("region", region), ("attempt", attempt.as_str())];
        let share = shares.get(index).copied().unwrap_or_default();
        out.add(&BUSY, &labels, share.busy * 1000.0);
        out.add(&IDLE, &labels, share.idle * 1000.0);
        out.add(&BACKPRESSURED, &labels, share.backpressured * 1000.0);
        if task.status.watermark != i64::MIN {
            out.add(&INPUT_WATERMARK, &labels, (task.status.watermark / 1000) as f64);
        }
        if let Some(source) = &task.status.report.source {
            out.source(source, &subtask, task.status.watermark);
        }
        for operator in &task.status.report.operators {
            out.operator(operator, &subtask);
        }
    }
    for (_, sink, counts) in &numbers.commits {
        let labels = [("sink", sink.as_str())];
        out.add(&COMMITTABLES, &labels, counts.total as f64);
        out.add(&COMMITTED, &labels, counts.committed as f64);
        out.add(&ALREADY, &labels, counts.already_committed as f64);
        out.add(&FAILED, &labels, counts.failed as f64);
        out.add(&RETRIED, &labels, counts.retried as f64);
        out.add(&PENDING, &labels, counts.pending as f64);
    }
    let mut samples = out.samples;
    // Prometheus wants all samples of a name in one place.
    samples.sort_by_key(|sample| sample.definition.name);
    Metrics { samples }
}

struct Collector {
    job: &'static str,
    samples: Vec<Sample>,
}

#[allow(clippy::cast_precision_loss)]
impl Collector {
    fn add(&mut self, definition: &'static Definition, labels: &[(&'static str, &str)], value: f64) {
        let job = std::iter::once(("job", self.job.to_owned()));
        let labels = job.chain(labels.iter().map(|(key, value)| (*key, (*value).to_owned()))).collect();
        self.samples.push(Sample { definition, labels, value });
    }

    fn source(&mut self, source: &crate::chain::SourceReport, subtask: &str, watermark: i64) {
        let labels = [("source", &*source.name), ("subtask", subtask)];
        let now = now_micros();
        let errors: u64 = source.rejects.iter().map(|reject| reject.count).sum();
        self.add(&SOURCE_RECORDS, &labels, (source.rows + errors) as f64);
        self.add(&SOURCE_BYTES, &labels, source.bytes as f64);
        self.add(&SOURCE_ERRORS, &labels, errors as f64);
        let emitted = source.idle_since.unwrap_or(now);
        let lag = source.last_time.map_or(-1.0, |time| emitted.saturating_sub(time) as f64 / 1000.0);
        self.add(&EMIT_LAG, &labels, lag);
        if let (Some(fetched), Some(time)) = (source.fetched, source.last_time) {
            self.add(&FETCH_LAG, &labels, fetched.saturating_sub(time) as f64 / 1000.0);
        }
        if let Some(drift) = source.alignment_drift {
            self.add(&ALIGNMENT_DRIFT, &labels, drift as f64 / 1000.0);
        }
        if watermark != i64::MIN && watermark != i64::MAX {
            self.add(&WATERMARK_LAG, &labels, now.saturating_sub(watermark) as f64 / 1000.0);
        }
        self.add(&SOURCE_IDLE, &labels, source.idle_since.map_or(0.0, |since| now.saturating_sub(since).max(0) as f64 / 1000.0));
    }

    fn operator(&mut self, operator: &crate::operator::OperatorReport, subtask: &str) {
        if operator.uid.starts_with("sink/") {
            let labels = [("sink", &*operator.name), ("subtask", subtask)];
            let sent =
                operator.sent.unwrap_or(crate::sink::WriterMetrics { records_sent: operator.rows_in, ..Default::default() });
            self.add(&SENT, &labels, sent.records_sent as f64);
            if operator.sent.is_some() {
                self.add(&SENT_BYTES, &labels, sent.bytes_sent as f64);
                self.add(&SEND_ERRORS, &labels, sent.send_errors as f64);
                self.add(&SEND_TIME, &labels, sent.last_send_micros as f64 / 1000.0);
                self.add(&SEND_PENDING, &labels, sent.pending as f64);
            }
            return;
        }
        let labels = [("operator", &*operator.name), ("subtask", subtask)];
        self.add(&OPERATOR_IN, &labels, operator.rows_in as f64);
        self.add(&OPERATOR_OUT, &labels, operator.rows_out as f64);
        self.add(&OPERATOR_SKIPPED, &labels, operator.skipped as f64);
        self.add(&OPERATOR_STRAY, &labels, operator.stray as f64);
        self.add(&OPERATOR_LATE, &labels, operator.late as f64);
    }
}
