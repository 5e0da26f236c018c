//! The sink: its options.

use std::marker::PhantomData;
use std::time::Duration;

use millstream_runtime::error::{JobError, JobResult};
use millstream_runtime::formats::Format;
use millstream_runtime::options::Options;
use millstream_runtime::record::Record;
use millstream_runtime::sink::batching::{BatchSettings, BatchWriter};
use millstream_runtime::sink::{Sink, SinkContext};

use crate::client::{is_address, without_secrets};
use crate::sender::HttpSender;

/// Posts rows of type `T` in the format `F`.
#[derive(Clone, Debug)]
pub struct HttpSink<T, F> {
    sender: HttpSender,
    settings: BatchSettings,
    format: F,
    row: PhantomData<fn(T)>,
}

impl<T: Record, F: Format> HttpSink<T, F> {
    /// See the connector's options.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        let settings = settings(options)?;
        let url = options.required_text("url")?;
        if !is_address(url) {
            return Err(JobError::new(format!(
                "the option `url` of the sink takes an address such as `https://example.com/rows`, not `{}`",
                without_secrets(url)
            )));
        }
        let authorization = options.text("authorization")?.filter(|value| !value.is_empty());
        Ok(HttpSink {
            sender: HttpSender::new(url, authorization, settings.timeout),
            settings,
            format: millstream_runtime::connectors::format_of(options)?,
            row: PhantomData,
        })
    }
}

fn settings(options: &Options) -> JobResult<BatchSettings> {
    let mut settings = BatchSettings::default();
    let number =
        |name: &str| Ok::<_, JobError>(options.unsigned(name)?.map(|value| usize::try_from(value).unwrap_or(usize::MAX)));
    let time = |name: &str| Ok::<_, JobError>(options.unsigned(name)?.map(Duration::from_micros));
    settings.batch_rows = number("batch")?.unwrap_or(settings.batch_rows);
    settings.batch_bytes = number("batch_bytes")?.unwrap_or(settings.batch_bytes);
    // Where one of two is given, the other makes room for it.
    settings.row_bytes = number("max_row")?.unwrap_or(settings.row_bytes.min(settings.batch_bytes));
    settings.buffered = number("buffer")?.unwrap_or(settings.buffered.max(settings.batch_rows.saturating_mul(2)));
    settings.in_flight = number("in_flight")?.unwrap_or(settings.in_flight);
    settings.linger = time("flush_after")?.unwrap_or(settings.linger);
    settings.timeout = time("timeout")?.unwrap_or(settings.timeout);
    if let Some(retries) = options.unsigned("retries")? {
        settings.retry.retries = u32::try_from(retries).unwrap_or(u32::MAX);
    }
    settings.check()?;
    Ok(settings)
}

impl<T: Record, F: Format> Sink<T> for HttpSink<T, F> {
    type Writer = BatchWriter<T, F::Encoder<T>>;

    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer> {
        BatchWriter::new(context, self.settings, self.format.encoder()?, self.sender.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_make_room_for_each_other_and_contradictions_are_refused() {
        let given = settings(&Options::new().with("batch", 20_000_i64).with_size("batch_bytes", 1000)).unwrap();
        assert_eq!((given.buffered, given.row_bytes), (40_000, 1000));
        let refused = settings(&Options::new().with("batch", 500_i64).with("buffer", 500_i64)).unwrap_err();
        assert!(refused.message().contains("must be larger than a batch of 500"), "{refused}");
    }
}
