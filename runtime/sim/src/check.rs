//! An operator that lets everything through and looks at it: watermarks never go back, and no row is older than the last one.

use millstream::JobError;
use millstream::codegen::{Collector, Failure, Operator};
use millstream::time::Watermark;

use crate::source::Row;

#[derive(Debug)]
pub(crate) struct Check {
    watermark: Watermark,
}

impl Check {
    pub(crate) fn new() -> Self {
        Check { watermark: Watermark::MIN }
    }
}

impl Operator<Row> for Check {
    type Out = Row;

    fn process(&mut self, row: Row, out: &mut impl Collector<Row>) -> Result<(), Failure> {
        if row.at.0 <= self.watermark.0 {
            return Err(JobError::new(format!("WRONG: {row:?} is late behind {:?}", self.watermark)).into());
        }
        out.emit(row)?;
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<Row>) -> Result<Option<Watermark>, Failure> {
        if watermark < self.watermark {
            return Err(
                JobError::new(format!("WRONG: the watermark goes back from {:?} to {watermark:?}", self.watermark)).into()
            );
        }
        self.watermark = watermark;
        Ok(Some(watermark))
    }
}
