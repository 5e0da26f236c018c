//! Values in the order in which they came, of which any can be given back.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;

use crate::state::{State, StateError, StateReader, encode_to_vec};

/// A list with a fast way to the first of equal values. Values are the same if their encodings are: what is given back is
/// what was added, bit by bit.
#[derive(Clone, Debug)]
pub struct Arrivals<T> {
    values: BTreeMap<u64, T>,
    /// Where the values of an encoding stand, the earliest first.
    places: HashMap<Vec<u8>, VecDeque<u64>, foldhash::fast::FixedState>,
    next: u64,
}

impl<T> Default for Arrivals<T> {
    fn default() -> Self {
        Arrivals { values: BTreeMap::new(), places: HashMap::default(), next: 0 }
    }
}

impl<T: State> PartialEq for Arrivals<T> {
    fn eq(&self, other: &Self) -> bool {
        encode_to_vec(self) == encode_to_vec(other)
    }
}

impl<T: State + Clone> Arrivals<T> {
    /// Adds a value behind all others.
    pub fn push(&mut self, value: T) {
        self.places.entry(encode_to_vec(&value)).or_default().push_back(self.next);
        self.values.insert(self.next, value);
        self.next += 1;
    }

    /// Gives back a value; of equal ones that which came first. False: there is none.
    pub fn remove(&mut self, value: &T) -> bool {
        let bytes = encode_to_vec(value);
        let Some(places) = self.places.get_mut(&bytes) else { return false };
        let place = places.pop_front();
        if places.is_empty() {
            self.places.remove(&bytes);
        }
        place.is_some_and(|place| self.values.remove(&place).is_some())
    }

    /// Takes all values of another list, behind its own.
    pub fn extend(&mut self, other: &Self) {
        other.values.values().for_each(|value| self.push(value.clone()));
    }

    /// All values in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.values.values()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<T: State> State for Arrivals<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.values.len() as u64).encode(out);
        self.values.values().for_each(|value| value.encode(out));
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut arrivals = Arrivals::default();
        for place in 0..u64::decode(input)? {
            let value = T::decode(input)?;
            arrivals.places.entry(encode_to_vec(&value)).or_default().push_back(place);
            arrivals.values.insert(place, value);
            arrivals.next = place + 1;
        }
        Ok(arrivals)
    }

    fn schema() -> String {
        Vec::<T>::schema()
    }
}
