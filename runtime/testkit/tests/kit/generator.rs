//! The generator: rows that are made up, as many splits as readers.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use millstream::connectors::generator::GeneratorSource;
use millstream::{JobResult, Options, Record};
use millstream_testkit::{SourceClaims, SourceContext, Splits, source_suite};

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Number {
    pub number: i64,
    pub text: millstream::value::Str,
}

pub struct Generated {
    rows: AtomicI64,
}

impl SourceContext for Generated {
    type Source = GeneratorSource<Number>;
    const NAME: &'static str = "generator";
    const CLAIMS: SourceClaims = SourceClaims { splits: Splits::PerReader, ..SourceClaims::BOUNDED };

    fn open() -> JobResult<Self> {
        Ok(Generated { rows: AtomicI64::new(0) })
    }

    fn write(&self, _split: u32, rows: u32) -> JobResult<Vec<Number>> {
        let first = self.rows.fetch_add(i64::from(rows), SeqCst);
        Ok((first..first + i64::from(rows)).map(|number| Number { number, text: number.to_string().into() }).collect())
    }

    fn source(&self, _bounded: bool) -> JobResult<Self::Source> {
        GeneratorSource::from_options(&Options::new().with("rows", self.rows.load(SeqCst)))
    }
}

source_suite!(Generated);
