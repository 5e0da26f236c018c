//! Key groups: the unit in which keyed state moves between subtasks.
//!
//! A key's group depends on its encoded bytes alone, so that exchanges and state agree in every version and on every machine.

use xxhash_rust::xxh3::xxh3_64;

/// How keys are spread over key groups, and those over subtasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyGroups {
    count: u32,
    /// Where the count is a power of two: `hash & mask` is `hash % count`, without the division.
    mask: Option<u64>,
}

impl KeyGroups {
    /// This many groups (the job's max parallelism), at most 32,768.
    pub fn new(count: u32) -> Self {
        let count = count.clamp(1, 1 << 15);
        KeyGroups { count, mask: count.is_power_of_two().then(|| u64::from(count) - 1) }
    }

    /// The number of groups.
    pub fn count(self) -> u32 {
        self.count
    }

    /// The group of a key with this hash (see [`hash_bytes`]).
    #[inline]
    pub fn of_hash(self, hash: u64) -> u16 {
        match self.mask {
            Some(mask) => (hash & mask) as u16,
            None => (hash % u64::from(self.count)) as u16,
        }
    }

    /// The subtask of a key group.
    #[inline]
    pub fn subtask(self, group: u16, parallelism: u32) -> u32 {
        u32::from(group) * parallelism / self.count
    }

    /// The groups of a subtask.
    pub fn range(self, subtask: u32, parallelism: u32) -> KeyGroupRange {
        let (count, subtask, parallelism) = (u64::from(self.count), u64::from(subtask), u64::from(parallelism.max(1)));
        let start = (subtask * count).div_ceil(parallelism);
        let end = ((subtask + 1) * count).div_ceil(parallelism);
        KeyGroupRange { start: start as u32, end: end as u32 }
    }
}

/// Consecutive key groups: `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyGroupRange {
    /// The first group.
    pub start: u32,
    /// Behind the last group.
    pub end: u32,
}

impl KeyGroupRange {
    /// How many groups.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// No group at all: more subtasks than groups.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether the group is one of them.
    pub fn contains(self, group: u16) -> bool {
        (self.start..self.end).contains(&u32::from(group))
    }
}

/// The hash of a key's encoded bytes. The same in every version.
#[inline]
pub fn hash_bytes(encoded: &[u8]) -> u64 {
    xxh3_64(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_groups_and_agree_with_subtask() {
        for count in [1, 2, 7, 100, 128, 32_768] {
            let groups = KeyGroups::new(count);
            for parallelism in [1, 2, 3, 4, 7, 64, 128] {
                let mut next = 0;
                for subtask in 0..parallelism {
                    let range = groups.range(subtask, parallelism);
                    assert_eq!(range.start, next);
                    next = range.end;
                    for group in range.start..range.end {
                        assert_eq!(groups.subtask(group as u16, parallelism), subtask);
                    }
                }
                assert_eq!(next, count);
            }
        }
    }

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(hash_bytes(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash_bytes(b"AA"), 0x84d6_25ed_b705_5eac);
        let groups = KeyGroups::new(100);
        assert_eq!(u64::from(groups.of_hash(u64::MAX)), u64::MAX % 100);
    }
}
