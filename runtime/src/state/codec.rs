//! How state, keys and rows look as bytes: in checkpoints, and for the hash that places a key.
//!
//! Integers are variable-length (7 bits a byte, signed ones zigzag), texts and lists carry their length. The encoding of
//! a value is the same in every version: key groups depend on it.

use std::fmt;

pub use crate::bytes::write_varint;
use crate::checkpoint::DEFAULT;
use crate::value::{Date, Decimal, Duration, Float, FloatKey, Json, Str, Time, Timestamp, Uuid};

/// A value that can be kept in a checkpoint.
#[diagnostic::on_unimplemented(
    message = "checkpoints cannot hold a `{Self}`",
    label = "not known to checkpoints",
    note = "write `#[derive(State)]` above a type of your own; else plain values, options, lists and maps, or `ValueState`, `ListState`, `MapState`, `ReducingState`, `AggregatingState`"
)]
pub trait State: Sized {
    /// Appends the bytes of the value.
    fn encode(&self, out: &mut Vec<u8>);
    /// Takes a value off the front of the input.
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError>;
    /// Appends what the same process needs to have the value back as it was. Only of a type that leaves something out of
    /// checkpoints, which is made anew at a restore, these are other bytes.
    fn encode_local(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }
    /// Takes what [`encode_local`](State::encode_local) gave.
    fn decode_local(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Self::decode(input)
    }
    /// Reads a little of what the value has elsewhere in memory, and of what it reads makes a byte of no meaning. Done for many values before
    /// each is encoded, that fetches them at the same time and not one after the other.
    #[doc(hidden)]
    #[inline]
    fn touch(&self) -> u8 {
        0
    }
    /// What the bytes mean (`{carrier:string,flights:count}`). Stored beside them and compared when they are read again.
    fn schema() -> String;

    /// Whether such values can hold something that is over at a time of the clock: see [`kinds`](super::kinds).
    const EXPIRES: bool = false;

    /// Whether it holds something that is over by now.
    fn is_over(&self, _now: i64) -> bool {
        false
    }

    /// Lets go of what is over by now.
    fn expire(&mut self, _now: i64) {}
}

/// Bytes that are no value of the expected type: a damaged or foreign checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError(String);

impl StateError {
    /// An error with this reason.
    #[cold]
    pub fn new(reason: impl Into<String>) -> Self {
        StateError(reason.into())
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stored state cannot be read: {}", self.0)
    }
}

impl std::error::Error for StateError {}

/// Reads encoded values one after the other.
#[derive(Clone, Copy, Debug)]
pub struct StateReader<'a> {
    bytes: &'a [u8],
}

impl<'a> StateReader<'a> {
    /// A reader over these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        StateReader { bytes }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], StateError> {
        match self.bytes.split_at_checked(count) {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(taken)
            }
            None => Err(StateError::new(format!("{count} bytes expected, {} are left", self.bytes.len()))),
        }
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, StateError> {
        Ok(self.take(1)?[0])
    }

    /// The next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A variable-length number.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, StateError> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                return Err(StateError::new("a number is longer than 64 bits"));
            }
            value |= ((byte & 0x7f) as u64) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    /// The length of a list or text: never more than there are bytes left, so that damage cannot ask for huge memory.
    pub fn length(&mut self) -> Result<usize, StateError> {
        let length = self.varint()?;
        match usize::try_from(length) {
            Ok(length) if length <= self.bytes.len() => Ok(length),
            _ => Err(StateError::new(format!("a length of {length} with {} bytes left", self.bytes.len()))),
        }
    }
}

/// What follows the type of a field in a schema: what the field is in values that were stored without it. Only the job that reads
/// them needs to know, so it is never stored.
pub fn default_in_schema<T: State>(value: &T) -> String {
    let mut text = String::from(DEFAULT);
    encode_to_vec(value).iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
    text
}

/// The schema of a field, whose type the compiler finds.
pub fn schema_of<T, F: State>(_field: fn(&T) -> &F) -> String {
    F::schema()
}

/// A value encoded by itself.
pub fn encode_to_vec<T: State>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    value.encode(&mut out);
    out
}

/// The one value that these bytes hold.
pub fn decode_from_slice<T: State>(bytes: &[u8]) -> Result<T, StateError> {
    let mut reader = StateReader::new(bytes);
    let value = T::decode(&mut reader)?;
    if reader.is_empty() { Ok(value) } else { Err(StateError::new(format!("{} bytes too many", reader.rest().len()))) }
}

macro_rules! integers {
    ($($ty:ty = $name:literal: $to:expr, $from:expr;)*) => {$(
        impl State for $ty {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                write_varint($to(*self as _), out);
            }
            #[inline]
            fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
                <$ty>::try_from($from(input.varint()?)).map_err(|_| StateError::new(concat!("a number does not fit into ", $name)))
            }
            fn schema() -> String {
                $name.into()
            }
        }
    )*};
}

#[inline]
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

integers! {
    i8 = "int8": zigzag, unzigzag;
    i16 = "int16": zigzag, unzigzag;
    i32 = "int32": zigzag, unzigzag;
    i64 = "int64": zigzag, unzigzag;
    u8 = "uint8": std::convert::identity::<u64>, std::convert::identity::<u64>;
    u16 = "uint16": std::convert::identity::<u64>, std::convert::identity::<u64>;
    u32 = "uint32": std::convert::identity::<u64>, std::convert::identity::<u64>;
    u64 = "uint64": std::convert::identity::<u64>, std::convert::identity::<u64>;
    usize = "uint64": std::convert::identity::<u64>, std::convert::identity::<u64>;
}

macro_rules! fixed {
    ($($ty:ty = $name:literal),*) => {$(
        impl State for $ty {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
                input.array().map(<$ty>::from_le_bytes)
            }
            fn schema() -> String {
                $name.into()
            }
        }
    )*};
}
fixed!(f32 = "float32", f64 = "float64", i128 = "int128", u128 = "uint128");

/// Types that are another one with a name.
macro_rules! wrapped {
    ($($ty:ty = $name:literal: |$value:ident| $inner:expr, $wrap:expr;)*) => {$(
        impl State for $ty {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                let $value = self;
                $inner.encode(out);
            }
            #[inline]
            fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
                State::decode(input).map($wrap)
            }
            fn schema() -> String {
                $name.into()
            }
        }
    )*};
}
wrapped! {
    Date = "date": |value| value.0, Date;
    Time = "time": |value| value.0, Time;
    Timestamp = "timestamp": |value| value.0, Timestamp;
    Duration = "duration": |value| value.0, Duration;
    Uuid = "uuid": |value| value.0, Uuid;
}

impl State for () {
    fn encode(&self, _out: &mut Vec<u8>) {}
    fn decode(_input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(())
    }
    fn schema() -> String {
        "()".into()
    }
}

impl State for bool {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    #[inline]
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        match input.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(StateError::new(format!("{other} is no bool"))),
        }
    }
    fn schema() -> String {
        "bool".into()
    }
}

impl<const P: u8, const S: u8> State for Decimal<P, S> {
    /// Small values take few bytes: a zigzag number of up to 64 bits behind a 0, else all 128 behind a 1.
    fn encode(&self, out: &mut Vec<u8>) {
        match i64::try_from(self.0) {
            Ok(small) => {
                out.push(0);
                small.encode(out);
            }
            Err(_) => {
                out.push(1);
                self.0.encode(out);
            }
        }
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(Decimal(if bool::decode(input)? { i128::decode(input)? } else { i64::decode(input)? as i128 }))
    }
    fn schema() -> String {
        format!("decimal({P},{S})")
    }
}

impl<F: Float> State for FloatKey<F> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.get().bits().to_le_bytes()[..F::BYTES]);
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut bits = [0; 8];
        bits[..F::BYTES].copy_from_slice(input.take(F::BYTES)?);
        Ok(FloatKey::new(F::from_bits(u64::from_le_bytes(bits))))
    }
    fn schema() -> String {
        F::NAME.into()
    }
}

fn encode_text(text: &str, out: &mut Vec<u8>) {
    write_varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// A byte of every line of the caches; whoever copies a text that is much longer fetches the rest in time.
#[inline]
fn touch_text(text: &str) -> u8 {
    const LINE: usize = 64;
    let bytes = text.as_bytes();
    let lines = bytes.iter().step_by(LINE).take(4).fold(0, |seen, byte| seen | byte);
    lines | bytes.last().copied().unwrap_or(0)
}

fn decode_text<'a>(input: &mut StateReader<'a>) -> Result<&'a str, StateError> {
    let length = input.length()?;
    std::str::from_utf8(input.take(length)?).map_err(|_| StateError::new("a text is not UTF-8"))
}

impl State for Str {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        encode_text(self, out);
    }
    #[inline]
    fn touch(&self) -> u8 {
        touch_text(self)
    }
    #[inline]
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        decode_text(input).map(Str::from)
    }
    fn schema() -> String {
        "string".into()
    }
}

impl State for String {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_text(self, out);
    }
    #[inline]
    fn touch(&self) -> u8 {
        touch_text(self)
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        decode_text(input).map(String::from)
    }
    fn schema() -> String {
        "string".into()
    }
}

impl State for Json {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_text(self.as_str(), out);
    }
    #[inline]
    fn touch(&self) -> u8 {
        touch_text(self.as_str())
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        decode_text(input).map(|text| Json::from_compact(text.into()))
    }
    fn schema() -> String {
        "json".into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn round<T: State + PartialEq + fmt::Debug>(value: T) {
        let bytes = encode_to_vec(&value);
        assert_eq!(decode_from_slice::<T>(&bytes).as_ref(), Ok(&value));
        // Every cut is noticed, none panics.
        for cut in 0..bytes.len() {
            assert!(decode_from_slice::<T>(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn values_come_back_and_cuts_are_noticed() {
        [0, 1, -1, 63, 64, i64::MAX, i64::MIN].into_iter().for_each(round);
        [0, 127, 128, u64::MAX].into_iter().for_each(round);
        round((1u8, true, Some(Str::from("longer than twenty-four bytes")), None::<i32>));
        round((Decimal::<38, 2>(i128::MAX), Decimal::<38, 2>(-5), Uuid(7), Timestamp(-1), 1.5f64));
        round(BTreeMap::from([(Str::from("a"), vec![1i64, 2])]));
        round(vec![Json::default()]);
        round(hashbrown::HashMap::<i64, u8, foldhash::fast::FixedState>::from_iter([(1, 2), (3, 4)]));
    }

    #[test]
    fn damage_is_an_error_and_asks_for_no_memory() {
        assert!(decode_from_slice::<Vec<u8>>(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).is_err());
        assert!(decode_from_slice::<Str>(&[0xff, 0xff, 0x7f]).is_err());
        assert!(decode_from_slice::<u64>(&[0xff; 12]).is_err());
        assert!(decode_from_slice::<i8>(&encode_to_vec(&300i64)).is_err());
        assert!(decode_from_slice::<bool>(&[2]).is_err());
        assert!(decode_from_slice::<Str>(&[1, 0xff]).is_err());
        assert!(decode_from_slice::<i64>(&[0, 0]).is_err());
    }

    /// Key groups in checkpoints depend on these bytes: they must never change.
    #[test]
    fn the_encoding_is_fixed() {
        assert_eq!(encode_to_vec(&(300i64, Str::from("ab"), Some(true))), [0xd8, 4, 2, b'a', b'b', 1, 1]);
        assert_eq!(encode_to_vec(&Decimal::<5, 2>(-1)), [0, 1]);
        assert_eq!(<(i64, Option<Str>, Vec<f64>)>::schema(), "(int64,string?,list<float64>)");
    }
}
