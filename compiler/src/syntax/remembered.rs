//! Items that were parsed before: where a text is parsed again and again, only those that have changed are parsed anew.
//!
//! An item is known by its own text, wherever it stands; its places are moved to where it stands now. Only items without a mistake are
//! kept, as messages may look around. Invariant: a tree is the same with and without.

use std::cell::RefCell;
use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::ast::Item;
use super::moved::Move;
use crate::source::FileId;

/// Items by their texts.
#[derive(Debug, Default)]
pub struct Remembered(RefCell<HashMap<u128, (u32, Item)>>);

/// No project has so many; texts that are long gone are forgotten.
const MOST: usize = 20_000;

impl Remembered {
    /// The item with this text, as if it were parsed at this place. Its doc comment is not part of the text.
    pub(super) fn find(&self, text: &str, file: FileId, start: usize) -> Option<Item> {
        let known = self.0.borrow();
        let (from, item) = known.get(&xxh3_128(text.as_bytes()))?;
        let mut item = item.clone();
        let by = start as i64 - i64::from(*from);
        if by != 0 || item.span.file != file {
            Move { file, by }.item(&mut item);
        }
        Some(item)
    }

    /// Keeps an item.
    pub(super) fn keep(&self, text: &str, start: usize, item: &Item) {
        let mut known = self.0.borrow_mut();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(xxh3_128(text.as_bytes()), (start as u32, item.clone()));
    }
}
