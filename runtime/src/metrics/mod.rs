//! The numbers of a running job: names and meanings are those of FLIP-33, as Flink's users know them.
//!
//! Tasks count in plain fields and publish a few times per second; here the published counters are put together.

mod collect;
mod rates;
mod server;

use std::fmt::Write as _;

pub(crate) use collect::collect;
pub(crate) use rates::{Rates, Share, pressure_word};
pub(crate) use server::MetricsServer;

/// What a metric is called and what it says.
#[derive(Debug, PartialEq, Eq)]
pub struct Definition {
    /// `millstream_source_numRecordsIn`
    pub name: &'static str,
    /// In one line.
    pub help: &'static str,
    /// It only grows, but for restarts.
    pub counter: bool,
}

/// All that there may be.
pub fn definitions() -> &'static [&'static Definition] {
    collect::DEFINITIONS
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What it says.
    pub definition: &'static Definition,
    /// Of what: `source`, `sink`, `task`, `subtask`.
    pub labels: Vec<(&'static str, String)>,
    /// The number.
    pub value: f64,
}

/// All numbers of a job at some moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    samples: Vec<Sample>,
}

impl Metrics {
    /// All of them, those of one definition together.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The sum of a metric over all of its samples that have these labels; None: there is none.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let has = |sample: &Sample, (key, value): &(&str, &str)| sample.labels.iter().any(|(k, v)| k == key && v == value);
        let found = self.samples.iter().filter(|sample| sample.definition.name == name);
        let mut values = found.filter(|sample| labels.iter().all(|label| has(sample, label))).map(|sample| sample.value);
        let first = values.next()?;
        Some(values.fold(first, |sum, value| sum + value))
    }

    /// The text that Prometheus reads.
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for sample in &self.samples {
            let definition = sample.definition;
            if last != Some(definition.name) {
                last = Some(definition.name);
                let kind = if definition.counter { "counter" } else { "gauge" };
                let _ = writeln!(text, "# HELP {} {}\n# TYPE {} {kind}", definition.name, definition.help, definition.name);
            }
            text.push_str(definition.name);
            for (index, (key, value)) in sample.labels.iter().enumerate() {
                let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                let _ = write!(text, "{}{key}=\"{value}\"", if index == 0 { '{' } else { ',' });
            }
            if !sample.labels.is_empty() {
                text.push('}');
            }
            let _ = writeln!(text, " {}", sample.value);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_prometheus_reads() {
        static ROWS: Definition = Definition { name: "rows", help: "Rows.", counter: true };
        static LAG: Definition = Definition { name: "lag", help: "Lag.", counter: false };
        let sample = |definition, source: &str, value| Sample {
            definition,
            labels: vec![("job", "j".to_owned()), ("source", source.to_owned())],
            value,
        };
        let metrics = Metrics {
            samples: vec![
                sample(&ROWS, "a", 3.0),
                sample(&ROWS, "b \"\\\n", 12_345_678_901.0),
                Sample { definition: &LAG, labels: vec![], value: -1.5 },
            ],
        };
        assert_eq!(
            metrics.to_prometheus(),
            "# HELP rows Rows.\n# TYPE rows counter\nrows{job=\"j\",source=\"a\"} 3\n\
             rows{job=\"j\",source=\"b \\\"\\\\\\n\"} 12345678901\n# HELP lag Lag.\n# TYPE lag gauge\nlag -1.5\n"
        );
        assert_eq!(metrics.sum("rows", &[("job", "j")]), Some(12_345_678_904.0));
        assert_eq!(metrics.sum("rows", &[("source", "a")]), Some(3.0));
        assert_eq!(metrics.sum("rows", &[("source", "c")]), None);
    }
}
