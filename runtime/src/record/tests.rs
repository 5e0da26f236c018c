//! Records as a whole: derived code against JSON and rows.

use crate::codegen::*;
use crate::formats::json::JsonReader;

#[derive(Clone, Debug, PartialEq, Record, State)]
struct Bid {
    auction: i64,
    #[flow(name = "p-rice")]
    price: Option<i32>,
    channel: Str,
}

#[derive(Clone, Debug, PartialEq, Record)]
struct Event {
    event_type: i32,
    bid: Option<Bid>,
    tags: Option<Vec<Str>>,
    #[flow(unit = "ms")]
    r#type: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Record)]
struct Empty {}

fn json<T: Record>(text: &str) -> Result<T, FieldError> {
    let mut reader = JsonReader::new(text);
    let record = T::decode_json(&mut reader)?;
    reader.end()?;
    Ok(record)
}

fn bid(text: &str) -> Result<Bid, String> {
    json(text).map_err(|error| error.to_string())
}

#[test]
fn json_goes_in_and_out() {
    let text =
        r#"{"event_type":2,"bid":{"auction":7,"p-rice":null,"channel":"a\"b"},"tags":["x","y"],"type":"1970-01-01T00:00:01Z"}"#;
    let event: Event = json(text).unwrap();
    assert_eq!(event.bid.as_ref().unwrap().channel, "a\"b");
    let mut out = Vec::new();
    event.encode_json(&mut out);
    assert_eq!(String::from_utf8(out).unwrap(), text);
    let spaced = r#" { "x" : { "y" : [ 1 , "}" , { } ] } , "type" : 1000 , "event_type" : 2.0 , "z" : -1.5e3 , "w" : "\\" } "#;
    assert_eq!(
        json::<Event>(spaced).unwrap(),
        Event { event_type: 2, bid: None, tags: None, r#type: Some(Timestamp(1_000_000)) }
    );
    let mut out = Vec::new();
    json::<Empty>(r#"{"a":1}"#).unwrap().encode_json(&mut out);
    assert_eq!(out, b"{}");
}

#[test]
fn columns_describe_themselves() {
    let columns: Vec<_> = Event::COLUMNS.iter().map(|column| (column.name, (column.ty)(), column.optional)).collect();
    let expected =
        [("event_type", "int32", false), ("bid", "Bid?", true), ("tags", "list<string>?", true), ("type", "timestamp?", true)];
    assert_eq!(columns, expected.map(|(name, ty, optional)| (name, ty.to_owned(), optional)));
    let slots: Vec<_> = Event::slots().into_iter().map(|slot| (slot.name(), slot.nested, slot.optional)).collect();
    let expected = [
        ("event_type", 0, false),
        ("bid", 3, true),
        ("bid.auction", 0, false),
        ("bid.p-rice", 0, true),
        ("bid.channel", 0, false),
        ("tags", 0, true),
        ("type", 0, true),
    ];
    assert_eq!(slots, expected.map(|(name, nested, optional)| (name.to_owned(), nested, optional)));
    let event: Event = json(r#"{"event_type":2,"bid":{"auction":7,"channel":"c"}}"#).unwrap();
    assert_eq!(event.column_text(0).unwrap(), "2");
    assert_eq!(event.column_text(1).unwrap(), r#"{"auction":7,"p-rice":null,"channel":"c"}"#);
    assert_eq!(event.column_text(2), None);
    assert_eq!(Bid::schema(), "{auction:int64,`p-rice`:int32?,channel:string}");
}

/// C07, C44, C45: the message names the field and the value, and nothing is cut, rounded or guessed.
#[test]
fn what_is_wrong_is_named() {
    for (text, expected) in [
        (r#"{"auction":null,"channel":"c"}"#, "field `auction`: `null` is not allowed: the column may not be null"),
        (r#"{"channel":"c"}"#, "field `auction`: is missing, and the column may not be null"),
        (r#"{"auction":1.9,"channel":"c"}"#, "field `auction`: `1.9` has a fraction, but the column is an integer"),
        (r#"{"auction":"x","channel":"c"}"#, "field `auction`: `\"x\"` is not an integer"),
        (r#"{"auction":true,"channel":"c"}"#, "field `auction`: `true` is not a number"),
        (r#"{"auction":2iii,"channel":"c"}"#, "field `auction`: `2iii` is not a number"),
        (r#"{"auction":004,"channel":"c"}"#, "field `auction`: `004` is not a number: leading zeros"),
        (r#"{"auction":9223372036854775808,"channel":"c"}"#, "field `auction`: `9223372036854775808` is out of range for int64"),
        (r#"{"auction":1,"p-rice":2147483648,"channel":"c"}"#, "field `p-rice`: `2147483648` is out of range for int32"),
        (r#"{"auction":1,"channel":5}"#, "field `channel`: `5` is not a string"),
        (r#"{"auction":1,"channel":"c""#, "not valid JSON at byte 26: expected `,` or `}`, found the end of the record"),
        (
            r#"{"auction":1,"channel":"c"}{"auction":2}"#,
            "not valid JSON at byte 27: expected the end of the record: one value a line, found `{`",
        ),
        (r#"[{"auction":1}]"#, r#"`[{"auction":1}]` is not an object"#),
        ("null", "`null` is not an object"),
        (r#"{"auction":1,"channel":"c"#, "field `channel`: `\"c` is a string without an end"),
        (r#"{"auction":1,"channel":"\ud800"}"#, "field `channel`: `\"\\ud800\"` has a broken \\u escape"),
        (r#"{"x":tru,"auction":1,"channel":"c"}"#, "`tru` is not a JSON value"),
        (r#"{"auction":1 "channel":"c"}"#, "not valid JSON at byte 13: expected `,` or `}`, found `\\\"`"),
    ] {
        assert_eq!(bid(text).unwrap_err(), expected, "{text}");
    }
    let error = json::<Event>(r#"{"event_type":1,"bid":{"auction":"é"},"tags":[]}"#).unwrap_err();
    assert_eq!((error.path(), error.raw(), error.reason()), ("bid.auction", "\"é\"", "is not an integer"));
    let error = json::<Event>(r#"{"event_type":1,"tags":["a",1]}"#).unwrap_err();
    assert_eq!(error.to_string(), "field `tags[1]`: `1` is not a string");
    let long = format!(r#"{{"auction":"{}"}}"#, "é".repeat(500));
    assert_eq!(json::<Bid>(&long).unwrap_err().raw().chars().count(), 81);
}

/// C45: exact integers, strings that hold one, and of two members with one name the last.
#[test]
fn numbers_by_rule() {
    let auction = |text: &str| bid(text).map(|bid| bid.auction);
    assert_eq!(auction(r#"{"auction":9007199254740993,"channel":"c"}"#), Ok(9_007_199_254_740_993));
    assert_eq!(auction(r#"{"auction":"9223372036854775807","channel":"c"}"#), Ok(i64::MAX));
    assert_eq!(auction(r#"{"auction":-9223372036854775808,"channel":"c"}"#), Ok(i64::MIN));
    assert_eq!(auction(r#"{"auction":1.0,"channel":"c"}"#), Ok(1));
    assert_eq!(auction(r#"{"auction":5,"auction":6,"channel":"c"}"#), Ok(6));
    assert_eq!(auction(r#"{"\u0061uction":7,"channel":"c"}"#), Ok(7));

    #[derive(Clone, Debug, PartialEq, Record)]
    struct Numbers {
        d: f64,
        e: Option<Decimal<10, 1>>,
    }
    let d = |text: &str| json::<Numbers>(text).map(|numbers| numbers.d);
    assert_eq!(d(r#"{"d":1e2}"#), Ok(100.0));
    assert_eq!(d(r#"{"d":13.700000000000001}"#), Ok(13.700000000000001));
    assert_eq!(d(r#"{"d":"0.1"}"#), Ok(0.1));
    assert_eq!(d(r#"{"d":5}"#), Ok(5.0));
    assert!(d(r#"{"d":-0.0}"#).unwrap().is_sign_negative());
    assert_eq!(d(r#"{"d":1e400}"#).unwrap_err().to_string(), "field `d`: `1e400` is out of range");
    for text in [r#"{"d":1,"e":0.1}"#, r#"{"d":1,"e":"0.1"}"#, r#"{"d":1,"e":1e-1}"#] {
        assert_eq!(json::<Numbers>(text).unwrap().e, Some(Decimal(1)));
    }
    assert!(json::<Numbers>(r#"{"d":1,"e":0.15}"#).is_err());
    let mut out = Vec::new();
    Numbers { d: f64::NAN, e: Some(Decimal(-5)) }.encode_json(&mut out);
    assert_eq!(out, br#"{"d":"NaN","e":"-0.5"}"#);
    assert!(d(r#"{"d":"NaN"}"#).unwrap().is_nan());
}

/// C67: deep data is a row error, not a crash, whether the deep member is read or not.
#[test]
fn depth_is_limited() {
    let deep = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    assert!(json::<Empty>(&deep).unwrap_err().reason().starts_with("the depth limit of 128 is exceeded"));
    assert!(json::<Empty>(&"[".repeat(100_000)).is_err());
    let fine = r#"{"a":"#.repeat(128) + "1" + &"}".repeat(128);
    assert!(json::<Empty>(&fine).is_ok());
}

/// C68: names of any kind are columns.
#[test]
fn odd_names_are_columns() {
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Odd {
        order: i32,
        #[flow(name = "a-b")]
        a: i32,
        #[flow(name = "")]
        empty: i32,
        数量: i32,
        #[flow(name = "e\u{301}")]
        two: i32,
        #[flow(name = "\u{e9}")]
        one: i32,
        r#type: i32,
        #[flow(name = "self")]
        own: i32,
        #[flow(name = "_")]
        underscore: i32,
        #[flow(name = "na\u{ef}ve\nname\"\\")]
        line: i32,
    }
    let text = r#"{"order":1,"a-b":5,"":7,"\u6570\u91cf":8,"\u00e9":9,"e\u0301":10,"type":11,"self":12,"_":13,"na\u00efve\nname\"\\":16}"#;
    let odd: Odd = json(text).unwrap();
    assert_eq!(
        (odd.order, odd.a, odd.empty, odd.数量, odd.one, odd.two, odd.r#type, odd.own, odd.underscore, odd.line),
        (1, 5, 7, 8, 9, 10, 11, 12, 13, 16)
    );
    let mut out = Vec::new();
    odd.encode_json(&mut out);
    assert_eq!(json::<Odd>(std::str::from_utf8(&out).unwrap()), Ok(odd));
}

struct Cells(Vec<crate::record::Cell<'static>>);

impl crate::record::Row for Cells {
    fn cell(&self, slot: usize) -> crate::record::Cell<'_> {
        self.0[slot].clone()
    }
}

#[test]
fn rows_are_read_by_slot() {
    use crate::record::Cell;
    let cells = vec![
        Cell::Int(2),
        Cell::Null,
        Cell::Text("7"),
        Cell::Null,
        Cell::Str("c".into()),
        Cell::Null,
        Cell::Timestamp(Timestamp(5)),
    ];
    let event = Event::decode_row(&Cells(cells.clone()), 0).unwrap();
    assert_eq!(event.bid, Some(Bid { auction: 7, price: None, channel: "c".into() }));
    assert_eq!(event.r#type, Some(Timestamp(5)));
    let mut none = cells.clone();
    none[2] = Cell::Null;
    none[4] = Cell::Null;
    assert_eq!(Event::decode_row(&Cells(none), 0).unwrap().bid, None);
    let mut half = cells;
    half[2] = Cell::Null;
    assert_eq!(
        Event::decode_row(&Cells(half), 0).unwrap_err().to_string(),
        "field `bid.auction`: is null, and the column may not be null"
    );
}

#[derive(Clone, Debug, PartialEq, State)]
enum Shape {
    Nothing,
    Pair(i64, Str),
    Named { a: Option<bool> },
}

#[derive(Clone, Debug, PartialEq, State)]
struct Generic<T>(Vec<T>, u8);

#[derive(Clone, Debug, PartialEq, State)]
struct Unit;

#[test]
fn derived_state_is_touched_wherever_it_has_texts() {
    let bid = |channel: &str| Bid { auction: 1, price: Some(2), channel: channel.into() };
    assert_eq!((bid("").touch(), bid("a").touch()), (0, b'a'));
    assert_eq!((Some(bid("b")), Box::new(bid("\u{10}"))).touch(), b'b' | 0x10);
    assert_eq!(
        [Shape::Nothing, Shape::Pair(-1, "x".into()), Shape::Named { a: Some(true) }].map(|shape| shape.touch()),
        [0, b'x', 0]
    );
    assert_eq!((Unit.touch(), Generic::<i64>(vec![1], 2).touch()), (0, 0));
    // Of a long text, each line of the caches and the end.
    let text = |at: usize| (0..200).map(|byte| if byte == at { '\u{1}' } else { '\0' }).collect::<String>();
    assert_eq!([0, 64, 128, 192, 199, 100].map(|at| text(at).touch()), [1, 1, 1, 1, 1, 0]);
}

#[test]
fn derived_state_comes_back() {
    use crate::state::{decode_from_slice, encode_to_vec};
    for shape in [Shape::Nothing, Shape::Pair(-1, "x".into()), Shape::Named { a: Some(true) }] {
        assert_eq!(decode_from_slice::<Shape>(&encode_to_vec(&shape)), Ok(shape));
    }
    assert!(decode_from_slice::<Shape>(&[9]).is_err());
    assert_eq!(decode_from_slice(&encode_to_vec(&Generic(vec![1i32], 2))), Ok(Generic(vec![1i32], 2)));
    assert_eq!(decode_from_slice(&encode_to_vec(&Unit)), Ok(Unit));
    assert_eq!(Shape::schema(), "enum(Nothing()|Pair(int64,string)|Named{a:bool?})");
    assert_eq!(Generic::<Str>::schema(), "(list<string>,uint8)");
}

/// C07: a moment that is null, missing or no moment stops the row, names field and value, and takes nobody else's.
#[test]
fn a_broken_time_is_named() {
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Reading {
        id: i64,
        ts: Timestamp,
    }
    let results: Vec<_> = [
        r#"{"id":1,"ts":"2024-05-01T00:00:01Z"}"#,
        r#"{"id":2,"ts":null}"#,
        r#"{"id":3}"#,
        r#"{"id":4,"ts":"yesterday"}"#,
        r#"{"id":5,"ts":"2024-05-01T00:00:02Z"}"#,
    ]
    .into_iter()
    .map(|line| json::<Reading>(line).map(|reading| reading.ts.to_string()).map_err(|error| error.to_string()))
    .collect();
    assert_eq!(
        results,
        [
            Ok("2024-05-01T00:00:01Z".to_owned()),
            Err("field `ts`: `null` is not allowed: the column may not be null".to_owned()),
            Err("field `ts`: is missing, and the column may not be null".to_owned()),
            Err("field `ts`: `\"yesterday\"` is not a timestamp like 2026-03-15T07:59:20.030Z".to_owned()),
            Ok("2024-05-01T00:00:02Z".to_owned()),
        ]
    );
}

#[test]
fn strings_with_escapes_anywhere() {
    for length in 0..20 {
        for escape in [r"\\", r#"\""#, r"\n\t\r\b\f\/", r"\u00e9", r"\ud83e\udd80", "é", r"\\\\\\", ""] {
            let text = format!("\"{}{escape}{escape}{}\"", "a".repeat(length), "é".repeat(length));
            assert_eq!(JsonReader::new(&text).string().unwrap(), serde_json::from_str::<String>(&text).unwrap(), "{text}");
            let mut skipped = JsonReader::new(&text);
            skipped.skip_value().unwrap();
            skipped.end().unwrap();
        }
        for broken in [r"\", r"\x", r"\u12", r"\ud83e", r"\udd80\ud83e"] {
            let text = format!("\"{}{broken}\"", "a".repeat(length));
            assert!(JsonReader::new(&text).string().is_err() && serde_json::from_str::<String>(&text).is_err(), "{text}");
        }
    }
}

/// C45: the rows of the case as they stand.
#[test]
fn coercions_of_the_case() {
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Inner {
        x: Option<Json>,
    }
    #[derive(Clone, Debug, PartialEq, Record)]
    struct Outer {
        id: i64,
        i: Option<i32>,
        o: Option<Inner>,
        d: f64,
    }
    let x = |row: &Outer| row.o.as_ref().and_then(|o| o.x.as_ref()).map(|x| x.as_str().to_owned());
    let first: Outer = json(r#"{"id":9007199254740993,"i":1,"o":{"x":null},"d":0.1}"#).unwrap();
    assert_eq!((first.id, first.i, x(&first), first.d), (9_007_199_254_740_993, Some(1), None, 0.1));
    let second: Outer = json(r#"{"id":"9223372036854775807","i":1.0,"o":null,"d":1e2}"#).unwrap();
    assert_eq!((second.id, second.i, x(&second), second.d), (i64::MAX, Some(1), None, 100.0));
    let fourth: Outer = json(r#"{"id":5,"id":6,"i":1,"o":{"x":{"y":1}},"d":-0.0}"#).unwrap();
    assert_eq!((fourth.id, x(&fourth).as_deref()), (6, Some(r#"{"y":1}"#)));
    for (text, expected) in [
        (r#"{"id":1.9,"i":2147483648,"o":{},"d":"0.1"}"#, "field `id`: `1.9` has a fraction, but the column is an integer"),
        (r#"{"id":1,"i":2147483648,"o":{},"d":"0.1"}"#, "field `i`: `2147483648` is out of range for int32"),
        (r#"{"id":7,"i":true,"o":{},"d":1}"#, "field `i`: `true` is not a number"),
        (r#"{"id":7,"o":[1],"d":1}"#, "field `o`: `[1]` is not an object"),
        (r#"{"id":7,"d":1e400}"#, "field `d`: `1e400` is out of range"),
    ] {
        assert_eq!(json::<Outer>(text).unwrap_err().to_string(), expected);
    }
}
