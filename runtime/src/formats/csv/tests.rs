//! CSV as a whole: reading, writing, and both in a circle.

use super::CsvFormat;
use crate::codegen::*;
use crate::formats::{Decoder, Encoder, Format, Framer};

#[derive(Clone, Debug, PartialEq, Record)]
struct Row {
    id: i64,
    s: Option<Str>,
    n: Option<i32>,
}

fn row(id: i64, s: Option<&str>, n: Option<i32>) -> Row {
    Row { id, s: s.map(Str::from), n }
}

fn read<T: Record>(format: &CsvFormat, text: &str) -> Result<Vec<T>, String> {
    let (mut framer, mut start, mut decoder, mut rows) = (Framer::new(format.framing()), 0, None, Vec::new());
    let bytes = text.as_bytes();
    while let Some(frame) = framer.next(&bytes[start..]).or_else(|| framer.rest(&bytes[start..])) {
        let record = &bytes[start..start + frame.length];
        start += frame.consumed;
        match &mut decoder {
            None if format.has_header() => decoder = Some(format.decoder::<T>(Some(record)).map_err(|error| error.to_string())?),
            _ => {
                let decoder = match &mut decoder {
                    Some(decoder) => decoder,
                    None => decoder.insert(format.decoder::<T>(None).map_err(|error| error.to_string())?),
                };
                rows.extend(decoder.decode(record).map_err(|error| error.to_string())?);
            }
        }
    }
    Ok(rows)
}

fn write<T: Record>(format: &CsvFormat, rows: &[T]) -> String {
    let mut out = Vec::new();
    let mut encoder = format.encoder::<T>().unwrap();
    encoder.header(&mut out);
    rows.iter().for_each(|row| encoder.encode(row, &mut out));
    String::from_utf8(out).unwrap()
}

const NULLS: &str = "id,s,n\n1,\"\",5\n2,,\n3, ,7\n4,NULL,8\n5,\"NULL\",9\n6,\\N,10\n";

/// C38: quoted is data, unquoted may be null; and in a circle nothing changes.
#[test]
fn empty_and_null_stay_apart() {
    let format = CsvFormat::default();
    let rows: Vec<Row> = read(&format, NULLS).unwrap();
    let expected = [
        row(1, Some(""), Some(5)),
        row(2, None, None),
        row(3, Some(" "), Some(7)),
        row(4, Some("NULL"), Some(8)),
        row(5, Some("NULL"), Some(9)),
        row(6, Some("\\N"), Some(10)),
    ];
    assert_eq!(rows, expected);
    assert_eq!(read::<Row>(&format, &write(&format, &rows)).unwrap(), expected);

    let format = CsvFormat::from_options(&Options::new().with("null", "NULL")).unwrap();
    let rows: Vec<Row> = read(&format, NULLS).unwrap();
    assert_eq!((&rows[1], &rows[3], &rows[4]), (&row(2, Some(""), None), &row(4, None, Some(8)), &row(5, Some("NULL"), Some(9))));
    assert_eq!(write(&format, &rows[3..5]), "id,s,n\n4,NULL,8\n5,\"NULL\",9\n");
    assert_eq!(read::<Row>(&format, &write(&format, &rows)).unwrap(), rows);
}

#[test]
fn any_text_survives_the_circle() {
    let format = CsvFormat::from_options(&Options::new().with("delimiter", ";").with("quote", "'").with("null", "-")).unwrap();
    let texts = ["a;b", "it's", "''", "line\nbreak", "cr\r", "\r\n", "-", "", " x ", "é数", "\"", "'", ";"];
    let rows: Vec<Row> = texts.iter().map(|text| row(1, Some(text), None)).collect();
    assert_eq!(read::<Row>(&format, &write(&format, &rows)).unwrap(), rows);
}

/// A file of one column: an empty line is a null.
#[test]
fn one_column_that_is_null() {
    #[derive(Clone, Debug, PartialEq, Record)]
    struct One {
        s: Option<Str>,
    }
    let rows = [One { s: None }, One { s: Some("".into()) }, One { s: Some("a".into()) }];
    let format = CsvFormat::default();
    assert_eq!(write(&format, &rows), "s\n\n\"\"\na\n");
    assert_eq!(read::<One>(&format, &write(&format, &rows)).unwrap(), rows);
}

/// C36, C70: names in quotes, in any order; twice is an error; missing is an error that lists what is there.
#[test]
fn headers() {
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Named {
        #[flow(name = "na,me")]
        name: Str,
        id: i64,
    }
    let format = CsvFormat::default();
    assert_eq!(read::<Named>(&format, "\"id\",x,\"na,me\"\r\n1,,\"x\"\r\n").unwrap(), [Named { name: "x".into(), id: 1 }]);
    let error = |text: &str| read::<Named>(&format, text).unwrap_err();
    assert_eq!(error("id,id\n1,2\n"), "the header names two columns `id`: column 1 and column 2");
    assert_eq!(error("id,name\n1,2\n"), "there is no column `na,me` in the file: it has `id`, `name`");
    assert_eq!(error("id,\"na,me\"\n1,a,b\n"), "`1,a,b` has 3 fields, expected 2");
    assert_eq!(error("id,\"na,me\"\n1\n"), "`1` has 1 fields, expected 2");
    assert_eq!(error("id,\"na,me\"\nx,a\n"), "field `id`: `x` is not an integer");
    assert_eq!(error("id,\"na,me\"\n,a\n"), "field `id`: is null, and the column may not be null");
    assert_eq!(error("id,\"na,me\"\n1,\"a\"b\n"), "`\"a\"b` is a field with text behind its closing quote");
    assert_eq!(error("id,\"na,me\"\n1,\"a\n"), "`\"a\n` is a field whose closing quote is missing");
    assert_eq!(read::<Named>(&format, "id,\"na,me\"\n\n1,a\n\n").unwrap().len(), 1);
    assert_eq!(read::<Named>(&format, "").unwrap(), []);

    let format =
        CsvFormat::from_options(&Options::new().with("header", false).with_columns("columns", &["x", "id", "na,me"])).unwrap();
    assert_eq!(read::<Named>(&format, "0,1,a\n").unwrap(), [Named { name: "a".into(), id: 1 }]);
    let format = CsvFormat::from_options(&Options::new().with("header", false)).unwrap();
    assert_eq!(read::<Named>(&format, "a,1\n").unwrap(), [Named { name: "a".into(), id: 1 }]);
    assert_eq!(write(&format, &[Named { name: "a".into(), id: 1 }]), "a,1\n");
}

#[test]
fn nested_records_lists_and_other_types() {
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Inner {
        a: i64,
        b: Option<bool>,
    }
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Outer {
        inner: Option<Inner>,
        tags: Vec<Str>,
        d: Decimal<5, 2>,
        f: f64,
        t: Timestamp,
        raw: Bytes,
    }
    let format = CsvFormat::default();
    let some = Outer {
        inner: Some(Inner { a: 1, b: None }),
        tags: vec!["x,y".into(), "\"".into()],
        d: Decimal(150),
        f: f64::INFINITY,
        t: Timestamp(0),
        raw: vec![1, 2],
    };
    let rows = [some.clone(), Outer { inner: None, ..some }];
    let text = write(&format, &rows);
    assert!(
        text.starts_with(
            "inner.a,inner.b,tags,d,f,t,raw\n1,,\"[\"\"x,y\"\",\"\"\\\"\"\"\"]\",1.50,Infinity,1970-01-01T00:00:00Z,AQI=\n,,"
        ),
        "{text}"
    );
    assert_eq!(read::<Outer>(&format, &text).unwrap(), rows);
}

#[test]
fn options_are_checked() {
    let error = |options: Options| CsvFormat::from_options(&options).unwrap_err().to_string();
    assert_eq!(error(Options::new().with("delimiter", "||")), "the option `delimiter` is one ASCII character");
    assert_eq!(error(Options::new().with("delimiter", "\"")), "the options `delimiter` and `quote` are the same character");
    assert_eq!(
        error(Options::new().with_columns("columns", &["a"])),
        "the option `columns` is for files without a header: add `header: false`"
    );
    assert_eq!(error(Options::new().with("null", "a,b")), "the option `null` cannot contain delimiters, quotes or line breaks");
}

/// C50: what groups as one is one, from the file on: -0.0, 0.0 and 1e-400; all spellings of NaN; null.
#[test]
fn floats_that_are_one_key() {
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Point {
        id: i64,
        x: Option<f64>,
    }
    let rows: Vec<Point> = read(&CsvFormat::default(), "id,x\n1,0.0\n2,-0.0\n3,NaN\n4,NaN\n5,nan\n6,\n7,1e-400\n").unwrap();
    let mut groups = std::collections::BTreeMap::<Option<FloatKey<f64>>, Vec<i64>>::new();
    for row in rows {
        groups.entry(row.x.map(FloatKey::new)).or_default().push(row.id);
    }
    assert_eq!(groups.into_values().collect::<Vec<_>>(), [vec![6], vec![1, 2, 7], vec![3, 4, 5]]);
}

/// C36: the byte order mark, the quoted name and the carriage return leave no trace.
#[test]
fn the_file_from_a_spreadsheet() {
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Named {
        id: i64,
        #[flow(name = "na,me")]
        name: Str,
    }
    let file = "\u{feff}\"id\",\"na,me\"\r\n1,\"x\"\r\n";
    let skip = crate::formats::byte_order_mark(file.as_bytes()).unwrap();
    let rows: Vec<Named> = read(&CsvFormat::default(), &file[skip..]).unwrap();
    assert_eq!(rows, [Named { id: 1, name: "x".into() }]);
}
