//! Reading: any cut into ranges, any place of resumption, and every kind of compression gives the records of the whole file.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::fetch::FileFetcher;
use super::open::Codec;
use super::records::line_at;
use super::split::FileSplit;
use crate::formats::Framing;
use crate::source::fetch::{Fetched, SplitFetcher};

const CSV: Framing = Framing::Quoted { quote: b'"', delimiter: b',' };

/// The records of a split, each with the position behind it, and what is broken at the end.
fn read(split: &FileSplit, framing: Framing, has_header: bool, size: usize) -> (Vec<(String, u64)>, Option<String>) {
    let mut fetcher = FileFetcher::with_read_size(framing, has_header, size);
    fetcher.add(split.clone()).unwrap();
    let (mut records, mut broken) = (Vec::new(), None);
    while let Fetched::Chunk(_, mut chunk) = fetcher.fetch().unwrap() {
        for (start, len) in chunk.records.clone() {
            let text = String::from_utf8_lossy(&chunk.bytes[start as usize..][..len as usize]).into_owned();
            chunk.next += 1;
            records.push((text, chunk.position()));
        }
        broken = broken.or(chunk.broken);
    }
    (records, broken)
}

fn texts(split: &FileSplit, framing: Framing, size: usize) -> Vec<String> {
    read(split, framing, false, size).0.into_iter().map(|(text, _)| text).collect()
}

fn whole(path: &Path) -> FileSplit {
    FileSplit::whole(path.to_str().unwrap().to_owned(), Codec::detect(path).unwrap())
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

fn file(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> FileSplit {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    whole(&path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Cut a file anywhere: each record is read in exactly one range.
    #[test]
    fn ranges_together_give_the_whole_file(
        lines in prop::collection::vec("[a-c]{0,6}\r?", 0..12),
        last_break in any::<bool>(),
        mut cuts in prop::collection::vec(0_u64..60, 0..4),
        size in 1_usize..20,
    ) {
        let mut text = lines.join("\n");
        if last_break {
            text.push('\n');
        }
        let folder = tempfile::tempdir().unwrap();
        let split = file(&folder, "a.txt", text.as_bytes());
        let expected = texts(&split, Framing::Lines, 1000);
        cuts.retain(|&cut| cut > 0 && cut < text.len() as u64);
        cuts.sort_unstable();
        cuts.dedup();
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().map(|&cut| Some(cut)).chain([None]);
        let mut found = Vec::new();
        for (start, end) in starts.zip(ends) {
            found.extend(texts(&FileSplit { start, end, position: start, ..split.clone() }, Framing::Lines, size));
        }
        prop_assert_eq!(found, expected);
    }

    /// Stop behind any record and go on from there: nothing is lost or read twice, in any range and compression.
    #[test]
    fn reading_goes_on_where_it_stopped(
        lines in prop::collection::vec("[a-c]{1,6}", 1..10),
        stop in 0_usize..10,
        size in 1_usize..20,
        kind in 0..4,
        start in 0_u64..10,
    ) {
        let text = lines.join("\n");
        let folder = tempfile::tempdir().unwrap();
        let bytes = match kind {
            0 | 3 => text.clone().into_bytes(),
            1 => gzip(text.as_bytes()),
            _ => zstd(text.as_bytes()),
        };
        let mut split = file(&folder, "a", &bytes);
        if kind == 3 {
            let start = start % text.len() as u64;
            split = FileSplit { start, position: start, ..split };
        }
        let (all, _) = read(&split, Framing::Lines, false, size);
        let stop = stop.min(all.len());
        let position = if stop == 0 { split.position } else { all[stop - 1].1 };
        let (rest, _) = read(&FileSplit { position, ..split }, Framing::Lines, false, size);
        prop_assert_eq!(&all[stop..], &rest[..]);
    }
}

/// C41
#[test]
fn what_compresses_a_file_is_seen_and_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let text = b"id\n1\n2\n";
    let members = [gzip(b"id\n1\n"), gzip(b"2\n")].concat();
    let frames = [zstd(b"id\n1\n"), zstd(b"2\n")].concat();
    let cases: [(&str, &[u8]); 6] = [
        ("a.csv.gz", &gzip(text)),
        ("multi.csv.gz", &members),
        ("lies.csv", &gzip(text)),
        ("plain.csv.gz", text),
        ("a.csv.zst", &zstd(text)),
        ("multi.csv.zst", &frames),
    ];
    for (name, bytes) in cases {
        let split = file(&folder, name, bytes);
        assert_eq!(texts(&split, Framing::Lines, 1000), ["id", "1", "2"], "{name}");
        assert_eq!(texts(&split, Framing::Lines, 1), ["id", "1", "2"], "{name}");
    }
}

/// C41: the rows before the cut come, then the damage is named.
#[test]
fn a_cut_off_file_gives_the_rows_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..20_000).map(|number| format!("{number},{}\n", number * 7919 % 65_537)).collect();
    for (name, bytes) in [("cut.gz", gzip(text.as_bytes())), ("cut.zst", zstd(text.as_bytes()))] {
        let split = file(&folder, name, &bytes[..bytes.len() * 2 / 3]);
        let (records, broken) = read(&split, Framing::Lines, false, 4096);
        let expected: Vec<_> = text.lines().take(records.len()).collect();
        assert_eq!(records.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), expected, "{name}: no half record");
        let broken = broken.unwrap();
        assert!(broken.contains("unexpected end of"), "{name}: {broken}");
        if name == "cut.gz" {
            assert!(records.len() > 1000, "the rows before the cut: {}", records.len());
        }
    }
    let mut damaged = gzip(text.as_bytes());
    let end = damaged.len() - 6;
    damaged[end] ^= 0xff;
    let (records, broken) = read(&file(&folder, "bad.gz", &damaged), Framing::Lines, false, 4096);
    assert!(records.len() > 19_000 && broken.is_some(), "a wrong checksum is noticed");
}

/// C36, C40
#[test]
fn byte_order_marks_carriage_returns_headers_and_last_lines() {
    let folder = tempfile::tempdir().unwrap();
    let csv = file(&folder, "bom.csv", b"\xef\xbb\xbf\"id\",\"na,me\"\r\n1,\"x\ny\"\r\n2,z");
    for size in [1, 3, 1000] {
        let mut fetcher = FileFetcher::with_read_size(CSV, true, size);
        fetcher.add(csv.clone()).unwrap();
        let Fetched::Chunk(_, first) = fetcher.fetch().unwrap() else { panic!("the first chunk brings the header") };
        assert_eq!(first.header.as_deref(), Some(&b"\"id\",\"na,me\""[..]));
        let (records, _) = read(&csv, CSV, true, size);
        assert_eq!(records[0].0, "1,\"x\ny\"");
        assert_eq!(records[1].0, "2,z");
        let resumed = read(&FileSplit { position: records[0].1, ..csv.clone() }, CSV, true, size).0;
        assert_eq!(resumed, records[1..]);
    }
    let jsonl = file(&folder, "bom.jsonl", b"\xef\xbb\xbf{\"id\":1}\n{\"id\":2}");
    assert_eq!(texts(&jsonl, Framing::Lines, 1000), ["{\"id\":1}", "{\"id\":2}"]);
    let utf16 = file(&folder, "utf16.csv", b"\xff\xfei\x00d\x00\n\x001\x00\n\x00");
    let (records, broken) = read(&utf16, CSV, true, 1000);
    assert_eq!(records, []);
    assert!(broken.unwrap().contains("UTF-16"));
    for (name, bytes) in [("empty", &b""[..]), ("empty.gz", &gzip(b"")), ("header", b"id"), ("header2", b"id\n")] {
        let split = file(&folder, name, bytes);
        assert_eq!(read(&split, CSV, true, 10).0, [], "{name}");
    }
}

#[test]
fn lines_are_counted_for_messages() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [b"a\nb\nc\n".to_vec(), gzip(b"a\nb\nc\n")] {
        let split = file(&folder, "a", &bytes);
        let lines = [0, 2, 4].map(|position| line_at(&split.path, split.codec, position));
        assert_eq!(lines, [Some(1), Some(2), Some(3)]);
    }
}

#[test]
fn a_file_that_has_shrunk_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [b"a\nb\n".to_vec(), gzip(b"a\nb\n")] {
        let split = FileSplit { position: 100, ..file(&folder, "a", &bytes) };
        let mut fetcher = FileFetcher::new(Framing::Lines, false, false);
        fetcher.add(split).unwrap();
        let error = fetcher.fetch().unwrap_err();
        assert!(error.message().contains("shorter than it was"), "{error}");
    }
}

fn gives(fetcher: &mut FileFetcher) -> Vec<String> {
    let mut records = Vec::new();
    loop {
        match fetcher.fetch().unwrap() {
            Fetched::Chunk(_, chunk) => records.extend(
                chunk
                    .records
                    .iter()
                    .map(|&(start, len)| String::from_utf8_lossy(&chunk.bytes[start as usize..][..len as usize]).into()),
            ),
            Fetched::Nothing(_) | Fetched::End(_) => return records,
        }
    }
}

fn append(split: &FileSplit, text: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(&split.path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn stamped(split: &FileSplit) -> FileSplit {
    let found = super::stamp::Stamp::of(&std::fs::metadata(&split.path).unwrap());
    FileSplit { found: Some(found), ..split.clone() }
}

/// C40: a line that is written in two halves is one line, also over a restart between them.
#[test]
fn a_line_in_two_halves_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let split = stamped(&file(&folder, "t.jsonl", b"{\"id\":1}\n{\"id\":2"));
    let mut fetcher = FileFetcher::new(Framing::Lines, false, true);
    fetcher.add(split.clone()).unwrap();
    let Fetched::Chunk(_, mut chunk) = fetcher.fetch().unwrap() else { panic!("one line is there") };
    chunk.next = 1;
    let position = chunk.position();
    assert_eq!(position, 9, "the start of the unfinished line");
    assert_eq!(gives(&mut fetcher), [""; 0]);
    append(&split, "2}\n{\"id\":3}\n");
    let expected = ["{\"id\":22}", "{\"id\":3}"];
    assert_eq!(gives(&mut fetcher), expected);
    let mut restarted = FileFetcher::new(Framing::Lines, false, true);
    restarted.add(FileSplit { position, ..split }).unwrap();
    assert_eq!(gives(&mut restarted), expected);
}

#[test]
fn files_that_grow_are_followed_side_by_side_and_wait_for_their_headers() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (stamped(&file(&folder, "a.csv", b"id,na")), stamped(&file(&folder, "b.csv", b"id,name\n1,x\n")));
    let mut fetcher = FileFetcher::new(CSV, true, true);
    fetcher.add(a.clone()).unwrap();
    fetcher.add(b.clone()).unwrap();
    assert_eq!(gives(&mut fetcher), ["1,x"]);
    append(&a, "me\n");
    assert_eq!(gives(&mut fetcher), [""; 0]);
    append(&a, "2,\"y\nz\"\n");
    append(&b, "3,z\n");
    let mut found = gives(&mut fetcher);
    found.sort();
    assert_eq!(found, ["2,\"y\nz\"", "3,z"]);
    fetcher.set_paused(&a.path, true);
    append(&a, "4,a\n");
    append(&b, "5,b\n");
    assert_eq!(gives(&mut fetcher), ["5,b"]);
    fetcher.set_paused(&a.path, false);
    assert_eq!(gives(&mut fetcher), ["4,a"]);
}

#[test]
fn a_followed_file_that_shrinks_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let split = stamped(&file(&folder, "t", b"one\ntwo\n"));
    let mut fetcher = FileFetcher::new(Framing::Lines, false, true);
    fetcher.add(split.clone()).unwrap();
    assert_eq!(gives(&mut fetcher), ["one", "two"]);
    std::fs::OpenOptions::new().write(true).open(&split.path).unwrap().set_len(3).unwrap();
    let error = fetcher.fetch().unwrap_err();
    assert!(error.message().contains("has shrunk: it was read up to byte 8 and has 3 bytes now"), "{error}");
    let mut restarted = FileFetcher::new(Framing::Lines, false, true);
    restarted.add(FileSplit { position: 8, ..split }).unwrap();
    assert_eq!(restarted.fetch().unwrap_err(), error);
}

#[test]
fn a_followed_file_that_is_rotated_is_read_on_under_its_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let split = stamped(&file(&folder, "log", b"one\n"));
    std::fs::rename(&split.path, folder.path().join("log.1")).unwrap();
    std::fs::write(&split.path, "other\n").unwrap();
    let mut fetcher = FileFetcher::new(Framing::Lines, false, true);
    fetcher.add(FileSplit { position: 4, ..split.clone() }).unwrap();
    assert_eq!(gives(&mut fetcher), [""; 0], "the new file is another split");
    append(&FileSplit { path: folder.path().join("log.1").to_str().unwrap().to_owned(), ..split.clone() }, "two\n");
    assert_eq!(gives(&mut fetcher), ["two"]);
    std::fs::remove_file(folder.path().join("log.1")).unwrap();
    let mut restarted = FileFetcher::new(Framing::Lines, false, true);
    restarted.add(FileSplit { position: 8, ..split }).unwrap();
    assert!(restarted.fetch().unwrap_err().message().contains("replaced by another file when it was read up to byte 8"));
}

#[test]
fn a_file_that_changes_vanishes_or_is_replaced_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let text = "x\n".repeat(10_000);
    for (what, message) in [("grow", "had 20000 bytes and has 20004 now"), ("shrink", "had 20000 bytes and has 7000 now")] {
        let split = stamped(&file(&folder, what, text.as_bytes()));
        for reading in [false, true] {
            let mut fetcher = FileFetcher::with_read_size(Framing::Lines, false, 4096);
            fetcher.add(split.clone()).unwrap();
            if reading {
                std::fs::OpenOptions::new().write(true).open(&split.path).unwrap().set_len(20_000).unwrap();
                fetcher.fetch().unwrap();
            }
            match what {
                "grow" => append(&split, "yes\n"),
                _ => std::fs::OpenOptions::new().write(true).open(&split.path).unwrap().set_len(7000).unwrap(),
            }
            let error = loop {
                if let Err(error) = fetcher.fetch() {
                    break error;
                }
            };
            assert!(error.message().contains(message), "{error}");
        }
    }
    let split = stamped(&file(&folder, "gone", text.as_bytes()));
    std::fs::remove_file(&split.path).unwrap();
    let mut fetcher = FileFetcher::new(Framing::Lines, false, false);
    fetcher.add(split.clone()).unwrap();
    assert!(fetcher.fetch().unwrap_err().message().contains("gone` was found and has disappeared before it was read"));
    std::fs::write(folder.path().join("new"), "another\n").unwrap();
    std::fs::rename(folder.path().join("new"), &split.path).unwrap();
    assert!(fetcher.fetch().unwrap_err().message().contains("was replaced by another file before it was read"));
}

/// Else, where damaged files are skipped, rows would be lost that are there.
#[test]
fn what_the_system_cannot_read_is_an_error_and_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    for codec in [Codec::Plain, Codec::Gzip, Codec::Zstd] {
        let mut fetcher = FileFetcher::with_read_size(Framing::Lines, false, 100);
        fetcher.add(FileSplit::whole(folder.path().to_str().unwrap().to_owned(), codec)).unwrap();
        let error = fetcher.fetch().unwrap_err();
        assert!(error.message().starts_with("cannot read"), "{error}");
        assert_eq!(error.kind(), crate::error::ErrorKind::Transient);
    }
}
