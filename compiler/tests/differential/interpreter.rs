//! What a pipeline should make of its rows, computed in the plainest way: every row looks at every other.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::spec::{By, DELAY, Frame, Main, Row, Spec, Window, decimal};

/// A row, and the watermark that stands when it comes: no later row should be as old. In microseconds.
struct Arrival<'a> {
    row: &'a Row,
    watermark: i64,
}

const SECOND: i64 = 1_000_000;

/// The rows that come out, in any order.
pub fn expected(spec: &Spec, rows: &[Row]) -> Vec<Value> {
    let mut newest = None;
    let mut arrivals = Vec::new();
    for row in rows {
        let watermark = newest.map_or(i64::MIN, |newest: i64| (newest - DELAY) * SECOND - 1);
        arrivals.push(Arrival { row, watermark });
        newest = Some(newest.map_or(row.t, |newest| newest.max(row.t)));
    }
    if let Some(above) = spec.above {
        arrivals.retain(|arrival| arrival.row.v.map_or(spec.keep_null, |v| v > above));
    }
    match &spec.main {
        Main::Windowed { by, window: Window::Session(gap), allow } => sessions(&arrivals, *by, *gap, *allow),
        Main::Windowed { by, window, allow } => windows(&arrivals, *by, *window, *allow, false),
        Main::Early { by, window, allow } => windows(&arrivals, *by, *window, *allow, true),
        Main::Grouped { by } => grouped(arrivals.iter().map(|arrival| arrival.row).collect(), *by, !arrivals.is_empty()),
        Main::LastThenGrouped { by } => {
            let last = last(&arrivals, |row| (row.k.clone(), row.v));
            let came = arrivals.iter().any(|arrival| arrival.row.id % 3 != 0);
            grouped(last.into_iter().filter(|row| row.id % 3 != 0).collect(), *by, came)
        }
        Main::KeepFirst => {
            let mut seen = Vec::new();
            let first = arrivals.iter().filter(|arrival| {
                let new = !seen.contains(&arrival.row.k);
                seen.push(arrival.row.k.clone());
                new
            });
            first.map(|arrival| json!({ "id": arrival.row.id, "k": arrival.row.k })).collect()
        }
        Main::KeepLast => {
            last(&arrivals, |row| row.k.clone()).into_iter().map(|row| json!({ "id": row.id, "k": row.k })).collect()
        }
        Main::Over { by, frame } => over(&arrivals, *by, *frame),
        Main::Neighbours { by } => neighbours(&arrivals, *by),
        Main::Top { count } => top(&arrivals, *count),
        Main::Distinct => {
            let mut pairs: Vec<_> = arrivals.iter().map(|arrival| (arrival.row.k.clone(), arrival.row.v)).collect();
            pairs.sort();
            pairs.dedup();
            pairs.into_iter().map(|(k, v)| json!({ "k": k, "v": v })).collect()
        }
    }
}

type Key = (Option<String>, i64);

fn key(by: By, row: &Row) -> Key {
    match by {
        By::Nothing => (None, 0),
        By::K => (row.k.clone(), 0),
        By::KAndParity => (row.k.clone(), row.id % 2),
    }
}

/// The row of a group.
fn group(by: By, key: &Key, bounds: Option<(i64, i64)>, rows: &[&Row]) -> Value {
    let mut out = Map::new();
    if by != By::Nothing {
        out.insert("k".to_owned(), json!(key.0));
    }
    if by == By::KAndParity {
        out.insert("parity".to_owned(), json!(key.1));
    }
    if let Some((start, end)) = bounds {
        out.insert("start".to_owned(), time(start));
        out.insert("end".to_owned(), time(end));
    }
    let values: Vec<i64> = rows.iter().filter_map(|row| row.v).collect();
    let mut kinds = values.clone();
    kinds.sort();
    kinds.dedup();
    let positive: Vec<i64> = values.iter().copied().filter(|v| *v > 0).collect();
    let floats: Vec<f64> = rows.iter().filter_map(|row| row.f).collect();
    let cents: Vec<i64> = rows.iter().filter_map(|row| row.d).collect();
    let mean = (!positive.is_empty()).then(|| positive.iter().sum::<i64>() as f64 / positive.len() as f64);
    // NaN is above all numbers.
    let order = |a: &f64, b: &f64| a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
    out.insert("n".to_owned(), json!(rows.len()));
    out.insert("n_v".to_owned(), json!(values.len()));
    out.insert("kinds".to_owned(), json!(kinds.len()));
    out.insert("total".to_owned(), json!((!values.is_empty()).then(|| values.iter().sum::<i64>())));
    out.insert("low".to_owned(), json!(values.iter().min()));
    out.insert("mean".to_owned(), json!(mean));
    out.insert("cents".to_owned(), sum_of_decimals(&cents));
    out.insert("f_low".to_owned(), float(floats.iter().copied().min_by(order)));
    out.insert("f_high".to_owned(), float(floats.iter().copied().max_by(order)));
    Value::Object(out)
}

fn sum_of_decimals(hundredths: &[i64]) -> Value {
    json!((!hundredths.is_empty()).then(|| decimal(hundredths.iter().sum())))
}

fn float(value: Option<f64>) -> Value {
    match value {
        Some(value) if value.is_nan() => json!("NaN"),
        Some(value) if value.is_infinite() => json!("Infinity"),
        Some(value) => json!(value + 0.0),
        None => Value::Null,
    }
}

/// Seconds since the epoch as text.
fn time(seconds: i64) -> Value {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let day = if days == 0 { "1970-01-01" } else { "1969-12-31" };
    json!(format!("{day}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60))
}

fn grouped(rows: Vec<&Row>, by: By, came: bool) -> Vec<Value> {
    let mut groups: BTreeMap<Key, Vec<&Row>> = BTreeMap::new();
    if by == By::Nothing && came {
        groups.insert((None, 0), Vec::new());
    }
    for row in rows {
        groups.entry(key(by, row)).or_default().push(row);
    }
    groups.iter().map(|(key, rows)| group(by, key, None, rows)).collect()
}

/// Of equal times the later to come.
fn last<'a, K: Ord>(arrivals: &[Arrival<'a>], key: impl Fn(&Row) -> K) -> Vec<&'a Row> {
    let mut last: BTreeMap<K, &Row> = BTreeMap::new();
    for Arrival { row, .. } in arrivals {
        let best = last.entry(key(row)).or_insert(row);
        if row.t >= best.t {
            *best = row;
        }
    }
    last.into_values().collect()
}

fn all_windows(window: Window) -> Vec<(i64, i64)> {
    let range = -200..400;
    match window {
        Window::Tumbling(size, offset) => range.map(|n| (n * size + offset, (n + 1) * size + offset)).collect(),
        Window::Sliding(size, step) => range.map(|n| (n * step, n * step + size)).collect(),
        Window::Cumulative(max, step) => {
            range.flat_map(|n| (1..=max / step).map(move |count| (n * max, n * max + count * step))).collect()
        }
        Window::Session(_) => Vec::new(),
    }
}

/// Whether a window with this end is over, `allow` seconds ago or longer.
fn over_since(end: i64, allow: i64, watermark: i64) -> bool {
    (end + allow) * SECOND - 1 <= watermark
}

/// `at_end`: each window once, with all rows that it took.
fn windows(arrivals: &[Arrival<'_>], by: By, window: Window, allow: i64, at_end: bool) -> Vec<Value> {
    let mut out = Vec::new();
    for (start, end) in all_windows(window) {
        let mut contents: BTreeMap<Key, Vec<&Row>> = BTreeMap::new();
        let mut fired = false;
        for Arrival { row, watermark } in arrivals {
            if !at_end && !fired && over_since(end, 0, *watermark) {
                fired = true;
                out.extend(contents.iter().map(|(key, rows)| group(by, key, Some((start, end)), rows)));
            }
            if row.t < start || row.t >= end || over_since(end, allow, *watermark) {
                continue;
            }
            let key = key(by, row);
            contents.entry(key.clone()).or_default().push(row);
            // Within the allowed lateness the window comes out once more.
            if fired {
                out.push(group(by, &key, Some((start, end)), &contents[&key]));
            }
        }
        if !fired {
            out.extend(contents.iter().map(|(key, rows)| group(by, key, Some((start, end)), rows)));
        }
    }
    out
}

struct Session<'a> {
    start: i64,
    end: i64,
    fired: bool,
    rows: Vec<&'a Row>,
}

/// Sessions that are over come out; those that take no more rows go.
fn pass(open: &mut BTreeMap<Key, Vec<Session<'_>>>, by: By, allow: i64, watermark: i64, out: &mut Vec<Value>) {
    for (key, sessions) in open.iter_mut() {
        for session in sessions.iter_mut().filter(|session| !session.fired && over_since(session.end, 0, watermark)) {
            session.fired = true;
            out.push(group(by, key, Some((session.start, session.end)), &session.rows));
        }
        sessions.retain(|session| !over_since(session.end, allow, watermark));
    }
}

fn sessions(arrivals: &[Arrival<'_>], by: By, gap: i64, allow: i64) -> Vec<Value> {
    let mut open: BTreeMap<Key, Vec<Session<'_>>> = BTreeMap::new();
    let mut out = Vec::new();
    for Arrival { row, watermark } in arrivals {
        pass(&mut open, by, allow, *watermark, &mut out);
        let key = key(by, row);
        let sessions = open.entry(key.clone()).or_default();
        let touches = |session: &Session<'_>| session.start <= row.t + gap && row.t <= session.end;
        let start = sessions.iter().filter(|session| touches(session)).map(|session| session.start).fold(row.t, i64::min);
        let end = sessions.iter().filter(|session| touches(session)).map(|session| session.end).fold(row.t + gap, i64::max);
        if over_since(end, allow, *watermark) {
            continue;
        }
        let mut rows: Vec<&Row> =
            sessions.iter().filter(|session| touches(session)).flat_map(|session| session.rows.clone()).collect();
        rows.push(row);
        sessions.retain(|session| !touches(session));
        let fired = over_since(end, 0, *watermark);
        if fired {
            out.push(group(by, &key, Some((start, end)), &rows));
        }
        sessions.push(Session { start, end, fired, rows });
    }
    pass(&mut open, by, allow, i64::MAX, &mut out);
    out
}

/// The rows that are not late, in the order of time, by key.
fn in_order<'a>(arrivals: &[Arrival<'a>], by: By) -> Vec<Vec<&'a Row>> {
    let mut parts: BTreeMap<Key, Vec<&Row>> = BTreeMap::new();
    for arrival in arrivals.iter().filter(|arrival| arrival.row.t * SECOND > arrival.watermark) {
        parts.entry(key(by, arrival.row)).or_default().push(arrival.row);
    }
    let mut parts: Vec<_> = parts.into_values().collect();
    parts.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.t));
    parts
}

fn over(arrivals: &[Arrival<'_>], by: By, frame: Frame) -> Vec<Value> {
    let mut out = Vec::new();
    for rows in in_order(arrivals, by) {
        for (index, row) in rows.iter().enumerate() {
            let seen: Vec<&Row> = rows
                .iter()
                .enumerate()
                .filter(|(other, seen)| match frame {
                    Frame::All => seen.t <= row.t,
                    Frame::Rows(count) => *other <= index && other + count > index,
                    Frame::Time(length) => seen.t <= row.t && seen.t >= row.t - length,
                })
                .map(|(_, seen)| *seen)
                .collect();
            let values: Vec<i64> = seen.iter().filter_map(|row| row.v).collect();
            let mut kinds: Vec<&String> = seen.iter().filter_map(|row| row.k.as_ref()).collect();
            kinds.sort();
            kinds.dedup();
            let cents: Vec<i64> = seen.iter().filter(|row| row.v.is_some_and(|v| v > 0)).filter_map(|row| row.d).collect();
            out.push(json!({
                "id": row.id,
                "n": seen.len(),
                "total": (!values.is_empty()).then(|| values.iter().sum::<i64>()),
                "kinds": kinds.len(),
                "cents": sum_of_decimals(&cents),
            }));
        }
    }
    out
}

fn neighbours(arrivals: &[Arrival<'_>], by: By) -> Vec<Value> {
    let mut out = Vec::new();
    for rows in in_order(arrivals, by) {
        for (index, row) in rows.iter().enumerate() {
            out.push(json!({
                "id": row.id,
                "n": index + 1,
                "before": index.checked_sub(1).and_then(|before| rows[before].v),
                "second": index.checked_sub(2).map(|before| rows[before].id),
                "after": rows.get(index + 1).and_then(|after| after.v),
            }));
        }
    }
    out
}

fn top(arrivals: &[Arrival<'_>], count: usize) -> Vec<Value> {
    let mut parts: BTreeMap<Option<String>, Vec<&Row>> = BTreeMap::new();
    for arrival in arrivals {
        parts.entry(arrival.row.k.clone()).or_default().push(arrival.row);
    }
    let mut out = Vec::new();
    for (k, mut rows) in parts {
        // Null comes last.
        rows.sort_by_key(|row| (std::cmp::Reverse(row.v), row.id));
        out.extend(rows.iter().take(count).enumerate().map(|(index, row)| json!({ "k": k, "id": row.id, "n": index + 1 })));
    }
    out
}
