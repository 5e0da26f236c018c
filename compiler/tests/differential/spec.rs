//! Small random pipelines: what they are, and how they are written in the language.

/// Random numbers that are the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: i64) -> i64 {
        (self.next() % bound.max(1) as u64) as i64
    }

    pub fn one_in(&mut self, chance: i64) -> bool {
        self.below(chance) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as i64) as usize].clone()
    }
}

/// One input row. Times are seconds.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: i64,
    pub k: Option<String>,
    pub v: Option<i64>,
    pub f: Option<f64>,
    /// Hundredths.
    pub d: Option<i64>,
    pub t: i64,
}

/// How late rows may come.
pub const DELAY: i64 = 5;

/// Rows roughly in order, some far behind; many equal times, keys and values.
pub fn rows(random: &mut Random) -> Vec<Row> {
    let mut now = random.below(40) - 60;
    (1..=30 + random.below(40))
        .map(|id| {
            now += random.pick(&[0, 0, 0, 1, 1, 2, 7]);
            let back = random.pick(&[0, 0, 0, 1, 3, 5, 6, 15]);
            let floats = [-2.5, -0.0, 0.0, 0.5, 1.0, f64::NAN, f64::INFINITY];
            Row {
                id,
                k: (!random.one_in(6)).then(|| random.pick(&["a", "b", "c"]).to_owned()),
                v: (!random.one_in(5)).then(|| random.below(9) - 3),
                f: (!random.one_in(5)).then(|| random.pick(&floats)),
                d: (!random.one_in(5)).then(|| random.below(1000) - 300),
                t: now - back,
            }
        })
        .collect()
}

/// The rows as the pipeline reads them.
pub fn json(rows: &[Row]) -> String {
    let float = |f: f64| if f.is_finite() { format!("{f:?}") } else { format!("\"{}\"", text_of(f)) };
    let or_null = |text: Option<String>| text.unwrap_or_else(|| "null".to_owned());
    rows.iter()
        .map(|row| {
            format!(
                "{{\"id\":{},\"k\":{},\"v\":{},\"f\":{},\"d\":{},\"t\":{}}}\n",
                row.id,
                or_null(row.k.as_ref().map(|k| format!("{k:?}"))),
                or_null(row.v.map(|v| v.to_string())),
                or_null(row.f.map(float)),
                or_null(row.d.map(|d| format!("\"{}\"", decimal(d)))),
                row.t,
            )
        })
        .collect()
}

fn text_of(f: f64) -> &'static str {
    if f.is_nan() { "NaN" } else { "Infinity" }
}

/// `-0.05`
pub fn decimal(hundredths: i64) -> String {
    format!("{}{}.{:02}", if hundredths < 0 { "-" } else { "" }, hundredths.abs() / 100, hundredths.abs() % 100)
}

/// What rows are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Nothing,
    K,
    KAndParity,
}

/// Sizes in seconds.
#[derive(Clone, Copy, Debug)]
pub enum Window {
    Tumbling(i64, i64),
    Sliding(i64, i64),
    Cumulative(i64, i64),
    Session(i64),
}

#[derive(Clone, Copy, Debug)]
pub enum Frame {
    All,
    Rows(usize),
    Time(i64),
}

/// The operator that is put to the test.
#[derive(Clone, Debug)]
pub enum Main {
    /// With the seconds that windows stay open for late rows.
    Windowed {
        by: By,
        window: Window,
        allow: i64,
    },
    /// The same with early results, at its end.
    Early {
        by: By,
        window: Window,
        allow: i64,
    },
    /// A table, at its end.
    Grouped {
        by: By,
    },
    /// The last row per key, then a table over that table.
    LastThenGrouped {
        by: By,
    },
    KeepFirst,
    KeepLast,
    Over {
        by: By,
        frame: Frame,
    },
    Neighbours {
        by: By,
    },
    Top {
        count: usize,
    },
    Distinct,
}

/// A pipeline.
#[derive(Clone, Debug)]
pub struct Spec {
    /// `where v > 1`
    pub above: Option<i64>,
    /// Whether rows without a `v` go as well.
    pub keep_null: bool,
    pub main: Main,
}

pub fn spec(random: &mut Random) -> Spec {
    let by = random.pick(&[By::Nothing, By::K, By::K, By::KAndParity]);
    let window = match random.below(4) {
        0 => Window::Tumbling(random.pick(&[5, 10]), random.pick(&[0, 0, 3])),
        1 => random.pick(&[Window::Sliding(10, 5), Window::Sliding(12, 4), Window::Sliding(20, 2)]),
        2 => Window::Cumulative(20, 5),
        _ => Window::Session(random.pick(&[2, 4])),
    };
    let main = match random.below(12) {
        0 if !matches!(window, Window::Session(_)) => Main::Early { by, window, allow: random.pick(&[0, 3, 20]) },
        0..=3 => Main::Windowed { by, window, allow: random.pick(&[0, 0, 3, 20]) },
        4 => Main::Grouped { by },
        5 => Main::LastThenGrouped { by },
        6 => random.pick(&[Main::KeepFirst, Main::KeepLast]),
        7 | 8 => Main::Over { by, frame: random.pick(&[Frame::All, Frame::Rows(3), Frame::Time(6)]) },
        9 => Main::Neighbours { by },
        10 => Main::Top { count: 1 + random.below(3) as usize },
        _ => Main::Distinct,
    };
    let above = random.one_in(2).then(|| random.below(4) - 2);
    Spec { above, keep_null: random.one_in(2), main }
}

impl By {
    fn clause(self) -> &'static str {
        match self {
            By::Nothing => "",
            By::K => " by k",
            By::KAndParity => " by (k, parity: id % 2)",
        }
    }

    fn columns(self) -> &'static str {
        match self {
            By::Nothing => "",
            By::K => "k, ",
            By::KAndParity => "k, parity, ",
        }
    }

    fn partition(self) -> &'static str {
        match self {
            By::Nothing => "",
            By::K => "by k, ",
            By::KAndParity => "by (k, id % 2), ",
        }
    }
}

const AGGREGATES: &str = "n: count(), n_v: count(v), kinds: count(distinct v), total: sum(v), low: min(v), mean: avg(v where v > 0), \
                          cents: sum(d), f_low: min(f) + 0.0, f_high: max(f) + 0.0";

impl Spec {
    /// The file.
    pub fn text(&self, name: &str) -> String {
        let mut text = format!(
            "job {name} {{ buffer_timeout: 0ms }}\nparam input: string = \"in\"\nparam out: string = \"out\"\n\
             record Row {{ id: int64, k: string?, v: int64?, f: float64?, d: decimal(8, 2)?, @unit(\"s\") t: timestamp }}\n\
             source rows: Row from file {{ path: input, format: json }} watermark t - 1d\n\
             stream timed = rows | rebalance | @parallelism(1) watermark t - {DELAY}s\n"
        );
        text.push_str("stream kept = timed\n");
        if let Some(above) = self.above {
            let null = if self.keep_null { " or v is null" } else { "" };
            text.push_str(&format!("    | @parallelism(1) where v > {above}{null}\n"));
        }
        text.push_str(&format!("sink kept | {} into file {{ path: out, format: json }}\n", self.operator()));
        text
    }

    fn operator(&self) -> String {
        match &self.main {
            Main::Windowed { by, window, allow } | Main::Early { by, window, allow } => {
                let (clause, columns) = (by.clause(), by.columns());
                let over = match window {
                    Window::Tumbling(size, 0) => format!("tumbling({size}s)"),
                    Window::Tumbling(size, offset) => format!("tumbling({size}s, offset: {offset}s)"),
                    Window::Sliding(size, step) => format!("sliding({size}s, {step}s)"),
                    Window::Cumulative(max, step) => format!("cumulative({max}s, {step}s)"),
                    Window::Session(gap) => format!("session({gap}s)"),
                };
                let late = if *allow > 0 { format!(" allow {allow}s late") } else { String::new() };
                let (every, end) = if matches!(self.main, Main::Early { .. }) { (" every 3s", " | final") } else { ("", "") };
                format!(
                    "aggregate{clause} over {over}{late}{every} {{ {columns}start: window.start, end: window.end, {AGGREGATES} }}{end}"
                )
            }
            Main::Grouped { by } => format!("aggregate{} {{ {}{AGGREGATES} }} | final", by.clause(), by.columns()),
            Main::LastThenGrouped { by } => {
                format!(
                    "dedup by (k, v) keep last | where id % 3 != 0 | aggregate{} {{ {}{AGGREGATES} }} | final",
                    by.clause(),
                    by.columns()
                )
            }
            Main::KeepFirst => "dedup by k keep first | select { id, k }".to_owned(),
            Main::KeepLast => "dedup by k keep last | select { id, k } | final".to_owned(),
            Main::Over { by, frame } => {
                let last = match frame {
                    Frame::All => String::new(),
                    Frame::Rows(count) => format!("last {count} rows"),
                    Frame::Time(length) => format!("last {length}s"),
                };
                let over = format!("over ({}{last})", by.partition()).replace(", )", ")");
                format!(
                    "select {{ id, n: count() {over}, total: sum(v) {over}, kinds: count(distinct k) {over}, cents: sum(d where v > 0) {over} }}"
                )
            }
            Main::Neighbours { by } => {
                let over = format!("over ({})", by.partition()).replace(", )", ")");
                format!(
                    "select {{ id, n: row_number() {over}, before: lag(v) {over}, second: lag(id, 2) {over}, after: lead(v) {over} }}"
                )
            }
            Main::Top { count } => format!("top {count} by v desc, id per k with rank as n | final | select {{ k, id, n }}"),
            Main::Distinct => "select { k, v } | distinct".to_owned(),
        }
    }
}
