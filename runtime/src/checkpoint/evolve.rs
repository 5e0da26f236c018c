//! Converts stored state to the types of a changed job.
//!
//! Fields are matched by name. New ones say what they are in old values (`#[flow(default)]`), or are optional, lists, sets or
//! maps: they begin empty. Fields that are gone are left out; numbers may become wider; what was required may become optional. Anything else is refused, with the field.
//! Keys keep their bytes, since the place of a key depends on them.

use super::layout::Layout;
use super::walk::{Cursor, Damaged};

/// Why old state cannot become new state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The field: `entries.delay`. Empty: the state as a whole.
    pub path: String,
    /// What is wrong with it.
    pub reason: String,
}

/// How to turn bytes of one layout into bytes of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion(Step);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// The bytes as they are.
    Copy(Layout),
    /// An unsigned number becomes a signed one.
    Signed,
    /// `float32` becomes `float64`.
    Float,
    /// More digits behind the point: times this.
    Scale(i128),
    /// What was always there may now be absent.
    Present(Box<Step>),
    /// What stays may now go by itself.
    Lasting(Box<Step>),
    Optional(Box<Step>),
    List(Box<Step>),
    Map(Box<Step>, Box<Step>),
    Sequence(Vec<Step>),
    /// The layouts of the old fields, and for each new one the number of the old, or the bytes that it has where it was absent.
    Fields(Vec<Layout>, Vec<Result<(usize, Step), Vec<u8>>>),
    /// Per old variant, the new number.
    Variants(Vec<Result<(u64, Step), String>>),
}

/// Why bytes could not be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversionError {
    /// They are not what their schema says.
    Damaged,
    /// The value is one that the new type does not have.
    Value(String),
}

impl From<Damaged> for ConversionError {
    fn from(_: Damaged) -> Self {
        ConversionError::Damaged
    }
}

impl Conversion {
    /// How values of the old layout become values of the new one.
    pub fn between(old: &Layout, new: &Layout) -> Result<Self, Mismatch> {
        step(old, new, "").map(Conversion)
    }

    /// Converts one stored value.
    pub fn apply(&self, bytes: &[u8]) -> Result<Vec<u8>, ConversionError> {
        let mut cursor = Cursor::new(bytes);
        let mut out = Vec::with_capacity(bytes.len());
        self.0.apply(&mut cursor, &mut out)?;
        if cursor.rest.is_empty() { Ok(out) } else { Err(ConversionError::Damaged) }
    }
}

fn step(old: &Layout, new: &Layout, path: &str) -> Result<Step, Mismatch> {
    if old == new {
        return Ok(Step::Copy(old.clone()));
    }
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let refuse = |reason: String| Err(Mismatch { path: path.to_owned(), reason });
    Ok(match (old, new) {
        (old, Layout::Defaulted(new, _)) => step(old, new, path)?,
        (Layout::Defaulted(old, _), new) => step(old, new, path)?,
        (Layout::Signed(from), Layout::Signed(to)) if from < to => Step::Copy(old.clone()),
        (Layout::Unsigned(from), Layout::Unsigned(to)) if from < to => Step::Copy(old.clone()),
        (Layout::Unsigned(from), Layout::Signed(to)) if from < to => Step::Signed,
        (Layout::Float(from), Layout::Float(to)) if from < to => Step::Float,
        (Layout::Decimal { precision: p, scale: s }, Layout::Decimal { precision: q, scale: t })
            if s <= t && p.saturating_sub(*s) <= q.saturating_sub(*t) =>
        {
            match 10i128.checked_pow(u32::from(t - s)) {
                Some(factor) => Step::Scale(factor),
                None => return refuse(format!("was {old}, is {new}")),
            }
        }
        (Layout::Optional(old), Layout::Optional(new)) => Step::Optional(Box::new(step(old, new, path)?)),
        (old, Layout::Optional(new)) if !matches!(old, Layout::Optional(_)) => Step::Present(Box::new(step(old, new, path)?)),
        (old, Layout::Struct { label, fields }) if label == "expiring" && !is_expiring(old) => match fields.as_slice() {
            [(_, inner), _] => Step::Lasting(Box::new(step(old, inner, path)?)),
            _ => return refuse(format!("was {old}, is {new}")),
        },
        (Layout::Optional(_), _) => {
            return refuse(format!("may be null in the checkpoint ({old}), must not be null now ({new})"));
        }
        (Layout::List(old), Layout::List(new)) => Step::List(Box::new(step(old, new, path)?)),
        // Elements of sets and keys of maps: their bytes say where they are.
        (Layout::Map(old_key, old), Layout::Map(new_key, new)) => {
            let key = step(old_key, new_key, &at("key"))?;
            if !key.keeps_bytes() {
                return refuse(format!("the key was {old_key}, is {new_key}: its place depends on its type"));
            }
            Step::Map(Box::new(key), Box::new(step(old, new, path)?))
        }
        (Layout::Tuple(old), Layout::Tuple(new)) if old.len() == new.len() => {
            let item = |(index, (old, new)): (usize, (&Layout, &Layout))| step(old, new, &at(&index.to_string()));
            Step::Sequence(old.iter().zip(new).enumerate().map(item).collect::<Result<_, _>>()?)
        }
        (Layout::Struct { label: old_label, fields: old }, Layout::Struct { label, fields }) => {
            if old_label != label {
                return refuse(format!("was `{old_label}`, is `{label}`"));
            }
            let mut steps = Vec::new();
            for (name, new) in fields {
                let found = old.iter().position(|(old, _)| old == name);
                steps.push(match (found, new) {
                    (Some(index), new) => Ok((index, step(&old[index].1, new, &at(name))?)),
                    (None, Layout::Defaulted(_, bytes)) => Err(bytes.clone()),
                    (None, Layout::Optional(_) | Layout::List(_) | Layout::Set(_) | Layout::Map(..)) => Err(vec![0]),
                    (None, new) => {
                        // In a struct of an operator in Rust, where that can be written.
                        let mut parts =
                            path.split('.').skip_while(|part| matches!(*part, "entries" | "panes") || part.parse::<u8>().is_ok());
                        let hint = if parts.next() == Some("state") { ": `#[flow(default)]` on it would" } else { "" };
                        let reason = format!("is new ({new}), and nothing says what it is for what the checkpoint holds{hint}");
                        return Err(Mismatch { path: at(name), reason });
                    }
                });
            }
            Step::Fields(old.iter().map(|(_, layout)| layout.clone()).collect(), steps)
        }
        (Layout::Enum(old), Layout::Enum(new)) => {
            let mut steps = Vec::new();
            for (name, old) in old {
                steps.push(match new.iter().position(|(new, _)| new == name) {
                    Some(number) => Ok((number as u64, step(old, &new[number].1, &at(name))?)),
                    None => Err(name.clone()),
                });
            }
            Step::Variants(steps)
        }
        (old, new) => return refuse(format!("was {old}, is {new}")),
    })
}

/// Whether the value has a time at which it goes.
fn is_expiring(layout: &Layout) -> bool {
    matches!(layout, Layout::Struct { label, .. } if label == "expiring")
}

impl Step {
    /// Whether converted values have the bytes that they had.
    fn keeps_bytes(&self) -> bool {
        match self {
            Step::Copy(_) => true,
            Step::Optional(inner) | Step::List(inner) => inner.keeps_bytes(),
            Step::Sequence(items) => items.iter().all(Step::keeps_bytes),
            Step::Fields(old, new) => {
                let same = |(index, field): (usize, &Result<(usize, Step), Vec<u8>>)| {
                    field.as_ref().is_ok_and(|(from, step)| *from == index && step.keeps_bytes())
                };
                old.len() == new.len() && new.iter().enumerate().all(same)
            }
            // Numbers of variants that are left stay in front of those that are added behind them.
            Step::Variants(variants) => {
                let same = |(index, variant): (usize, &Result<(u64, Step), String>)| {
                    variant.as_ref().is_ok_and(|(to, step)| *to == index as u64 && step.keeps_bytes())
                };
                variants.iter().enumerate().all(same)
            }
            Step::Signed | Step::Float | Step::Scale(_) | Step::Present(_) | Step::Lasting(_) | Step::Map(..) => false,
        }
    }

    fn apply(&self, input: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), ConversionError> {
        match self {
            Step::Copy(layout) => out.extend_from_slice(input.skip(layout)?),
            Step::Signed => put_varint(input.varint()?.checked_mul(2).ok_or(ConversionError::Damaged)?, out),
            Step::Float => {
                let bytes = input.take(4)?.try_into().map_err(|_| ConversionError::Damaged)?;
                out.extend_from_slice(&f64::from(f32::from_le_bytes(bytes)).to_le_bytes());
            }
            Step::Scale(factor) => scale(*factor, input, out)?,
            Step::Present(inner) => {
                out.push(1);
                inner.apply(input, out)?;
            }
            Step::Lasting(inner) => {
                inner.apply(input, out)?;
                out.push(0);
            }
            Step::Optional(inner) => {
                let present = input.flag()?;
                out.push(u8::from(present));
                if present {
                    inner.apply(input, out)?;
                }
            }
            Step::List(inner) => {
                let count = input.varint()?;
                put_varint(count, out);
                (0..count).try_for_each(|_| inner.apply(input, out))?;
            }
            Step::Map(key, value) => {
                let count = input.varint()?;
                put_varint(count, out);
                for _ in 0..count {
                    key.apply(input, out)?;
                    value.apply(input, out)?;
                }
            }
            Step::Sequence(items) => items.iter().try_for_each(|item| item.apply(input, out))?,
            Step::Fields(old, new) => {
                let old = old.iter().map(|layout| input.skip(layout)).collect::<Result<Vec<_>, _>>()?;
                for field in new {
                    match field {
                        Ok((index, step)) => step.apply(&mut Cursor::new(old[*index]), out)?,
                        Err(absent) => out.extend_from_slice(absent),
                    }
                }
            }
            Step::Variants(variants) => {
                let number = usize::try_from(input.varint()?).map_err(|_| ConversionError::Damaged)?;
                match variants.get(number).ok_or(ConversionError::Damaged)? {
                    Ok((number, step)) => {
                        put_varint(*number, out);
                        step.apply(input, out)?;
                    }
                    Err(name) => return Err(ConversionError::Value(name.clone())),
                }
            }
        }
        Ok(())
    }
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn scale(factor: i128, input: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), ConversionError> {
    let value = if input.flag()? {
        i128::from_le_bytes(input.take(16)?.try_into().map_err(|_| ConversionError::Damaged)?)
    } else {
        i128::from(input.signed()?)
    };
    let value = value.checked_mul(factor).ok_or(ConversionError::Damaged)?;
    match i64::try_from(value) {
        Ok(small) => {
            out.push(0);
            put_varint(((small << 1) ^ (small >> 63)).cast_unsigned(), out);
        }
        Err(_) => {
            out.push(1);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
    Ok(())
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::codegen::State;
    use crate::state::{decode_from_slice, encode_to_vec};
    use crate::value::{Decimal, Str};

    fn between<A: State, B: State>() -> Result<Conversion, Mismatch> {
        Conversion::between(&Layout::parse(&A::schema()).unwrap(), &Layout::parse(&B::schema()).unwrap())
    }

    fn convert<A: State, B: State>(value: &A) -> B {
        let bytes = between::<A, B>().unwrap().apply(&encode_to_vec(value)).unwrap();
        decode_from_slice(&bytes).unwrap()
    }

    fn refused<A: State, B: State>() -> String {
        let mismatch = between::<A, B>().unwrap_err();
        format!("{}: {}", mismatch.path, mismatch.reason)
    }

    #[derive(Clone, Debug, PartialEq, State)]
    struct Old {
        gone: Str,
        delay: i32,
        note: Str,
    }

    #[derive(Clone, Debug, PartialEq, State)]
    struct New {
        note: Option<Str>,
        added: Option<i64>,
        tags: Vec<Str>,
        delay: i64,
    }

    #[test]
    fn what_stays_may_go_by_itself_from_now_on() {
        use crate::codegen::{ListState, MapState, ValueState};
        use crate::value::Timestamp;
        type Before = (Option<i32>, Vec<Str>, BTreeMap<i64, Old>);
        type After = (ValueState<i64>, ListState<Str>, MapState<i64, New>);
        let old = Old { gone: "x".into(), delay: -5, note: "n".into() };
        let before: Before = (Some(7), vec!["a".into(), "b".into()], BTreeMap::from([(1, old)]));
        let after: After = convert(&before);
        let end = Timestamp(i64::MAX - 1);
        assert_eq!(after.0.get(end), Some(&7));
        assert_eq!(after.1.iter(end).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(after.2.get(&1, end).map(|new| new.delay), Some(-5));
        // Back again, what has a time set would stay for ever.
        assert_eq!(refused::<ListState<i64>, Vec<i64>>(), ": was expiring { value: int64, until: timestamp? }, is int64");
    }

    #[test]
    fn fields_are_matched_by_name() {
        let old = Old { gone: "x".into(), delay: -5, note: "n".into() };
        let new = New { note: Some("n".into()), added: None, tags: vec![], delay: -5 };
        assert_eq!(convert::<Old, New>(&old), new);
        let old = BTreeMap::from([(3u8, vec![old])]);
        assert_eq!(convert::<_, BTreeMap<u8, Vec<New>>>(&old), BTreeMap::from([(3, vec![new])]));
    }

    #[test]
    fn numbers_become_wider() {
        assert_eq!(convert::<u32, i64>(&u32::MAX), i64::from(u32::MAX));
        assert_eq!(convert::<i8, Option<i16>>(&-128), Some(-128));
        assert_eq!(convert::<f32, f64>(&1.5), 1.5);
        assert_eq!(convert::<Decimal<5, 2>, Decimal<20, 4>>(&Decimal(-12345)), Decimal(-1_234_500));
        assert_eq!(convert::<Decimal<38, 0>, Decimal<38, 0>>(&Decimal(i128::MIN)), Decimal(i128::MIN));
        assert_eq!(convert::<BTreeMap<i32, u8>, BTreeMap<i64, u16>>(&BTreeMap::from([(-7, 255)])), BTreeMap::from([(-7, 255)]));
    }

    #[test]
    fn the_rest_is_refused_with_the_field() {
        assert_eq!(refused::<i64, i32>(), ": was int64, is int32");
        assert_eq!(refused::<Option<i64>, i64>(), ": may be null in the checkpoint (int64?), must not be null now (int64)");
        assert_eq!(
            refused::<Old, (Str, i32, Str)>(),
            ": was { gone: string, delay: int32, note: string }, is (string, int32, string)"
        );
        let reason = refused::<New, Old>();
        assert!(reason.starts_with("gone: is new (string), and nothing says what"), "{reason}");
        let reason = refused::<BTreeMap<Str, i64>, BTreeMap<Option<Str>, i64>>();
        assert!(reason.contains("the key was string, is string?"), "{reason}");
        assert_eq!(refused::<Decimal<5, 2>, Decimal<5, 3>>(), ": was decimal(5, 2), is decimal(5, 3)");
    }

    #[derive(Clone, Debug, PartialEq, State)]
    struct Defaulted {
        #[flow(default)]
        count: u64,
        note: Str,
        #[flow(default = "new")]
        kind: Str,
        #[flow(default = vec![0.5; 2], rename = "weights of all")]
        weights: Vec<f64>,
        #[flow(default = Some(3))]
        limit: Option<i32>,
        delay: i64,
    }

    #[test]
    fn new_fields_are_what_they_say() {
        let old = Old { gone: "x".into(), delay: -5, note: "n".into() };
        let new =
            || Defaulted { count: 0, note: "n".into(), kind: "new".into(), weights: vec![0.5; 2], limit: Some(3), delay: -5 };
        assert_eq!(convert::<Old, Defaulted>(&old), new());
        assert_eq!(
            convert::<_, BTreeMap<u8, Vec<Defaulted>>>(&BTreeMap::from([(3u8, vec![old])])),
            BTreeMap::from([(3, vec![new()])])
        );
        // What is stored is not of the default, also where something else changes; nor is it lost when the attribute goes.
        let kept = Defaulted { count: 7, limit: None, ..new() };
        assert_eq!(convert::<(Defaulted, i32), (Defaulted, i64)>(&(kept.clone(), 1)), (kept, 1));
        let plain = super::super::without_defaults(&Defaulted::schema()).into_owned();
        assert!(plain.contains("`weights of all`:list<float64>,limit:int32?") && !plain.contains('='), "{plain}");
    }

    #[derive(Clone, Debug, PartialEq, State)]
    enum Kind {
        A,
        B(i64),
    }

    #[derive(Clone, Debug, PartialEq, State)]
    enum More {
        B(Option<i64>),
        C,
        A,
    }

    #[test]
    fn variants_are_matched_by_name() {
        assert_eq!(convert::<Kind, More>(&Kind::B(7)), More::B(Some(7)));
        assert_eq!(convert::<Kind, More>(&Kind::A), More::A);
        let lost = between::<More, More>()
            .and(Conversion::between(&Layout::parse(&More::schema()).unwrap(), &Layout::parse("enum(A())").unwrap()));
        assert_eq!(lost.unwrap().apply(&encode_to_vec(&More::C)), Err(ConversionError::Value("C".into())));
    }

    #[test]
    fn damage_is_noticed_and_asks_for_no_memory() {
        let conversion = between::<Old, New>().unwrap();
        let bytes = encode_to_vec(&Old { gone: "x".into(), delay: 1, note: "n".into() });
        for cut in 0..bytes.len() {
            assert_eq!(conversion.apply(&bytes[..cut]), Err(ConversionError::Damaged), "cut at {cut}");
        }
        let conversion = between::<Vec<(i32, Str)>, Vec<(i64, Option<Str>)>>().unwrap();
        assert_eq!(conversion.apply(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), Err(ConversionError::Damaged));
    }
}
