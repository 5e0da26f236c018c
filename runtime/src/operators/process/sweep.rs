//! Frees the memory of what the clock has gone past: table by table, so that no step takes long.
//!
//! What is over is never read, whether it has been freed or not: while the clock only goes on, the pace changes no result.

/// All tables are looked at within this time, or within half the time to live.
const ROUND: i64 = 60_000_000;

/// No oftener than this.
const TICK: i64 = 10_000;

/// Which table is looked at next, and when. Microseconds of the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    round: i64,
    table: u32,
    at: i64,
}

impl Sweep {
    /// At a pace that fits this time to live; None: what is over says so itself.
    pub fn new(ttl: Option<i64>) -> Self {
        Sweep { round: ttl.map_or(ROUND, |ttl| (ttl / 2).clamp(1, ROUND)), table: 0, at: i64::MIN }
    }

    /// When it goes on.
    pub fn next(&self) -> i64 {
        self.at
    }

    /// The tables that are to be looked at now, out of so many.
    pub fn due(&mut self, now: i64, tables: u32) -> impl Iterator<Item = u32> + use<> {
        let tick = (self.round / i64::from(tables.max(1))).max(TICK);
        // Also when the clock has gone back far.
        let due = self.at <= now || self.at > now.saturating_add(tick);
        let share = (tick * i64::from(tables) + self.round - 1) / self.round;
        let count = if due { u32::try_from(share).map_or(tables, |share| share.min(tables)) } else { 0 };
        let from = self.table;
        if due {
            self.at = now.saturating_add(tick);
            self.table = (from + count) % tables.max(1);
        }
        (0..count).map(move |step| (from + step) % tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_are_looked_at_within_a_round_however_many_there_are() {
        for (ttl, within) in [(None, ROUND), (Some(20_000_000), 10_000_000), (Some(1), TICK)] {
            for tables in [1, 7, 128, 10_000, 32_768] {
                let mut sweep = Sweep::new(ttl);
                let mut seen = vec![false; tables as usize];
                let mut now = 0;
                while now < within {
                    sweep.due(now, tables).for_each(|table| seen[table as usize] = true);
                    assert_eq!(sweep.due(now, tables).count(), 0, "not twice at the same time");
                    assert!(sweep.next() >= now + TICK);
                    now = sweep.next();
                }
                assert!(seen.iter().all(|seen| *seen), "{tables} tables, time to live {ttl:?}");
            }
        }
    }

    #[test]
    fn it_goes_on_when_the_clock_has_gone_back_or_there_was_nothing() {
        let mut sweep = Sweep::new(None);
        assert_eq!(sweep.due(1_000_000_000, 0).count(), 0);
        assert_eq!(sweep.due(5, 7).count(), 1);
        assert_eq!(sweep.due(6, 7).count(), 0);
    }
}
