//! A source and a sink of one's own.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::*;
use crate::sink::{Sink, SinkContext, SinkWriter};
use crate::source::{ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader, Split, StaticEnumerator};

/// Numbers from `next` down to 1.
#[derive(Clone, Debug)]
struct Countdown {
    next: u8,
}

impl Split for Countdown {
    fn id(&self) -> String {
        "countdown".to_owned()
    }

    fn encode(&self) -> Vec<u8> {
        vec![self.next]
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        bytes.first().map(|&next| Countdown { next }).ok_or_else(|| crate::JobError::new("a countdown without a number"))
    }
}

#[derive(Clone, Debug)]
struct Countdowns {
    from: Vec<u8>,
}

impl Source for Countdowns {
    type Row = i64;
    type Split = Countdown;
    type Enumerator = StaticEnumerator<Countdown>;
    type Reader = CountdownReader;

    fn enumerator(&self, _: &SourceContext, restored: Option<&[u8]>) -> JobResult<Self::Enumerator> {
        let new = || Ok(StaticEnumerator::new(self.from.iter().map(|&next| Countdown { next })));
        restored.map_or_else(new, StaticEnumerator::restore)
    }

    fn reader(&self, _: &ReaderContext) -> JobResult<CountdownReader> {
        Ok(CountdownReader::default())
    }

    fn bounded(&self) -> bool {
        true
    }
}

#[derive(Default)]
struct CountdownReader {
    splits: Vec<Countdown>,
    is_last: bool,
}

impl SourceReader for CountdownReader {
    type Row = i64;
    type Split = Countdown;

    fn add_splits(&mut self, splits: Vec<Countdown>) -> JobResult<()> {
        self.splits.extend(splits);
        Ok(())
    }

    fn no_more_splits(&mut self) {
        self.is_last = true;
    }

    fn poll(&mut self, _: &mut Context<'_>, out: &mut impl SourceOutput<i64>) -> Poll<JobResult<ReaderStatus>> {
        let Some(split) = self.splits.last_mut() else {
            return Poll::Ready(Ok(if self.is_last { ReaderStatus::End } else { ReaderStatus::NeedsSplit }));
        };
        out.split_added(&split.id());
        out.select_split(&split.id());
        if split.next > 0 {
            out.emit(split.next.into())?;
            split.next -= 1;
        } else {
            out.split_finished(&split.id());
            self.splits.pop();
        }
        Poll::Ready(Ok(ReaderStatus::More))
    }

    fn snapshot(&self) -> Vec<Countdown> {
        self.splits.clone()
    }
}

/// Keeps rows in the memory of the program.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<i64>>>);

impl Sink<i64> for Kept {
    type Writer = Kept;

    fn writer(&self, _: &SinkContext) -> JobResult<Kept> {
        Ok(self.clone())
    }
}

impl SinkWriter<i64> for Kept {
    fn write(&mut self, row: i64) -> JobResult<()> {
        self.0.lock().unwrap().push(row);
        Ok(())
    }
}

#[test]
fn connectors_of_ones_own() {
    let kept = Kept::default();
    let pipeline = Pipeline::new("own").parallelism(2);
    let numbers = pipeline.source("numbers", || Ok(Countdowns { from: vec![3, 2] }));
    let sink = kept.clone();
    numbers.filter(|number| *number != 2).map(|number| number * 10).sink("kept", move || Ok(sink.clone()));
    let graph = pipeline.graph();
    let ids: Vec<_> = graph.vertices().map(|id| graph.vertex(id).uid.clone()).collect();
    assert_eq!(ids, ["numbers/source/0", "numbers/where/0", "numbers/select/0", "sink/numbers/kept"]);
    pipeline.run(RunOptions::new()).unwrap();
    let mut rows = kept.0.lock().unwrap().clone();
    rows.sort_unstable();
    assert_eq!(rows, [10, 10, 30]);
}

/// What cannot be opened says why.
#[test]
fn a_connector_that_cannot_be_made_stops_the_job() {
    let pipeline = Pipeline::new("own").restart(crate::job::Restart::None);
    let numbers = pipeline.source("numbers", || Err::<Countdowns, _>(crate::JobError::new("no numbers today")));
    let _receiver = numbers.into_channel(1);
    let error = pipeline.run(RunOptions::new()).unwrap_err().to_string();
    assert!(error.contains("no numbers today") && error.contains("numbers"), "{error}");
}
