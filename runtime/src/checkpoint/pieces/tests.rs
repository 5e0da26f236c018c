//! Pieces put together are what was there.

use super::*;

fn entry(group: u16, bytes: Vec<u8>) -> StateEntry {
    let schema = "keyed{watermark:int64,entries:map<string,string>}".to_owned();
    StateEntry { uid: "counts".into(), state: "state".into(), schema, subtask: 0, part: Part::Piece(group, bytes) }
}

/// `anew`, then changes, of one table with a head of one byte.
fn piece(checkpoint: u64, since: u64, head: u8, anew: bool, changes: &[(&str, Option<&str>)]) -> Vec<u8> {
    let mut out = Vec::new();
    Piece { checkpoint, since, live: 0 }.table(&[head], &mut out);
    write_table(&[], anew, &mut out);
    table(changes, &mut out);
    end(&mut out);
    out
}

fn table(changes: &[(&str, Option<&str>)], out: &mut Vec<u8>) {
    for (key, value) in changes {
        match value {
            Some(value) => put(key.as_bytes(), value.as_bytes(), out),
            None => removed(key.as_bytes(), out),
        }
    }
    end(out);
}

fn group(checkpoint: u64, pieces: &[Vec<u8>]) -> Result<Option<Vec<u8>>, String> {
    let entries = pieces.iter().map(|bytes| entry(7, bytes.clone())).collect();
    Ok(whole(checkpoint, entries)?.pop().map(|entry| match entry.part {
        Part::Group(7, bytes) => bytes,
        other => panic!("{other:?}"),
    }))
}

#[test]
fn what_has_changed_is_put_over_what_was_there() {
    let base = piece(3, 0, 1, true, &[("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]);
    let more = piece(4, 3, 2, false, &[("b", None), ("d", Some("4")), ("c", Some("5"))]);
    let last = piece(5, 4, 3, false, &[("d", None), ("d", Some("6")), ("e", None), ("b", Some("7"))]);
    let all = [base.clone(), more.clone(), last];
    assert_eq!(group(3, &all[..1]).unwrap().unwrap(), b"\x01\x03a1b2c3");
    assert_eq!(group(4, &all[..2]).unwrap().unwrap(), b"\x02\x03a1c5d4");
    assert_eq!(group(5, &all).unwrap().unwrap(), b"\x03\x04a1b7c5d6");
    // Everything again: nothing before it counts, whole or not.
    let anew = piece(6, 0, 4, true, &[("z", Some("9"))]);
    assert_eq!(group(6, &[more, anew]).unwrap().unwrap(), b"\x04\x01z9");
}

#[test]
fn a_table_begins_anew_where_it_says_so_or_was_empty() {
    let base = piece(3, 0, 1, true, &[("a", Some("1"))]);
    let drained = piece(4, 3, 2, true, &[("b", Some("2"))]);
    assert_eq!(group(4, &[base.clone(), drained]).unwrap().unwrap(), b"\x02\x01b2");
    let mut nothing = Vec::new();
    Piece { checkpoint: 4, since: 3, live: 0 }.nothing(&mut nothing);
    assert_eq!(group(4, &[base.clone(), nothing.clone()]).unwrap(), None);
    let after = piece(5, 4, 3, false, &[("c", Some("3"))]);
    assert_eq!(group(5, &[base, nothing, after]).unwrap().unwrap(), b"\x03\x01c3");

    let tables = |checkpoint, since, tables: &[(&str, bool, &[(&str, Option<&str>)])]| {
        let mut out = Vec::new();
        Piece { checkpoint, since, live: 0 }.tables(b"h", &mut out);
        for (name, anew, changes) in tables {
            write_table(name.as_bytes(), *anew, &mut out);
            table(changes, &mut out);
        }
        end(&mut out);
        out
    };
    let one = tables(1, 0, &[("p", true, &[("a", Some("1"))]), ("q", true, &[("a", Some("2"))])]);
    let two = tables(2, 1, &[("q", false, &[("b", Some("3"))])]);
    let three = tables(3, 2, &[("p", false, &[("c", Some("4"))]), ("q", false, &[])]);
    assert_eq!(group(2, &[one.clone(), two.clone()]).unwrap().unwrap(), b"h\x01q\x02a2b3");
    assert_eq!(group(3, &[one, two, three]).unwrap().unwrap(), b"h\x02p\x01c4q\x02a2b3");
}

/// A key that was gone and came again since the table was empty.
#[test]
fn the_last_word_about_a_key_counts_also_in_the_first_piece() {
    let mut nothing = Vec::new();
    Piece { checkpoint: 3, since: 0, live: 0 }.nothing(&mut nothing);
    let came = piece(4, 3, 1, false, &[("a", None), ("a", Some("1"))]);
    assert_eq!(group(4, &[nothing.clone(), came.clone()]).unwrap().unwrap(), b"\x01\x01a1");
    let goes = piece(5, 4, 2, false, &[("a", None)]);
    assert_eq!(group(5, &[nothing, came, goes]).unwrap().unwrap(), b"\x02\x00");
}

#[test]
fn pieces_that_are_merged_are_what_they_were_together() {
    let all = [
        piece(3, 0, 1, true, &[("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]),
        piece(4, 3, 2, false, &[("b", None), ("d", Some("4")), ("c", Some("5"))]),
        piece(5, 4, 3, false, &[("d", None), ("d", Some("6")), ("e", None), ("b", Some("7"))]),
    ];
    for upto in 1..=3 {
        let those: Vec<&[u8]> = all[..upto].iter().map(Vec::as_slice).collect();
        let mut merged = Vec::new();
        let said = merge(&those, &mut merged).unwrap();
        let checkpoint = 2 + upto as u64;
        assert_eq!((said, Piece::of(&merged)), (Piece { checkpoint, since: 0, live: 0 }, Some(said)));
        // The order may differ.
        let sorted = |bytes: Result<Option<Vec<u8>>, String>| {
            let bytes = bytes.unwrap().unwrap();
            let mut entries: Vec<_> = bytes[2..].chunks(2).map(<[u8]>::to_vec).collect();
            entries.sort();
            (bytes[..2].to_vec(), entries)
        };
        let joined = sorted(group(5, &[&[merged.clone()], &all[upto..]].concat()));
        assert_eq!(joined, sorted(group(5, &all)), "up to {checkpoint}");
        assert_eq!(sorted(group(checkpoint, &[merged])), sorted(group(checkpoint, &all[..upto])));
    }
    let mut nothing = Vec::new();
    Piece { checkpoint: 4, since: 3, live: 0 }.nothing(&mut nothing);
    let mut merged = Vec::new();
    merge(&[&all[0], &nothing], &mut merged).unwrap();
    let after = piece(5, 4, 3, false, &[("c", Some("3"))]);
    assert_eq!(group(5, &[merged, after]).unwrap().unwrap(), b"\x03\x01c3");
    assert!(merge(&[&all[0], &all[1][..5]], &mut Vec::new()).is_err());
    assert!(merge(&[], &mut Vec::new()).is_err());
}

#[test]
fn what_is_encoded_in_place_is_the_same() {
    let bytes = |len: usize, by: usize| (0..len).map(|at| (at * by) as u8).collect::<Vec<_>>();
    let sizes = [(0, 0), (1, 127), (127, 128), (128, 16_383), (300, 16_384), (70_000, 5), (2, 0)];
    let (mut all, mut expected, mut in_place) = (b"before".to_vec(), Vec::new(), InPlace::default());
    for (key, value) in sizes.map(|(key, value)| (bytes(key, 1), bytes(value, 3))) {
        let (mut alone, mut found) = (b"before".to_vec(), b"before".to_vec());
        put(&key, &value, &mut alone);
        let mut fresh = InPlace::default();
        fresh.put(|out| out.extend(&key), |out| out.extend(&value), &mut found);
        assert_eq!(found, alone);
        // Behind longer ones, lengths take as much room as theirs.
        in_place.put(|out| out.extend(&key), |out| out.extend(&value), &mut all);
        in_place.removed(|out| out.extend(&key), &mut all);
        expected.extend([(key.clone(), Some(value)), (key, None)]);
    }
    end(&mut all);
    let mut cursor = Cursor::new(&all[b"before".len()..]);
    for (key, value) in &expected {
        assert!(next(&mut cursor).unwrap() == Some((key, value.as_deref())));
    }
    assert_eq!(next(&mut cursor).unwrap(), None);
    assert!(cursor.rest.is_empty());
}

#[test]
fn what_is_missing_or_damaged_is_an_error_and_what_the_checkpoint_has_not_is_empty() {
    let base = piece(3, 0, 1, true, &[("a", Some("1"))]);
    let more = piece(4, 3, 2, false, &[("b", Some("2"))]);
    let last = piece(5, 4, 3, false, &[("c", Some("3"))]);
    let said = |pieces: &[&Vec<u8>]| group(5, &pieces.iter().map(|&piece| piece.clone()).collect::<Vec<_>>()).unwrap_err();
    assert_eq!(said(&[&base, &last]), "key group 7 of counts state: what changed between the checkpoints 3 and 4 is missing");
    assert!(said(&[&more, &last]).contains("build upon is missing"));
    assert_eq!(group(5, &[base.clone(), more]).unwrap(), None);
    for len in 0..base.len() {
        assert!(group(3, &[base[..len].to_vec()]).is_err(), "cut at {len}");
    }
}
