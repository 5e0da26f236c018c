//! Walking over stored bytes by their layout.

use super::layout::Layout;

/// Bytes that do not have the layout that they should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged;

/// The bytes that are left to walk over.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    /// Not yet walked over.
    pub rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// At the start of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, Damaged> {
        Ok(self.take(1)?[0])
    }

    /// Whether what follows is there.
    pub fn flag(&mut self) -> Result<bool, Damaged> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }

    /// A variable-length number.
    pub fn varint(&mut self) -> Result<u64, Damaged> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                return Err(Damaged);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    /// A variable-length number with a sign.
    pub fn signed(&mut self) -> Result<i64, Damaged> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A length and so many bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8], Damaged> {
        let length = usize::try_from(self.varint()?).map_err(|_| Damaged)?;
        self.take(length)
    }

    /// Walks over a value and gives its bytes.
    pub fn skip(&mut self, layout: &Layout) -> Result<&'a [u8], Damaged> {
        let before = self.rest;
        self.step_over(layout)?;
        Ok(&before[..before.len() - self.rest.len()])
    }

    fn step_over(&mut self, layout: &Layout) -> Result<(), Damaged> {
        match layout {
            Layout::Bool | Layout::ChangeKind => drop(self.byte()?),
            Layout::Signed(_) | Layout::Unsigned(_) | Layout::Date | Layout::Time(_) => drop(self.varint()?),
            Layout::Float(bits) => drop(self.take(*bits as usize / 8)?),
            Layout::Int128 | Layout::Uint128 | Layout::Uuid => drop(self.take(16)?),
            Layout::Decimal { .. } => {
                if self.flag()? {
                    self.take(16)?;
                } else {
                    self.varint()?;
                }
            }
            Layout::String | Layout::Json => drop(self.bytes()?),
            Layout::Defaulted(inner, _) => self.step_over(inner)?,
            Layout::Optional(inner) => {
                if self.flag()? {
                    self.step_over(inner)?;
                }
            }
            Layout::List(inner) | Layout::Set(inner) => {
                for _ in 0..self.count(inner)? {
                    self.step_over(inner)?;
                }
            }
            Layout::Map(key, value) => {
                for _ in 0..self.count(key)? {
                    self.step_over(key)?;
                    self.step_over(value)?;
                }
            }
            Layout::Tuple(items) => items.iter().try_for_each(|item| self.step_over(item))?,
            Layout::Struct { fields, .. } => fields.iter().try_for_each(|(_, field)| self.step_over(field))?,
            Layout::Enum(variants) => {
                let number = usize::try_from(self.varint()?).map_err(|_| Damaged)?;
                self.step_over(&variants.get(number).ok_or(Damaged)?.1)?;
            }
        }
        Ok(())
    }

    /// The number of elements. Elements without bytes make any number possible, all others no more than there are bytes.
    pub fn count(&mut self, element: &Layout) -> Result<u64, Damaged> {
        let count = self.varint()?;
        if count > self.rest.len() as u64 && !matches!(element, Layout::Tuple(items) if items.is_empty()) {
            return Err(Damaged);
        }
        Ok(count)
    }
}
