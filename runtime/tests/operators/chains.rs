//! Operators one behind the other: policy, watermarks, fan-out, late rows, and what restores refuse.

use millstream_runtime::operator::{Chained, Describe, ErrorRow, ErrorsInto, FanOut, Operator, SnapshotBuilder, Stage};
use millstream_runtime::operators::*;
use millstream_runtime::time::{Tumbling, Watermark};
use millstream_runtime::value::{EvalError, Timestamp};
use millstream_runtime::{ErrorPolicy, JobError};

use crate::harness::*;

fn chain<O: Operator<Row>, N: Stage<O::Out>>(uid: &str, on_error: ErrorPolicy, operator: O, next: N) -> Chained<O, N> {
    let mut context = context(0, 1, on_error);
    context.uid = uid.into();
    context.name = uid.into();
    Chained::new(context, operator, next)
}

fn push_all(stage: &mut impl Stage<Row>, rows: impl IntoIterator<Item = Row>) {
    for row in rows {
        stage.push(row).unwrap();
    }
}

#[test]
fn an_error_stops_the_job_or_is_counted() {
    let condition = |row: &Row| if row.id == 2 { Err(EvalError::division_by_zero()) } else { Ok(row.id != 3) };
    let rows = [row(0, 0, 1), row(0, 0, 2), row(0, 0, 3), row(0, 0, 4)];
    let seen = Seen::default();
    let mut skips = chain("a", ErrorPolicy::Skip, Filter::new(condition), seen.clone());
    push_all(&mut skips, rows);
    assert_eq!(seen.take(), [rows[0], rows[3]]);
    let mut reports = Vec::new();
    skips.report(&mut reports);
    assert_eq!((reports[0].rows_in, reports[0].rows_out, reports[0].skipped), (4, 2, 1));
    let mut fails = chain("a", ErrorPolicy::Fail, Filter::new(condition), seen.clone());
    fails.push(rows[0]).unwrap();
    let error: JobError = fails.push(rows[1]).unwrap_err();
    assert!(error.to_string().contains("division by zero") && error.to_string().starts_with("a:"), "{error}");
}

/// A row that cannot be counted leaves its group and its neighbours alone.
#[test]
fn a_row_left_out_of_an_aggregate_changes_nothing() {
    let rows = [row(0, 1, 1), row(0, 2, 13), row(0, 3, 3), row(1, 3, 13), row(0, 4, 666), row(2, 4, 4)];
    let seen = Seen::default();
    let mut stage = chain("a", ErrorPolicy::Skip, WindowAggregate::new(Tumbling::new(4, 0), Collect), seen.clone());
    push_all(&mut stage, rows);
    stage.watermark(Watermark::MAX).unwrap();
    assert_eq!(sorted(seen.take()), sorted(vec![(0, 0, 4, vec![1, 3]), (2, 4, 8, vec![4])]));
    let mut reports = Vec::new();
    stage.report(&mut reports);
    assert_eq!(reports[0].skipped, 3);
}

#[test]
fn watermarks_come_from_rows_and_only_grow() {
    let seen = Seen::default();
    let operator = AssignWatermark::new(|row: &Row| Ok((row.id != 0).then_some(Timestamp(row.time))));
    let mut stage = chain("a", ErrorPolicy::Fail, operator, seen.clone());
    for times in [vec![10, 7], vec![9], vec![], vec![12, 30, 11]] {
        push_all(&mut stage, times.into_iter().map(|time| row(0, time, 1)));
        stage.watermark(Watermark(1000)).unwrap();
        stage.end_of_batch().unwrap();
    }
    push_all(&mut stage, [row(0, 500, 0)]);
    stage.end_of_batch().unwrap();
    stage.watermark(Watermark::MAX).unwrap();
    assert_eq!(seen.watermarks(), [9, 29, i64::MAX]);
    assert_eq!(seen.take().len(), 7);
}

#[test]
fn late_rows_go_to_their_own_stage() {
    let (late, on_time) = (Seen::default(), Seen::default());
    let doubled = chain("late", ErrorPolicy::Fail, Project::new(|row: Row| Ok(row.id * 2)), late.clone());
    let window = WindowAggregate::new(Tumbling::new(10, 0), Collect).with_late(doubled);
    let mut stage = chain("window", ErrorPolicy::Fail, window, on_time.clone());
    push_all(&mut stage, [row(0, 1, 1)]);
    stage.watermark(Watermark(9)).unwrap();
    push_all(&mut stage, [row(0, 2, 2), row(0, 12, 3)]);
    assert_eq!((on_time.take(), late.take()), (vec![(0, 0, 10, vec![1])], vec![4]));
    assert_eq!((on_time.watermarks(), late.watermarks()), (vec![9], vec![9]));
    let mut reports = Vec::new();
    stage.report(&mut reports);
    let lines: Vec<_> = reports.iter().map(|report| (&*report.uid, report.rows_in, report.late)).collect();
    assert_eq!(lines, [("window", 3, 0), ("late", 1, 0)]);
}

impl Describe for Row {
    fn describe(&self) -> millstream_runtime::value::Str {
        format!("row {}", self.id).into()
    }
}

/// With a stage for errors nothing is lost: the row goes there with what went wrong, in its place among the others.
#[test]
fn rows_that_cannot_be_computed_go_to_the_stage_of_errors() {
    let condition = |row: &Row| match row.id {
        2 => Err(EvalError::division_by_zero().at("a / b", "t.flow:3:7")),
        id => Ok(id != 3),
    };
    let (seen, failed) = (Seen::default(), Seen::default());
    let mut settings = context(0, 1, ErrorPolicy::Into);
    settings.name = "pairs: where".into();
    let errors = ErrorsInto(Box::new(failed.clone()));
    let mut stage = Chained::with_errors(settings, Filter::new(condition), seen.clone(), errors);
    push_all(&mut stage, [row(0, 0, 1), row(0, 0, 2), row(0, 0, 4)]);
    Stage::<Row>::watermark(&mut stage, Watermark(9)).unwrap();
    assert_eq!(seen.take(), [row(0, 0, 1), row(0, 0, 4)]);
    let expected = ErrorRow {
        source: "pairs: where".into(),
        error: "t.flow:3:7: `a / b`: division by zero".into(),
        reason: "division by zero".into(),
        origin: Some("t.flow:3:7".into()),
        field: Some("a / b".into()),
        raw: Some("row 2".into()),
        ..ErrorRow::default()
    };
    assert_eq!(failed.take(), [expected]);
    assert_eq!((seen.watermarks(), failed.watermarks()), (vec![9], vec![9]));
    let mut reports = Vec::new();
    Stage::<Row>::report(&stage, &mut reports);
    assert_eq!((reports[0].skipped, reports[0].routed), (1, 1));
    // Behind the stream of errors itself there is nowhere to go.
    let mut behind = chain("a", ErrorPolicy::Into, Filter::new(condition), seen.clone());
    assert!(behind.push(row(0, 0, 2)).unwrap_err().to_string().contains("division by zero"));
}

#[test]
fn a_fan_out_hands_everything_to_all() {
    let (a, b, c) = (Seen::default(), Seen::default(), Seen::default());
    let mut stage = FanOut::new(a.clone(), FanOut::new(b.clone(), c.clone()));
    push_all(&mut stage, [row(0, 1, 1), row(0, 2, 2)]);
    Stage::<Row>::watermark(&mut stage, Watermark(5)).unwrap();
    for seen in [a, b, c] {
        assert_eq!(seen.take(), [row(0, 1, 1), row(0, 2, 2)]);
        assert_eq!(seen.watermarks(), [5]);
    }
}

#[test]
fn state_of_other_types_or_windows_is_refused_by_name() {
    let mut job = Job::new(1, || WindowAggregate::new(Tumbling::new(10, 0), Collect));
    job.feed(&[Event::Row(row(0, 1, 1))]);
    let snapshot = encode(job.snapshot());
    let mut other = Job::new(1, || WindowAggregate::new(Tumbling::new(20, 0), Collect));
    let error = other.try_restore(&snapshot).unwrap_err().to_string();
    for part in ["op", "was `tumbling(10,0)`, is `tumbling(20,0)`", "map<int64,list<int64>>", "--fresh"] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
    // Damaged bytes are an error, not a panic.
    for cut in 0..snapshot[0].3.len() {
        let mut damaged = snapshot.clone();
        damaged.retain(|(_, _, _, bytes)| bytes.len() > 12);
        damaged[0].3.truncate(cut);
        assert!(Job::new(1, || WindowAggregate::new(Tumbling::new(10, 0), Collect)).try_restore(&damaged).is_err() || cut > 12);
    }
}

/// The state of a big key group is not copied while a snapshot is only waiting to be written.
#[test]
fn a_row_of_another_subtask_is_reported() {
    let mut stage = Chained::new(context(1, 8, ErrorPolicy::Fail), FinalAggregate::new(Collect), Seen::default());
    let errors = (0..100).filter_map(|key| stage.push(row(key, 0, 1)).err()).count();
    assert!(errors > 50);
    let mut snapshot = SnapshotBuilder::new(1);
    stage.snapshot(&mut snapshot).unwrap();
    assert_eq!(snapshot.into_operators().len(), 1);
}
