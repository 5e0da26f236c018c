//! `approx_count_distinct`

use super::AggregateSpec;

/// What the compiler knows of it.
pub static SPEC: AggregateSpec = AggregateSpec {
    name: "approx_count_distinct",
    signature: "approx_count_distinct(value: O) -> int64",
    never_null: true,
    accumulator: "ApproxCountDistinct",
    over_table: "CountDistinctOverTable",
    doc: "About how many distinct values there are, in at most 4 KB whatever their number.\n\nExact up to 256 values, then within about 2 percent \
        (HyperLogLog with 4,096 registers). For the exact number use `count(distinct value)`. Over a table it is exact: a sketch cannot forget.",
};

#[cfg(feature = "engine")]
pub use engine::ApproxCountDistinct;

#[cfg(feature = "engine")]
mod engine {
    use std::collections::BTreeSet;
    use std::marker::PhantomData;

    use crate::aggregates::Accumulator;
    use crate::aggregates::accumulator::accumulator_state;
    use crate::record::key_hash;
    use crate::value::{AsKey, EvalError};

    /// The number of registers is 2 to this power.
    const BITS: u32 = 12;
    const REGISTERS: usize = 1 << BITS;
    /// As long as there are so few hashes they are kept themselves.
    const EXACT: usize = 256;

    /// A HyperLogLog sketch. The hash of a value is that of its encoding, the same in every version.
    #[derive(Debug)]
    pub struct ApproxCountDistinct<T> {
        hashes: BTreeSet<u64>,
        /// Empty as long as the hashes are kept.
        registers: Vec<u8>,
        values: PhantomData<fn(T)>,
    }

    impl<T> Clone for ApproxCountDistinct<T> {
        fn clone(&self) -> Self {
            ApproxCountDistinct { hashes: self.hashes.clone(), registers: self.registers.clone(), values: PhantomData }
        }
    }

    impl<T> Default for ApproxCountDistinct<T> {
        fn default() -> Self {
            ApproxCountDistinct { hashes: BTreeSet::new(), registers: Vec::new(), values: PhantomData }
        }
    }

    impl<T> PartialEq for ApproxCountDistinct<T> {
        fn eq(&self, other: &Self) -> bool {
            (&self.hashes, &self.registers) == (&other.hashes, &other.registers)
        }
    }

    accumulator_state!([T] ApproxCountDistinct<T> = "approx_count_distinct": hashes, registers);

    impl<T> ApproxCountDistinct<T> {
        fn add_hash(&mut self, hash: u64) {
            if self.registers.is_empty() {
                self.hashes.insert(hash);
                if self.hashes.len() <= EXACT {
                    return;
                }
                self.registers = vec![0; REGISTERS];
                for hash in std::mem::take(&mut self.hashes) {
                    self.register(hash);
                }
            } else {
                self.register(hash);
            }
        }

        fn register(&mut self, hash: u64) {
            let index = (hash >> (64 - BITS)) as usize;
            // A one behind the last bit ends the run of zeros.
            let zeros = (hash << BITS | 1 << (BITS - 1)).leading_zeros() as u8 + 1;
            if let Some(register) = self.registers.get_mut(index) {
                *register = zeros.max(*register);
            }
        }
    }

    impl<T: AsKey> Accumulator for ApproxCountDistinct<T> {
        type Input = T;
        type Output = i64;

        fn add(&mut self, value: T) -> Result<(), EvalError> {
            self.add_hash(key_hash(&value.into_key(), &mut Vec::new()));
            Ok(())
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            other.hashes.iter().for_each(|hash| self.add_hash(*hash));
            if other.registers.is_empty() {
                return Ok(());
            }
            if self.registers.is_empty() {
                self.registers = vec![0; REGISTERS];
                for hash in std::mem::take(&mut self.hashes) {
                    self.register(hash);
                }
            }
            for (register, other) in self.registers.iter_mut().zip(&other.registers) {
                *register = (*register).max(*other);
            }
            Ok(())
        }

        fn finish(&self) -> Result<Option<i64>, EvalError> {
            if self.registers.is_empty() {
                return Ok(Some(self.hashes.len() as i64));
            }
            let m = REGISTERS as f64;
            let alpha = 0.7213 / (1.0 + 1.079 / m);
            let sum: f64 = self.registers.iter().map(|register| 2f64.powi(-(*register as i32))).sum();
            let estimate = alpha * m * m / sum;
            let zeros = self.registers.iter().filter(|register| **register == 0).count();
            // Few values: counting empty registers is more exact.
            let estimate = if estimate <= 2.5 * m && zeros > 0 { m * (m / zeros as f64).ln() } else { estimate };
            Ok(Some(estimate.round() as i64))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn exact_when_few_and_close_when_many() {
            for count in [0i64, 1, 256, 257, 1000, 10_000, 100_000] {
                let (mut a, mut b) = (ApproxCountDistinct::<i64>::default(), ApproxCountDistinct::default());
                for value in 0..count {
                    let half = if value % 2 == 0 { &mut a } else { &mut b };
                    half.add(value).unwrap();
                    half.add(value).unwrap();
                }
                a.merge(&b).unwrap();
                let found = a.finish().unwrap().unwrap();
                let allowed = if count <= 256 { 0 } else { count / 20 };
                assert!((found - count).abs() <= allowed, "{found} of {count}");
            }
        }
    }
}
