//! Keyed tables by time (a pane, or a window): how they go into checkpoints and come back.
//!
//! As with [`KeyedState`](crate::state::KeyedState), each key group's part begins with the watermark of the operator.

use std::collections::BTreeMap;

use crate::checkpoint::{Piece, pieces};
use crate::error::{JobError, JobResult};
use crate::operator::{Form, KeyGroupPart, OperatorSnapshot, RestoredOperator};
use crate::record::Key;
use crate::state::{KeyHasher, KeyedTables, Place, State, StateReader, decode_entries, encode_to_vec, read};
use crate::time::Progress;

/// Hands the tables to a checkpoint.
pub(super) fn snapshot<P, K, V>(
    (name, schema): (&str, String),
    hasher: &KeyHasher,
    progress: &Progress,
    tables: &mut BTreeMap<P, KeyedTables<K, V>>,
    snapshot: &mut OperatorSnapshot,
) -> JobResult<()>
where
    P: Copy + State + Send + Sync + 'static,
    K: Key,
    V: Clone + State + Send + Sync + 'static,
{
    let range = hasher.range();
    let mut parts = Vec::new();
    if let Form::Pieces { checkpoint, since } = snapshot.form() {
        for table in 0..range.len() as u32 {
            let watermark = progress.of_table(table);
            let (mut changed, mut live, mut weight, mut is_whole) = (Vec::new(), 0, 0, true);
            for (time, tables) in &mut *tables {
                let changes = tables.share_changes(table, since == 0)?;
                live += changes.live();
                weight += changes.weight();
                // One that is not there is empty.
                if changes.live() > 0 {
                    is_whole &= changes.is_whole();
                    changed.push((*time, changes));
                }
            }
            let since = if is_whole { 0 } else { since };
            let piece = Piece { checkpoint, since, live };
            let is_nothing = live == 0 && watermark == i64::MIN;
            parts.push(KeyGroupPart::piece((range.start + table) as u16, piece, weight, move |out| {
                if is_nothing {
                    piece.nothing(out);
                    return Ok(());
                }
                piece.tables(&encode_to_vec(&watermark), out);
                changed.iter().try_for_each(|(time, changes)| changes.encode(&encode_to_vec(time), out))?;
                pieces::end(out);
                Ok(())
            }));
        }
        snapshot.in_pieces(name, schema, parts);
        return Ok(());
    }
    for table in 0..range.len() as u32 {
        let watermark = progress.of_table(table);
        let mut shared = Vec::new();
        for (time, tables) in &mut *tables {
            shared.extend(tables.share(table)?.map(|entries| (*time, entries)));
        }
        if watermark != i64::MIN || !shared.is_empty() {
            parts.push(KeyGroupPart::new((range.start + table) as u16, move |out| {
                watermark.encode(out);
                (shared.len() as u64).encode(out);
                for (time, entries) in &shared {
                    time.encode(out);
                    entries.encode(out)?;
                }
                Ok(())
            }));
        }
    }
    snapshot.keyed(name, schema, parts);
    Ok(())
}

/// Takes the tables of a checkpoint.
pub(super) fn restore<P, K, V>(
    (name, schema): (&str, String),
    hasher: &mut KeyHasher,
    progress: &mut Progress,
    tables: &mut BTreeMap<P, KeyedTables<K, V>>,
    state: &RestoredOperator,
) -> Result<(), JobError>
where
    P: Ord + State,
    K: Key,
    V: Clone + State,
{
    let range = hasher.range();
    let mut watermarks = vec![i64::MIN; range.len()];
    for part in state.keyed(name, &schema)? {
        let (group, bytes) = part?;
        let mut input = StateReader::new(&bytes);
        let watermark = read::<i64>(&mut input)?;
        if range.contains(group) {
            watermarks[(u32::from(group) - range.start) as usize] = watermark;
        }
        for _ in 0..read::<u64>(&mut input)? {
            let time = read::<P>(&mut input)?;
            let tables = tables.entry(time).or_insert_with(|| KeyedTables::new(hasher));
            decode_entries(&mut input, |key: K, value: V| {
                if let Place::Vacant(place) = tables.place(hasher.slot(&key)?, &key)? {
                    place.insert(key, value);
                }
                Ok(())
            })?;
        }
    }
    for group in state.in_pieces(name, &schema).filter(|&group| range.contains(group)) {
        tables.values_mut().try_for_each(|tables| tables.restored(u32::from(group) - range.start))?;
    }
    *progress = Progress::restored(watermarks);
    Ok(())
}
