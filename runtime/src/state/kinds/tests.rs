//! What is freed, and what is stored, changes nothing that can be seen.

use proptest::prelude::*;

use super::{ListState, MapState, ValueState};
use crate::state::{State, decode_from_slice, encode_to_vec};
use crate::value::Timestamp;

type All = (ValueState<i64>, ListState<i64>, MapState<u8, i64>);

fn seen(all: &All, now: Timestamp) -> (Option<i64>, Vec<i64>, Vec<(u8, i64)>, usize) {
    let map = all.2.iter(now).map(|(key, value)| (*key, *value)).collect();
    (all.0.get(now).copied(), all.1.iter(now).copied().collect(), map, all.2.len(now) + all.1.len(now))
}

fn act(all: &mut All, what: u8, value: i64, now: Timestamp, until: Timestamp) {
    let key = (value % 4) as u8;
    match what {
        0 => all.0.set(value),
        1 => all.0.set_until(value, until),
        2 => all.0.renew(until, now),
        3 => all.1.push(value),
        4 => all.1.push_until(value, until),
        5 => all.1.retain(now, |other| other % 3 != value % 3),
        6 => all.2.insert(key, value),
        7 => all.2.insert_until(key, value, until),
        8 => all.2.renew(&key, until, now),
        9 => drop(all.2.remove(&key, now)),
        10 => drop(all.0.take(now)),
        11 => drop(all.1.take(now)),
        12 => all.2.get_mut(&key, now).into_iter().for_each(|value| *value += 1),
        13 => all.1.renew(until, now),
        14 => all.2.retain(now, |_, other| other % 3 != value % 3),
        _ => all.1.iter_mut(now).for_each(|value| *value += 1),
    }
}

proptest! {
    #[test]
    fn freeing_and_storing_change_nothing(steps in prop::collection::vec((0..16u8, 0..20i64, 0..5i64, 1..12i64, 0..3u8), 0..60)) {
        let (mut plain, mut freed) = (All::default(), All::default());
        let mut now = 0;
        for (what, value, step, life, also) in steps {
            now += step;
            match also {
                0 => freed.expire(now),
                1 => freed = decode_from_slice(&encode_to_vec(&freed)).unwrap(),
                _ => {}
            }
            if also == 0 {
                prop_assert!(!freed.is_over(now));
            }
            act(&mut plain, what, value, Timestamp(now), Timestamp(now + life));
            act(&mut freed, what, value, Timestamp(now), Timestamp(now + life));
            prop_assert_eq!(seen(&plain, Timestamp(now)), seen(&freed, Timestamp(now)));
        }
        // What is over is gone from memory, too.
        freed.expire(i64::MAX - 1);
        plain.expire(i64::MAX - 1);
        prop_assert_eq!(freed, plain);
    }
}
