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
        let per_table = self.round / i64::from(tables.max(1));
        let tick = per_table.max(TICK);
        // Also when the clock has gone back far.
        let due = self.at <= now || self.at > now.saturating_add(tick);
        let count = if due && tables > 0 { u32::try_from(tick / per_table.max(1)).unwrap_or(tables).clamp(1, tables) } else { 0 };
        let from = self.table;
        if due {
            self.at = now.saturating_add(tick);
            self.table = (from + count) % tables.max(1);
        }
        (0..count).map(move |step| (from + step) % tables)
    }
}
