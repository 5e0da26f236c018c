//! Random numbers as a function of a key: no state, so any event can be made without those before it.

/// The random numbers of one event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random {
    key: u64,
}

/// Multiplies to 128 bits and folds them: every bit of the result depends on every bit of both.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

impl Random {
    /// The numbers that belong to a seed and a number.
    #[inline]
    pub fn new(seed: u64, number: u64) -> Self {
        Random { key: fold(number ^ seed ^ 0x2d35_8dcc_aa6c_78a5, seed.rotate_left(32) ^ 0x8bb8_4b93_962e_acc9) ^ number }
    }

    /// The number for one purpose; other purposes give independent ones.
    #[inline]
    pub fn draw(self, purpose: Purpose) -> u64 {
        self.nth(purpose, 0)
    }

    /// The number for one purpose, for things that need many.
    #[inline]
    pub fn nth(self, purpose: Purpose, index: u64) -> u64 {
        let salt = ((purpose as u64) << 32 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xa076_1d64_78bd_642f;
        let mixed = fold(self.key ^ salt, 0xe703_7ed1_a0b4_28db);
        fold(mixed ^ 0x8ebc_6af0_9c88_c6e3, salt | 1)
    }
}

/// What a random number is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    IsHot = 1,
    Auction,
    IsHotBidder,
    Bidder,
    Price,
    Reserve,
    Channel,
    ChannelIsHot,
    Url,
    UrlHasChannel,
    Category,
    Expires,
    Name,
    Email,
    CreditCard,
    City,
    State,
    ItemName,
    Description,
    ExtraLength,
    Extra,
}

/// A number below `bound` (0 where that is 0).
#[inline]
pub(super) fn below(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

/// How finely [`price`] divides its range.
const STEPS: usize = 1024;

/// `10^(6 / STEPS)`
const STEP: f64 = 1.013_583_133_334_065_8;

/// `10^(6 * index / STEPS)`. Products only, so that every machine has the same numbers.
static POWERS: [f64; STEPS] = {
    let mut powers = [1.0; STEPS];
    let mut index = 1;
    while index < STEPS {
        let half = powers[index / 2];
        powers[index] = if index % 2 == 0 { half * half } else { half * half * STEP };
        index += 1;
    }
    powers
};

/// `10^(6 u) * 100` for a uniform `u` below 1, rounded: prices from 100 to 100 million, as many of each magnitude.
#[inline]
pub(super) fn price(random: u64) -> i64 {
    let index = (random >> 54) as usize;
    // The rest of u, as the exponent of e: at most 0.0135, where four terms of the series are exact to 10^-9.
    let rest = ((random << 10) >> 11) as f64 / (1u64 << 53) as f64 * (6.0 * std::f64::consts::LN_10 / STEPS as f64);
    let power = POWERS[index % STEPS] * (1.0 + rest * (1.0 + rest * (0.5 + rest / 6.0)));
    (power * 100.0).round() as i64
}

/// Fills with letters, eight for every random number: `a` to `z`, or `a` down to `H`, as the reference generator does (its
/// remainders of negative numbers).
#[inline]
pub(super) fn letters(random: Random, purpose: Purpose, out: &mut [u8]) {
    const LOW: u64 = 0x00ff_00ff_00ff_00ff;
    const A: u64 = u64::from_ne_bytes([b'a'; 8]);
    let signs = random.nth(purpose, u32::MAX as u64);
    for (index, chunk) in out.chunks_mut(8).enumerate() {
        let bytes = random.nth(purpose, index as u64);
        // Every byte times 26 / 256, four at a time.
        let even = (((bytes & LOW) * 26) >> 8) & LOW;
        let odd = (((bytes >> 8 & LOW) * 26) >> 8) & LOW;
        let digits = even | odd << 8;
        let letters = if signs >> (index % 64) & 1 == 0 { A + digits } else { A - digits };
        chunk.copy_from_slice(&letters.to_le_bytes()[..chunk.len()]);
    }
}

/// A text of 3 to `limit - 1` characters: letters and, one in thirteen, `special`.
pub(super) fn text(random: Random, purpose: Purpose, offset: u64, limit: u64, special: char, out: &mut String) {
    let length = 3 + below(random.nth(purpose, offset), limit - 3);
    for index in 0..length {
        let draw = random.nth(purpose, offset + 1 + index);
        let letter = (b'a' + below(draw.rotate_left(32), 26) as u8) as char;
        out.push(if below(draw, 13) == 0 { special } else { letter });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_powers_of_ten() {
        assert_eq!(price(0), 100);
        assert_eq!(price(u64::MAX), 100_000_000);
        assert_eq!(price(1 << 63), 100_000);
        for index in 0..10_000u64 {
            let random = Random::new(7, index).draw(Purpose::Price);
            let exact = 10f64.powf((random >> 11) as f64 / (1u64 << 53) as f64 * 6.0) * 100.0;
            assert!((price(random) as f64 - exact).abs() <= 0.5 + exact * 1e-7, "{random}: {} {exact}", price(random));
        }
    }

    #[test]
    fn numbers_are_spread() {
        let mut counts = [0u32; 16];
        let mut bits = [0u32; 64];
        for number in 0..16_000 {
            let random = Random::new(0, number).draw(Purpose::Bidder);
            counts[below(random, 16) as usize] += 1;
            (0..64).for_each(|bit| bits[bit] += (random >> bit & 1) as u32);
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert!(bits.iter().all(|count| (7_500..8_500).contains(count)), "{bits:?}");
    }
}
