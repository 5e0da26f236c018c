//! Key groups in pieces: what has changed since the checkpoint before, to be put together with that.
//!
//! In: entries of a checkpoint in the order of their files, among them pieces of key groups, of this checkpoint and of those that it
//! builds upon. Out: the key groups as a whole ([`whole`]), as if they had been written so. Whoever reads a checkpoint comes through here,
//! and no operator and no tool knows of pieces.
//!
//! A piece says for which checkpoint it was made, and since which one it knows everything that has changed. So a piece that is
//! missing is noticed, whatever the reason: a key group is whole or an error. A key group of which the checkpoint itself has
//! no piece was empty.
//!
//! The bytes: the checkpoint, the one before (0: the piece holds everything), how many entries the key group has, and its form: nothing, a
//! table, or tables with names. Then what stands before the tables, and the tables: name, whether it begins anew, and its entries,
//! each put (key and value, which the last such one of a key decides) or removed. A table that is not in a piece was empty. Numbers and
//! lengths have variable length; a length may take more bytes than it needs, the last of them zero.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::walk::{Cursor, Damaged};
use super::{Part, StateEntry};
use crate::bytes::{large_buffer, write_varint};

const NOTHING: u8 = 0;
const TABLE: u8 = 1;
const TABLES: u8 = 2;

const END: u8 = 0;
const PUT: u8 = 1;
const REMOVED: u8 = 2;

/// What a piece says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The checkpoint that it was made for.
    pub checkpoint: u64,
    /// It holds what has changed since this one; 0: it holds everything.
    pub since: u64,
    /// How many entries the key group has.
    pub live: u64,
}

impl Piece {
    /// What the bytes of a piece say of it. None: they are none.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        read_piece(&mut Cursor::new(bytes)).ok()
    }

    fn write(self, form: u8, out: &mut Vec<u8>) {
        write_varint(self.checkpoint, out);
        write_varint(self.since, out);
        write_varint(self.live, out);
        out.push(form);
    }

    /// A key group that has nothing any more.
    pub fn nothing(self, out: &mut Vec<u8>) {
        self.write(NOTHING, out);
    }

    /// A key group that is one table behind these bytes. What [`write_table`] writes follows, with no name, and [`end`].
    pub fn table(self, head: &[u8], out: &mut Vec<u8>) {
        self.write(TABLE, out);
        write_bytes(head, out);
    }

    /// A key group that is a list of tables, each behind its name, behind these bytes. What [`write_table`] writes follows, for each of
    /// them, and [`end`].
    pub fn tables(self, head: &[u8], out: &mut Vec<u8>) {
        self.write(TABLES, out);
        write_bytes(head, out);
    }
}

/// Begins a table. `anew`: nothing of it that was written before counts. Entries follow, and [`end`].
pub fn write_table(name: &[u8], anew: bool, out: &mut Vec<u8>) {
    out.push(PUT);
    write_bytes(name, out);
    out.push(u8::from(anew));
}

/// A key has this value.
pub fn put(key: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.push(PUT);
    write_bytes(key, out);
    write_bytes(value, out);
}

/// A key has no value any more.
pub fn removed(key: &[u8], out: &mut Vec<u8>) {
    out.push(REMOVED);
    write_bytes(key, out);
}

/// Writes what [`put`] and [`removed`] write, of keys and values that append themselves, with no buffer for them. Lengths stand in front
/// of what is not known to be that long yet, so room is left for one as long as the longest so far; a shorter one is filled up.
#[derive(Debug)]
pub struct InPlace {
    key: usize,
    value: usize,
}

impl Default for InPlace {
    fn default() -> Self {
        InPlace { key: 1, value: 1 }
    }
}

impl InPlace {
    /// As [`put`].
    #[inline]
    pub fn put(&mut self, key: impl FnOnce(&mut Vec<u8>), value: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
        out.push(PUT);
        write_encoded(&mut self.key, key, out);
        write_encoded(&mut self.value, value, out);
    }

    /// As [`removed`].
    pub fn removed(&mut self, key: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
        out.push(REMOVED);
        write_encoded(&mut self.key, key, out);
    }
}

/// Bytes behind their length, which takes so much room, or more from here on.
#[inline]
fn write_encoded(room: &mut usize, bytes: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(&[0; MOST]);
    out.truncate(at + *room);
    bytes(out);
    let len = out.len() - at - *room;
    if len >> (7 * *room) != 0 {
        make_room(at, room, len, out);
    }
    let mut rest = len;
    for byte in &mut out[at..at + *room - 1] {
        *byte = rest as u8 | 0x80;
        rest >>= 7;
    }
    out[at + *room - 1] = rest as u8;
}

/// So many bytes a length has at most: it is one in memory.
const MOST: usize = 9;

#[cold]
fn make_room(at: usize, room: &mut usize, len: usize, out: &mut Vec<u8>) {
    let before = *room;
    while len >> (7 * *room) != 0 {
        *room += 1;
    }
    out.resize(at + *room + len, 0);
    out.copy_within(at + before..at + before + len, at + *room);
}

/// The keys of entries that were written by [`put`] and [`removed`], and nothing else.
pub fn keys(entries: &[u8]) -> HashSet<&[u8]> {
    let mut cursor = Cursor::new(entries);
    let mut keys = HashSet::new();
    while let Ok(Some((key, _))) = next(&mut cursor) {
        keys.insert(key);
    }
    keys
}

/// Ends a table, or the tables.
pub fn end(out: &mut Vec<u8>) {
    out.push(END);
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// The entries of a checkpoint with key groups as a whole: what is no piece stays as it is, in front.
///
/// # Errors
/// What is missing or damaged, with the operator and the key group.
pub fn whole(checkpoint: u64, entries: Vec<StateEntry>) -> Result<Vec<StateEntry>, String> {
    let mut all = Vec::with_capacity(entries.len());
    let mut groups: BTreeMap<(String, String, u16), Vec<StateEntry>> = BTreeMap::new();
    for entry in entries {
        match entry.part {
            Part::Piece(group, _) => groups.entry((entry.uid.clone(), entry.state.clone(), group)).or_default().push(entry),
            _ => all.push(entry),
        }
    }
    for ((uid, state, group), mut pieces) in groups {
        let bytes: Vec<&[u8]> = pieces.iter().map(|entry| entry.part.bytes()).collect();
        let whole = put_together(checkpoint, &bytes).map_err(|reason| format!("key group {group} of {uid} {state}: {reason}"))?;
        if let (Some(bytes), Some(last)) = (whole, pieces.pop()) {
            all.push(StateEntry { part: Part::Group(group, bytes), ..last });
        }
    }
    Ok(all)
}

/// One key group from its pieces, in their order. None: it has nothing.
fn put_together(checkpoint: u64, pieces: &[&[u8]]) -> Result<Option<Vec<u8>>, String> {
    let headers = pieces.iter().map(|bytes| Piece::of(bytes).ok_or_else(damaged)).collect::<Result<Vec<_>, _>>()?;
    match counting(checkpoint, &headers)? {
        Some(from) => join_those(&pieces[from..]),
        None => Ok(None),
    }
}

fn damaged() -> String {
    "a piece of it is damaged".to_owned()
}

/// From which one on the pieces of a key group count for this checkpoint, by what they say of themselves. None: it has nothing.
///
/// # Errors
/// What is missing.
pub(crate) fn counting(checkpoint: u64, pieces: &[Piece]) -> Result<Option<usize>, String> {
    if pieces.last().is_none_or(|last| last.checkpoint != checkpoint) {
        return Ok(None);
    }
    let from = pieces.iter().rposition(|piece| piece.since == 0).ok_or("the piece that the others build upon is missing")?;
    for pair in pieces[from..].windows(2) {
        let (before, after) = (pair[0], pair[1]);
        if after.since != before.checkpoint {
            return Err(format!("what changed between the checkpoints {} and {} is missing", before.checkpoint, after.since));
        }
    }
    Ok(Some(from))
}

/// One key group from the pieces that count, in their order. None: it has nothing.
///
/// # Errors
/// A piece that is damaged.
pub(super) fn join_those(pieces: &[&[u8]]) -> Result<Option<Vec<u8>>, String> {
    let mut contents = Vec::with_capacity(pieces.len());
    for bytes in pieces {
        let mut cursor = Cursor::new(bytes);
        let content = read_piece(&mut cursor).and_then(|_| Content::read(cursor));
        contents.push(content.map_err(|Damaged| damaged())?);
    }
    let most = pieces.iter().map(|bytes| bytes.len()).sum();
    join(&contents, most).map_err(|Damaged| damaged())
}

fn read_piece(cursor: &mut Cursor<'_>) -> Result<Piece, Damaged> {
    Ok(Piece { checkpoint: cursor.varint()?, since: cursor.varint()?, live: cursor.varint()? })
}

/// What is in a piece.
struct Content<'a> {
    form: u8,
    head: &'a [u8],
    tables: Vec<Table<'a>>,
}

struct Table<'a> {
    name: &'a [u8],
    anew: bool,
    /// Up to its end and beyond.
    entries: Cursor<'a>,
}

impl<'a> Content<'a> {
    fn read(mut cursor: Cursor<'a>) -> Result<Self, Damaged> {
        let form = cursor.byte()?;
        let mut content = Content { form, head: &[], tables: Vec::new() };
        match form {
            NOTHING => {}
            TABLE | TABLES => {
                content.head = cursor.bytes()?;
                while cursor.flag()? {
                    let (name, anew) = (cursor.bytes()?, cursor.flag()?);
                    content.tables.push(Table { name, anew, entries: cursor });
                    while next(&mut cursor)?.is_some() {}
                }
                if form == TABLE && content.tables.len() != 1 {
                    return Err(Damaged);
                }
            }
            _ => return Err(Damaged),
        }
        if cursor.rest.is_empty() { Ok(content) } else { Err(Damaged) }
    }

    fn table(&self, name: &[u8]) -> Option<&Table<'a>> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// A key, and its value or that it has none.
type Change<'a> = (&'a [u8], Option<&'a [u8]>);

fn next<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Change<'a>>, Damaged> {
    Ok(match cursor.byte()? {
        END => None,
        PUT => Some((cursor.bytes()?, Some(cursor.bytes()?))),
        REMOVED => Some((cursor.bytes()?, None)),
        _ => return Err(Damaged),
    })
}

fn join(contents: &[Content<'_>], most: usize) -> Result<Option<Vec<u8>>, Damaged> {
    let Some(last) = contents.last().filter(|last| last.form != NOTHING) else { return Ok(None) };
    let mut out = large_buffer(most);
    out.extend_from_slice(last.head);
    if last.form == TABLES {
        write_varint(last.tables.len() as u64, &mut out);
    }
    for Table { name, .. } in &last.tables {
        if last.form == TABLES {
            out.extend_from_slice(name);
        }
        let mut entries = large_buffer(most);
        let mut count = 0_u64;
        join_table(layers(contents, name), |key, value| {
            count += 1;
            entries.extend_from_slice(key);
            entries.extend_from_slice(value);
        })?;
        // Their number, then each.
        write_varint(count, &mut out);
        out.extend_from_slice(&entries);
    }
    Ok(Some(out))
}

/// One piece that needs nothing before it, in the place of these of a key group: those that count, in their order.
///
/// # Errors
/// A piece that is damaged.
pub fn merge(pieces: &[&[u8]], out: &mut Vec<u8>) -> Result<Piece, String> {
    merge_those(pieces, out).map_err(|Damaged| damaged())
}

fn merge_those(pieces: &[&[u8]], out: &mut Vec<u8>) -> Result<Piece, Damaged> {
    let mut contents = Vec::with_capacity(pieces.len());
    let mut newest = None;
    for bytes in pieces {
        let mut cursor = Cursor::new(bytes);
        newest = Some(read_piece(&mut cursor)?);
        contents.push(Content::read(cursor)?);
    }
    let (Some(newest), Some(last)) = (newest, contents.last()) else { return Err(Damaged) };
    let piece = Piece { since: 0, ..newest };
    piece.write(last.form, out);
    if last.form == NOTHING {
        return Ok(piece);
    }
    write_bytes(last.head, out);
    for Table { name, .. } in &last.tables {
        write_table(name, true, out);
        join_table(layers(&contents, name), |key, value| put(key, value, out))?;
        end(out);
    }
    end(out);
    Ok(piece)
}

/// What a table is put together from.
#[derive(Default)]
struct Layers<'a> {
    /// Where it begins anew: each key once.
    first: Option<Cursor<'a>>,
    /// What has changed since then, or since it was empty.
    changes: VecDeque<Cursor<'a>>,
}

fn layers<'a>(contents: &[Content<'a>], name: &[u8]) -> Layers<'a> {
    let mut layers = Layers::default();
    for content in contents.iter().rev() {
        // In this piece it was empty.
        let Some(table) = content.table(name) else { break };
        if table.anew {
            layers.first = Some(table.entries);
            break;
        }
        layers.changes.push_front(table.entries);
    }
    layers
}

/// Each entry: those of the first layer in their order, the others in that in which they came.
fn join_table(layers: Layers<'_>, mut take: impl FnMut(&[u8], &[u8])) -> Result<(), Damaged> {
    let Layers { first, changes: layers } = layers;
    let mut changes: HashMap<&[u8], Option<&[u8]>> = HashMap::new();
    let mut order = Vec::new();
    for mut layer in layers {
        while let Some((key, value)) = next(&mut layer)? {
            if changes.insert(key, value).is_none() {
                order.push(key);
            }
        }
    }
    if let Some(mut first) = first {
        while let Some((key, value)) = next(&mut first)? {
            let value = if changes.is_empty() { value } else { changes.remove(key).unwrap_or(value) };
            if let Some(value) = value {
                take(key, value);
            }
        }
    }
    for key in order {
        if let Some(Some(value)) = changes.remove(key) {
            take(key, value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
