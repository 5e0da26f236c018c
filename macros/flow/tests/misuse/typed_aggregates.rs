//! What only rustc knows of aggregates.

use millstream::prelude::*;

/// Derives nothing.
pub struct Bare {
    pub total: f64,
}

#[aggregate]
impl Accumulator for Bare {
    type Input = f64;
    type Output = f64;

    fn add(&mut self, value: f64) -> Result<(), EvalError> {
        self.total += value;
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        self.total += other.total;
        Ok(())
    }

    fn finish(&self) -> Result<Option<f64>, EvalError> {
        Ok(Some(self.total))
    }
}

/// Other parameters than `Input`.
#[derive(Clone, Debug, Default, State)]
pub struct Other {
    pub total: f64,
}

#[aggregate]
impl Accumulator for Other {
    type Input = f64;
    type Output = f64;

    fn add(&mut self, value: String) -> Result<(), EvalError> {
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        Ok(())
    }

    fn finish(&self) -> f64 {
        self.total
    }
}

fn main() {}
