//! Random pipelines over two inputs: joins of streams and of tables that lose rows, in time and not, and set operations.
//! What they should make of their rows is computed in the plainest way: every row looks at every other.

use serde_json::{Value, json};

use crate::spec::{self, Random, Row};

/// One side of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Stream,
    /// The last row per key, some of which go again.
    Table,
}

/// How rows come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Always,
    /// Seconds before and behind.
    Within(i64, i64),
    AsOf,
}

#[derive(Clone, Debug)]
enum Main {
    Join {
        kind: &'static str,
        how: How,
        /// `and v <= o.v`
        condition: bool,
    },
    Set {
        word: &'static str,
        all: bool,
    },
}

/// A pipeline over two inputs.
#[derive(Clone, Debug)]
pub struct Pair {
    left: Side,
    right: Side,
    main: Main,
    /// Whether every task gets the whole right side.
    broadcast: bool,
}

/// No row is later than this.
const DELAY: i64 = 16;

const JOINS: [&str; 6] = ["join", "left join", "right join", "full join", "semi join", "anti join"];

/// So many seeds draw every kind: each join without a bound in time and within a range, two `as of`, two words of sets with `all`
/// and without.
pub const KINDS: u64 = 18;

impl Pair {
    /// One of all that there are. Kinds and sides come in turn, so that few pipelines show much.
    pub fn random(seed: u64) -> Pair {
        let random = &mut Random::new(seed ^ 0x70a1);
        let side = |table: bool| if table { Side::Table } else { Side::Stream };
        // Every further round gives each kind other sides.
        let turn = seed + seed / KINDS;
        let any = (side(turn & 1 != 0), side(turn & 2 != 0));
        let streams = (Side::Stream, Side::Stream);
        let kind = (seed % KINDS) as usize;
        let ((left, right), main) = match kind {
            0..6 => (any, Main::Join { kind: JOINS[kind], how: How::Always, condition: random.one_in(2) }),
            6..12 => {
                let how = How::Within(random.pick(&[-4, 0]), random.pick(&[0, 3]));
                (streams, Main::Join { kind: JOINS[kind - 6], how, condition: random.one_in(2) })
            }
            12 | 13 => (streams, Main::Join { kind: JOINS[kind - 12], how: How::AsOf, condition: false }),
            _ => (any, Main::Set { word: ["intersect", "except"][kind % 2], all: kind >= 16 }),
        };
        let may = matches!(&main, Main::Join { kind, .. } if !matches!(*kind, "right join" | "full join"));
        let broadcast = may && left == Side::Stream && turn.is_multiple_of(2);
        Pair { left, right, main, broadcast }
    }

    /// The file.
    pub fn text(&self, name: &str) -> String {
        let row = "{ id: int64, k: string?, v: int64?, f: float64?, d: decimal(8, 2)?, @unit(\"s\") t: timestamp }";
        let side = |side: Side| if side == Side::Table { " | dedup by (k, v) keep last | where id % 3 != 0" } else { "" };
        let (left, right) = (side(self.left), side(self.right));
        let end = if self.is_table() { " | final" } else { "" };
        let main = match &self.main {
            Main::Join { kind, how, condition } => {
                let condition = if *condition { " and v <= o.v" } else { "" };
                let time = match how {
                    How::Always => String::new(),
                    How::Within(from, to) => format!(" within {from}s..{to}s"),
                    How::AsOf => " as of t".to_owned(),
                };
                let broadcast = if self.broadcast { " broadcast" } else { "" };
                let columns = if self.gives_pairs() { "id, other: o.id" } else { "id" };
                format!(
                    "left_rows | {kind} right_rows as o on k == o.k{condition}{time}{broadcast} | select {{ {columns} }}{end}"
                )
            }
            Main::Set { word, all } => {
                let all = if *all { " all" } else { "" };
                format!("left_rows | select {{ k, v }} | {word}{all} others_plain{end}")
            }
        };
        let plain = match self.main {
            Main::Set { .. } => "stream others_plain = right_rows | select { k, v }\n",
            Main::Join { .. } => "",
        };
        format!(
            "job {name} {{ buffer_timeout: 0ms }}\nparam input: string = \"in\"\nparam other: string = \"in\"\nparam out: string = \"out\"\n\
             record Row {row}\n\
             source rows: Row from file {{ path: input, format: json }} watermark t - {DELAY}s\n\
             source others: Row from file {{ path: other, format: json }} watermark t - {DELAY}s\n\
             stream left_rows = rows{left}\nstream right_rows = others{right}\n{plain}\
             sink {main} into file {{ path: out, format: json }}\n"
        )
    }

    /// Whether rows that came out may go again.
    fn is_table(&self) -> bool {
        let table = self.left == Side::Table || self.right == Side::Table;
        match &self.main {
            Main::Join { kind, how: How::Always, .. } => table || !matches!(*kind, "join" | "semi join"),
            Main::Join { .. } => false,
            Main::Set { word, .. } => table || *word == "except",
        }
    }

    fn gives_pairs(&self) -> bool {
        !matches!(&self.main, Main::Join { kind: "semi join" | "anti join", .. })
    }

    /// The rows that come out, in any order.
    pub fn expected(&self, lefts: &[Row], rights: &[Row]) -> Vec<Value> {
        let (lefts, rights) = (of_side(self.left, lefts), of_side(self.right, rights));
        match &self.main {
            Main::Join { kind, how, condition } => {
                let meet = |left: &Row, right: &Row| {
                    let values = !condition || matches!((left.v, right.v), (Some(a), Some(b)) if a <= b);
                    let time = match how {
                        How::Always => true,
                        How::Within(from, to) => (*from..=*to).contains(&(right.t - left.t)),
                        How::AsOf => newest(&rights, left).is_some_and(|version| version.id == right.id),
                    };
                    left.k.is_some() && left.k == right.k && values && time
                };
                joined(kind, &lefts, &rights, meet)
            }
            Main::Set { word, all } => sets(&lefts, &rights, *word == "except", *all),
        }
    }
}

/// The rows that stand.
fn of_side(side: Side, rows: &[Row]) -> Vec<Row> {
    if side == Side::Stream {
        return rows.to_vec();
    }
    let mut last: Vec<&Row> = Vec::new();
    for row in rows {
        match last.iter_mut().find(|kept| (&kept.k, kept.v) == (&row.k, row.v)) {
            Some(kept) if row.t >= kept.t => *kept = row,
            Some(_) => {}
            None => last.push(row),
        }
    }
    last.into_iter().filter(|row| row.id % 3 != 0).cloned().collect()
}

/// The version that stood at a row's time: of equal times the last to come.
fn newest<'r>(versions: &'r [Row], row: &Row) -> Option<&'r Row> {
    versions.iter().filter(|version| version.k == row.k && version.t <= row.t).max_by_key(|version| version.t)
}

fn joined(kind: &str, lefts: &[Row], rights: &[Row], meet: impl Fn(&Row, &Row) -> bool) -> Vec<Value> {
    let mut out = Vec::new();
    for left in lefts {
        let partners: Vec<&Row> = rights.iter().filter(|right| meet(left, right)).collect();
        match kind {
            "semi join" if !partners.is_empty() => out.push(json!({ "id": left.id })),
            "anti join" if partners.is_empty() => out.push(json!({ "id": left.id })),
            "semi join" | "anti join" => {}
            _ => out.extend(partners.iter().map(|right| json!({ "id": left.id, "other": right.id }))),
        }
        if partners.is_empty() && matches!(kind, "left join" | "full join") {
            out.push(json!({ "id": left.id, "other": null }));
        }
    }
    if matches!(kind, "right join" | "full join") {
        let alone = rights.iter().filter(|right| !lefts.iter().any(|left| meet(left, right)));
        out.extend(alone.map(|right| json!({ "id": null, "other": right.id })));
    }
    out
}

fn sets(lefts: &[Row], rights: &[Row], except: bool, all: bool) -> Vec<Value> {
    let pair = |row: &Row| (row.k.clone(), row.v);
    let mut kinds: Vec<_> = lefts.iter().map(pair).collect();
    kinds.sort();
    kinds.dedup();
    let count = |rows: &[Row], kind: &(Option<String>, Option<i64>)| rows.iter().filter(|row| pair(row) == *kind).count();
    let mut out = Vec::new();
    for kind in kinds {
        let (here, there) = (count(lefts, &kind), count(rights, &kind));
        let times = match (except, all) {
            (true, true) => here.saturating_sub(there),
            (true, false) => usize::from(there == 0),
            (false, true) => here.min(there),
            (false, false) => usize::from(there > 0),
        };
        out.extend(std::iter::repeat_n(json!({ "k": kind.0, "v": kind.1 }), times));
    }
    out
}

/// The rows of both inputs.
pub fn inputs(seed: u64) -> [Vec<Row>; 2] {
    [seed, seed + 77].map(|seed| spec::rows(&mut Random::new(seed)))
}

/// The texts of the first seeds have every kind, and tables on either side and on both.
#[test]
fn the_first_seeds_draw_every_kind() {
    let texts: Vec<String> = (0..KINDS).map(|seed| Pair::random(seed).text("pair")).collect();
    let drawn = |what: &str, time: &str| {
        let is_it =
            |line: &str| line.contains(what) && (line.contains(" within ") || line.contains(" as of ")) != time.is_empty();
        let found = texts.iter().flat_map(|text| text.lines()).any(|line| is_it(line) && line.contains(time));
        assert!(found, "no seed draws `{what}` with `{time}`");
    };
    for join in JOINS {
        drawn(&format!("| {join} "), "");
        drawn(&format!("| {join} "), " within ");
    }
    for what in ["| intersect others_plain", "| intersect all ", "| except others_plain", "| except all "] {
        drawn(what, "");
    }
    drawn("| join ", " as of t");
    drawn("| left join ", " as of t");
    for time in ["", " within ", " as of t"] {
        let of_these = |line: &str| line.contains(" broadcast ") && line.contains(time);
        let bound = |line: &str| time.is_empty() && (line.contains(" within ") || line.contains(" as of "));
        let found = texts.iter().flat_map(|text| text.lines()).any(|line| of_these(line) && !bound(line));
        assert!(found, "no seed draws `broadcast` with `{time}`");
    }
    for sides in [(Side::Stream, Side::Table), (Side::Table, Side::Stream), (Side::Table, Side::Table)] {
        let of_these = |seed: u64| (Pair::random(seed).left, Pair::random(seed).right) == sides;
        assert!((0..KINDS).any(of_these), "no seed draws {sides:?}");
    }
}
