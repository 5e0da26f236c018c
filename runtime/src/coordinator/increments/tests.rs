//! What checkpoints build upon, whatever happens to those before them.

use super::*;
use crate::checkpoint::{Piece, PiecesAt};
use crate::coordinator::contents::LazyPart;
use crate::operator::{Form, KeyGroupPart};

fn part(group: u16, checkpoint: u64, since: u64, weight: usize) -> LazyPiece {
    let piece = Piece { checkpoint, since, live: 10 };
    let part = LazyPart::new(KeyGroupPart::new(group, |_| Ok(())).part);
    LazyPiece { uid: "u".into(), state: "s".into(), schema: "".into(), subtask: 0, group, piece, weight, part }
}

/// A file of a checkpoint, of this size, with these pieces.
fn file(of: u64, size: u64, pieces: &[LazyPiece]) -> Arc<PieceFile> {
    let mut at = PiecesAt::default();
    for LazyPiece { uid, state, group, piece, weight, .. } in pieces {
        at.note([uid, state, ""], 0, *group, *piece, 0..*weight, &vec![0; *weight]);
    }
    let file = DataFile { name: "0000.state".into(), size, xxh3: 1, of: Some(of) };
    Arc::new(PieceFile { file, pieces: at.0 })
}

fn of(files: &[DataFile]) -> Vec<u64> {
    files.iter().filter_map(|file| file.of).collect()
}

fn checkpoints(pieces: &[LazyPiece]) -> Vec<u64> {
    pieces.iter().map(|piece| piece.piece.checkpoint).collect()
}

/// After one that is stored.
fn begun() -> Increments {
    let mut increments = Increments::default();
    increments.begin(1, false);
    let mut pieces = vec![part(0, 1, 0, 100), part(1, 1, 0, 100)];
    let (files, draft) = increments.join(1, &mut pieces).unwrap();
    assert_eq!(files, []);
    increments.stored(draft, vec![file(1, 1, &pieces)], 1);
    increments
}

fn next(increments: &mut Increments, id: u64, alone: bool) -> bool {
    increments.begin(id, alone);
    increments.asked().form(id, 7) == (Form::Pieces { checkpoint: id, since: 0 })
}

#[test]
fn what_was_given_up_comes_with_the_next_in_order() {
    let mut increments = begun();
    assert!(!next(&mut increments, 2, false));
    increments.given_up(2);
    increments.keep(vec![part(0, 2, 1, 1)]);
    assert!(!next(&mut increments, 3, false));
    // Late, but before its next.
    increments.keep(vec![part(1, 2, 1, 1)]);
    let mut entries = vec![part(0, 3, 2, 1), part(1, 3, 2, 1)];
    let (files, draft) = increments.join(3, &mut entries).unwrap();
    assert_eq!((of(&files), checkpoints(&entries)), (vec![1], vec![2, 2, 3, 3]));
    // It cannot be stored, and the one behind it can.
    increments.not_stored(draft, false);
    increments.given_up(3);
    assert!(!next(&mut increments, 4, false));
    let mut entries = vec![part(0, 4, 3, 1), part(1, 4, 3, 1)];
    let (files, draft) = increments.join(4, &mut entries).unwrap();
    assert_eq!((of(&files), checkpoints(&entries)), (vec![1], vec![2, 2, 3, 3, 4, 4]));
    increments.stored(draft, vec![file(4, 1, &entries)], 1);
    assert!(!next(&mut increments, 5, false));
    let mut entries = vec![part(0, 5, 4, 1), part(1, 5, 4, 1)];
    let (files, _) = increments.join(5, &mut entries).unwrap();
    assert_eq!((of(&files), checkpoints(&entries)), (vec![1, 4], vec![5, 5]));
}

/// Barriers of the next go out before the one before is stored.
#[test]
fn several_are_on_their_way_and_each_builds_upon_the_one_before() {
    let mut increments = begun();
    assert!(!next(&mut increments, 2, false));
    assert!(!next(&mut increments, 3, false));
    let (_, draft) = increments.join(2, &mut vec![part(0, 2, 1, 1), part(1, 2, 1, 1)]).unwrap();
    assert!(!next(&mut increments, 4, false));
    increments.stored(draft, vec![file(2, 1, &[part(0, 2, 1, 1), part(1, 2, 1, 1)])], 1);
    let mut entries = vec![part(0, 3, 2, 1), part(1, 3, 2, 1)];
    let (files, draft) = increments.join(3, &mut entries).unwrap();
    assert_eq!((of(&files), checkpoints(&entries)), (vec![1, 2], vec![3, 3]));
    // It cannot be stored: what it has goes into the next, which was begun long before.
    increments.not_stored(draft, false);
    increments.given_up(3);
    let mut entries = vec![part(0, 4, 3, 1), part(1, 4, 3, 1)];
    let (files, draft) = increments.join(4, &mut entries).unwrap();
    assert_eq!((of(&files), checkpoints(&entries)), (vec![1, 2], vec![3, 3, 4, 4]));
    increments.stored(draft, vec![file(4, 1, &entries)], 1);
    assert!(increments.begun.is_empty());
}

#[test]
fn what_builds_upon_one_that_begins_anew_fails_with_it() {
    let mut increments = Increments::default();
    assert!(next(&mut increments, 1, false));
    assert!(next(&mut increments, 2, false), "none is stored yet");
    let mut pieces = vec![part(0, 1, 0, 100)];
    let (_, draft) = increments.join(1, &mut pieces).unwrap();
    increments.stored(draft, vec![file(1, 1, &pieces)], 1);
    assert!(!next(&mut increments, 3, false));
    let form = |id| increments.asked().form(id, 7);
    assert_eq!(form(2), Form::Pieces { checkpoint: 2, since: 0 }, "a task that comes late still hands over everything");
    assert_eq!(form(3), Form::Pieces { checkpoint: 3, since: 7 });
    let (_, draft) = increments.join(2, &mut vec![part(0, 2, 0, 100)]).unwrap();
    increments.not_stored(draft, false);
    increments.given_up(2);
    assert!(increments.join(3, &mut vec![part(0, 3, 2, 1)]).is_err());
    increments.given_up(3);
    assert!(next(&mut increments, 4, false));
}

/// A checkpoint that comes as a whole is nothing to build upon, though it is not stored yet.
#[test]
fn behind_one_that_comes_as_a_whole_the_next_begins_anew() {
    let mut increments = Increments::new(StateConfig::Memory);
    increments.begin(1, false);
    // It is larger now than what comes as a whole, which is known before the first one is stored.
    increments.size = u64::MAX;
    assert!(next(&mut increments, 2, false));
}

#[test]
fn what_is_lost_makes_the_next_begin_anew() {
    // A task could not encode its part, and the next checkpoint has begun.
    let mut increments = begun();
    next(&mut increments, 2, false);
    increments.given_up(2);
    assert!(!next(&mut increments, 3, false));
    increments.lose();
    assert!(increments.join(3, &mut vec![part(0, 3, 2, 1), part(1, 3, 2, 1)]).is_err());
    increments.given_up(3);
    assert!(next(&mut increments, 4, false));
    // That is given up, too: it is tried until one is stored.
    increments.given_up(4);
    increments.keep(vec![part(0, 4, 0, 1), part(1, 4, 0, 1)]);
    assert!(next(&mut increments, 5, false));
    let mut entries = vec![part(0, 5, 0, 1), part(1, 5, 0, 1)];
    let (files, draft) = increments.join(5, &mut entries).unwrap();
    assert_eq!((files, checkpoints(&entries)), (vec![], vec![5, 5]));
    increments.stored(draft, vec![file(5, 1, &entries)], 1);
    assert!(!next(&mut increments, 6, false));
    // A part that never came, whatever else was said: the pieces tell.
    assert!(increments.join(6, &mut vec![part(0, 6, 5, 1), part(1, 6, 4, 1)]).is_err());
    increments.given_up(6);
    assert!(next(&mut increments, 7, false));
}

#[test]
fn a_savepoint_begins_anew_and_so_does_what_has_grown_long() {
    let mut increments = begun();
    assert!(next(&mut increments, 2, true));
    let mut pieces = vec![part(0, 2, 0, 100), part(1, 2, 0, 100)];
    let (_, draft) = increments.join(2, &mut pieces).unwrap();
    increments.stored(draft, vec![file(2, 200, &pieces)], 200);
    let mut id = 2;
    while !next(&mut increments, id + 1, false) {
        id += 1;
        let mut entries = vec![part(0, id, id - 1, 100_000), part(1, id, id - 1, 1)];
        let (files, draft) = increments.join(id, &mut entries).unwrap();
        assert_eq!(files.len() as u64, id - 2);
        increments.stored(draft, vec![file(id, 100_000, &entries)], 100_000);
    }
    assert_eq!(id, 2 + 11, "a megabyte more than is there");
}

/// As `begun`, behind a restore of that checkpoint.
fn restored(pieces: &[LazyPiece]) -> Increments {
    Increments::default().upon(1, &[file(1, 1, pieces)])
}

#[test]
fn an_attempt_goes_on_from_what_it_has_restored() {
    let mut increments = restored(&[part(0, 1, 0, 100), part(1, 1, 0, 100)]);
    assert!(!next(&mut increments, 5, false));
    // One state does not know what has changed: it needs nothing before it.
    let mut entries = vec![part(0, 5, 1, 1), part(1, 5, 0, 100)];
    let (files, draft) = increments.join(5, &mut entries).unwrap();
    assert_eq!((of(&files), checkpoints(&entries)), (vec![1], vec![5, 5]));
    increments.stored(draft, vec![file(5, 1, &entries)], 1);
    // And then the other: nobody needs the first file any more.
    assert!(!next(&mut increments, 6, false));
    let mut entries = vec![part(0, 6, 0, 100), part(1, 6, 5, 1)];
    let (files, draft) = increments.join(6, &mut entries).unwrap();
    assert_eq!(of(&files), [1, 5]);
    increments.stored(draft, vec![file(6, 1, &entries)], 1);
    assert!(!next(&mut increments, 7, false));
    let (files, _) = increments.join(7, &mut vec![part(0, 7, 6, 1), part(1, 7, 6, 1)]).unwrap();
    assert_eq!(of(&files), [5, 6]);
}

#[test]
fn what_was_restored_and_is_not_what_tasks_build_upon_is_noticed() {
    let mut increments = restored(&[part(0, 1, 0, 100)]);
    assert!(!next(&mut increments, 5, false));
    assert!(increments.join(5, &mut vec![part(0, 5, 2, 1)]).is_err(), "another checkpoint");
    let mut increments = restored(&[part(0, 1, 0, 100)]);
    assert!(!next(&mut increments, 5, false));
    assert!(increments.join(5, &mut vec![part(0, 5, 1, 1), part(1, 5, 1, 1)]).is_err(), "it was not there");
    increments.given_up(5);
    assert!(next(&mut increments, 6, false));
    // One without pieces is nothing to build upon.
    assert!(next(&mut Increments::default().upon(1, &[]), 5, false));
}

#[test]
fn a_region_goes_back_to_what_is_stored_and_the_others_go_on() {
    let of_region = |group, checkpoint, since| LazyPiece { uid: "r".into(), ..part(group, checkpoint, since, 1) };
    let mut increments = restored(&[part(0, 1, 0, 100), of_region(0, 1, 0)]);
    assert!(!next(&mut increments, 2, false));
    increments.keep(vec![part(0, 2, 1, 1), of_region(0, 2, 1)]);
    increments.given_up(2);
    increments.goes_back(Some(1), |uid| uid == "r");
    assert!(!next(&mut increments, 3, false));
    let mut entries = vec![part(0, 3, 2, 1), of_region(0, 3, 1)];
    let (files, draft) = increments.join(3, &mut entries).unwrap();
    assert_eq!((of(&files), checkpoints(&entries)), (vec![1], vec![2, 3, 3]));
    increments.stored(draft, vec![file(3, 1, &entries)], 1);
    assert_eq!(increments.of_others(|uid| uid == "r"), [].into(), "they are together in each file");
    let alone = Increments::default().upon(1, &[file(1, 1, &[part(0, 1, 0, 1)]), file(2, 1, &[of_region(0, 1, 0)])]);
    assert_eq!(alone.of_others(|uid| uid == "r"), ["checkpoint-000001/0000.state".to_owned()].into());
    // What it goes back to is not what the others build upon.
    increments.goes_back(Some(1), |uid| uid == "r");
    assert!(next(&mut increments, 4, false));
}

#[test]
fn what_cannot_be_encoded_is_not_carried() {
    let mut increments = begun();
    assert!(!next(&mut increments, 2, false));
    let (_, draft) = increments.join(2, &mut vec![part(0, 2, 1, 1), part(1, 2, 1, 1)]).unwrap();
    increments.not_stored(draft, true);
    increments.given_up(2);
    assert!(increments.carried.is_empty());
    assert!(next(&mut increments, 3, false));
}

#[test]
fn what_is_too_much_to_be_carried_leaves_memory_as_it_is_written() {
    for (weight, kept) in [(CARRIED as usize / 2, 2), (CARRIED as usize / 2 + 1, 0)] {
        let mut increments = begun();
        assert!(!next(&mut increments, 2, false));
        let mut pieces = vec![part(0, 2, 1, weight), part(1, 2, 1, weight)];
        let (_, draft) = increments.join(2, &mut pieces).unwrap();
        assert_eq!((pieces.len(), draft.pieces.len()), (2, kept));
        increments.not_stored(draft, false);
        increments.given_up(2);
        assert_eq!(next(&mut increments, 3, false), kept == 0, "or it would be missing");
    }
}

#[test]
fn too_much_to_be_carried_is_dropped() {
    let mut increments = begun();
    next(&mut increments, 2, false);
    increments.given_up(2);
    for _ in 0..3 {
        increments.keep(vec![part(0, 2, 1, 40 << 20)]);
    }
    assert!(increments.carried.is_empty());
    assert!(next(&mut increments, 3, false));
}
