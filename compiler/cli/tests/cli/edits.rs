//! A pipeline that is edited between two runs: what leaves state what it was goes on, what does not is refused by name, and can be given up.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{Process, assert_success, build, fresh_folder, millstream, signal, wait_for};

/// The operators of which the second edit leaves nothing that fits.
const CHANGED: [&str; 8] = [
    "by_key/aggregate/0",
    "means/aggregate/0",
    "exact/aggregate/0",
    "minutes/aggregate/0",
    "frames/over/0",
    "gone/aggregate/0",
    "pairs/aggregate/0",
    "first/top/0",
];

const RECORD: &str = "record Row { k: string, k2: string, v: int64, w: int64, at: timestamp }\n";

fn source(name: &str) -> String {
    format!("source {name}: Row from file {{ path: \"{name}\", format: json, watch: every 20ms }} watermark at\n")
}

fn job() -> String {
    "job edits { checkpoint: every 50ms to \"checkpoints\", parallelism: 2 }\nparam out: string = \"out\"\n".to_owned()
}

/// The streams beside the one that is looked at: what of them is edited.
struct Others {
    mean: &'static str,
    amount: &'static str,
    window: &'static str,
    frame: &'static str,
    order: &'static str,
    pair: &'static str,
    moved: &'static str,
}

const BEFORE: Others = Others {
    mean: "sum",
    amount: "v",
    window: "tumbling(1h)",
    frame: "last 3 rows",
    order: "v",
    pair: "one: sum(v), two: sum(w)",
    moved: "one: sum(v) over (by k), two: sum(w) over (by k)",
};

fn others(Others { mean, amount, window, frame, order, pair, moved }: Others) -> String {
    format!(
        "stream means = rows | aggregate by k {{ k, n: {mean}(v) }}\nsink means into blackhole {{}}\n\
         stream exact = rows | aggregate by k {{ k, n: sum({amount}) }}\nsink exact into blackhole {{}}\n\
         stream minutes = rows | aggregate by k over {window} {{ k, n: sum(v) }}\nsink minutes into blackhole {{}}\n\
         stream frames = rows | select {{ k, n: count() over (by k, {frame}) }}\nsink frames into blackhole {{}}\n\
         stream first = rows | top 2 by {order} per k\nsink first into blackhole {{}}\n\
         stream pairs = rows | aggregate by k {{ k, {pair} }}\nsink pairs into blackhole {{}}\n\
         stream moved = rows | select {{ k, {moved} }}\nsink moved into blackhole {{}}\n"
    )
}

const GONE: &str = "stream gone = rows | aggregate by k { k, n: min(v) }\nsink gone into blackhole {}\n";
const SINK: &str = "sink by_key | changes into file { path: out, format: json }\n";

fn first() -> String {
    let by_key = "param least: int64 = 0\nstream by_key = rows | where v > least | aggregate by k { k, total: sum(v) }\n";
    let others = others(BEFORE);
    format!("{}{RECORD}{}{by_key}{SINK}{others}{GONE}", job(), source("rows"))
}

/// Comments, another name of a param and of a column on the way, another constant in a filter, a map before the sum, another order of
/// streams and of columns, a second source, and another number of key groups, which stays what it was.
fn innocent() -> String {
    let by_key = "// How much there is.\nparam lowest: int64 = -5\nstream by_key =\n    rows\n    | union more\n    | where v > lowest\n    \
                  | select { who: k, v: v * 1 } // As before.\n    | aggregate by who { k: who, total: sum(v) }\n";
    let moved = "two: sum(w) over (by k), one: sum(v) over (by k)";
    let others = others(Others { moved, ..BEFORE });
    let job = job().replace("parallelism: 2", "parallelism: 2, max_parallelism: 64");
    format!("{job}{GONE}{others}{SINK}{RECORD}{}{}{by_key}", source("more"), source("rows"))
}

/// Another key of the same type, another function, another type, another window, another frame, another order of rows, two sums
/// exchanged, and a stream less.
fn harmful() -> String {
    let by_key = "stream by_key = rows | where v > 0 | aggregate by k2 { k: k2, total: sum(v) }\n";
    let others = others(Others {
        mean: "avg",
        amount: "cast(v, decimal(20, 2))",
        window: "tumbling(2h)",
        frame: "last 5 rows",
        order: "w",
        pair: "one: sum(w), two: sum(v)",
        ..BEFORE
    });
    format!("{}{RECORD}{}{by_key}{SINK}{others}", job(), source("rows"))
}

/// Rows that appear at once.
fn drop_in(folder: &Path, source: &str, name: &str, rows: &[(&str, &str, i64)]) {
    let text: String = rows
        .iter()
        .map(|(k, k2, v)| format!("{{\"k\":\"{k}\",\"k2\":\"{k2}\",\"v\":{v},\"w\":{v}00,\"at\":\"2026-01-01T00:00:00Z\"}}\n"))
        .collect();
    let hidden = folder.join(source).join(".arriving");
    std::fs::write(&hidden, text).expect("written");
    std::fs::rename(hidden, folder.join(source).join(name)).expect("renamed");
}

/// The last total of a key that has come out.
fn total(folder: &Path, out: &str, key: &str) -> Option<i64> {
    let mut totals = Vec::new();
    for file in std::fs::read_dir(folder.join(out)).into_iter().flatten().map(|file| file.expect("a file").path()) {
        if file.extension().is_some_and(|extension| extension == "json") {
            for line in std::fs::read_to_string(&file).unwrap_or_default().lines() {
                let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
                if row["k"] == key && row["op"] != "update_before" {
                    totals.push(row["total"].as_i64().expect("a number"));
                }
            }
        }
    }
    totals.into_iter().max()
}

/// With the times of files: one that has changed is read anew.
fn copied(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp is there").success(), "{}", to.display());
}

fn start(binary: &Path, folder: &Path, args: &[&str]) -> Process {
    Process::start(Command::new(binary).args(args).current_dir(folder).stderr(Stdio::piped()))
}

/// Runs until this total has come out; gives what it said.
fn until(what: &str, binary: &Path, folder: &Path, args: &[&str], expected: i64) -> String {
    let out = args.windows(2).find(|args| args[0] == "--out").map_or("out", |args| args[1]);
    let mut job = start(binary, folder, args);
    wait_for(what, || total(folder, out, "a").is_some_and(|total| total >= expected));
    signal(job.child(), "TERM");
    let output = job.end();
    assert_success(&output, what);
    assert_eq!(total(folder, out, "a"), Some(expected), "{what}");
    told(&output)
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn state_goes_to_nobody_whose_it_is_not() {
    let folder = fresh_folder("edits");
    let built = |name: &str, text: &str| {
        let flow = folder.join(format!("{name}.flow"));
        std::fs::write(&flow, text).expect("written");
        build(&flow, &folder)
    };
    let origin = folder.join("origin");
    for name in ["rows", "more"] {
        std::fs::create_dir_all(origin.join(name)).expect("a folder");
    }
    let first = built("first", &first());
    drop_in(&origin, "rows", "1.json", &[("a", "z", 1), ("a", "z", 2)]);
    until("the first rows", &first, &origin, &[], 3);
    let copy = |name: &str| {
        let place = folder.join(format!("at-{name}"));
        copied(&origin, &place);
        place
    };

    let listed = millstream().args(["state", "ls", "checkpoints"]).current_dir(&origin).output().expect("millstream runs");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    assert!(listed.contains("kept by key `k`\n") && listed.contains("kept by key `k` over tumbling(1h)\n"), "{listed}");

    // What leaves the key the same data.
    let place = copy("innocent");
    drop_in(&place, "rows", "2.json", &[("a", "z", 10)]);
    let said = until("the rows after innocent edits", &built("innocent", &innocent()), &place, &[], 13);
    assert!(said.contains("its max_parallelism stays 128"), "{said}");
    let sums = millstream().args(["state", "show", "checkpoints", "moved/over/0"]).current_dir(&place).output().expect("it runs");
    let sums = String::from_utf8(sums.stdout).expect("UTF-8");
    assert!(sums.contains("total: { two: sum {"), "named by its column: {sums}");

    // Each by itself is refused, by its name, with the flag; all others are given up.
    let harmful = built("harmful", &harmful());
    let place = copy("harmful");
    let flags = |without: &str| -> Vec<&str> {
        let sink = ["--drop-state", "sink/gone/blackhole"];
        sink.into_iter().chain(CHANGED.iter().filter(|uid| **uid != without).flat_map(|uid| ["--drop-state", *uid])).collect()
    };
    for uid in CHANGED {
        let mut job = start(&harmful, &place, &flags(uid));
        wait_for(&format!("the refusal of {uid}"), || job.child().try_wait().expect("a process").is_some());
        let output = job.end();
        let told = told(&output);
        assert_eq!(output.status.code(), Some(1), "{uid}: {told}");
        let error = &told[told.find("failed: ").unwrap_or_else(|| panic!("no error: {told}"))..];
        assert!(error.contains(&format!("--drop-state {uid}")), "{uid}: {error}");
        assert!(CHANGED.iter().all(|other| *other == uid || !error.contains(other)), "{uid}: {error}");
        let says = match uid {
            "by_key/aggregate/0" => "its key was `k`, and is `k2` now",
            "minutes/aggregate/0" => "it was kept by `tumbling(1h)`, and is kept by `tumbling(2h)` now",
            "pairs/aggregate/0" => "its `one` was `sum(v)`, and is `sum(w)` now",
            "first/top/0" => "its `rows` was `top 2 by v`, and is `top 2 by w` now",
            "frames/over/0" => "it was kept by `last 3 rows`, and is kept by `last 5 rows` now",
            _ => "",
        };
        assert!(error.contains(says), "{uid}: {error}");
    }
    drop_in(&place, "rows", "2.json", &[("b", "a", 10)]);
    copied(&place, &folder.join("at-kept"));
    let told = until("the rows after state was dropped", &harmful, &place, &flags(""), 10);
    for uid in CHANGED {
        let lines: Vec<&str> =
            told.lines().filter(|line| line.contains("dropped") && line.contains(&format!("`{uid}`"))).collect();
        assert_eq!(lines.len(), 1, "{uid}: {told}");
        assert!(lines[0].contains("key groups"), "{uid}: {told}");
    }
    // A supervisor repeats its command: nothing is dropped any more.
    drop_in(&place, "rows", "3.json", &[("b", "a", 1)]);
    let again = until("the rows after the command was repeated", &harmful, &place, &flags(""), 11);
    assert!(!again.contains("dropped"), "{again}");

    // Whoever knows that the values are the same says so.
    let kept = ["by_key/aggregate/0", "pairs/aggregate/0"];
    let others = flags(kept[0]).chunks(2).filter(|flag| flag[1] != kept[1]).collect::<Vec<_>>().concat();
    let keep = [&["--keep-state", kept[0], "--keep-state", kept[1]][..], &others].concat();
    let told = until("the rows after state was kept", &harmful, &folder.join("at-kept"), &keep, 13);
    for uid in kept {
        assert!(told.contains(&format!("the state of `{uid}` is kept, as --keep-state says")), "{told}");
    }

    // Another place for the output: what was committed stays where it is, and the rest goes there.
    let place = copy("elsewhere");
    drop_in(&place, "rows", "2.json", &[("a", "z", 10)]);
    until("the rows at another place", &first, &place, &["--out", "elsewhere"], 13);
    assert_eq!(total(&place, "out", "a"), Some(3));
}

/// One pipeline is at its end, another is not: then the first gets a second source.
#[test]
fn rows_for_what_is_at_its_end_are_refused_by_name() {
    let folder = fresh_folder("edits-ended");
    let job = |rows: &str| {
        format!(
            "{}{RECORD}source done: Row from file {{ path: \"done\", format: json }} watermark at\n{}{}\
             stream all = {rows} | where v > 0\nsink all into file {{ path: \"all\", format: json }}\n\
             stream by_key = {rows} | where v > 0 | aggregate by k {{ k, total: sum(v) }}\n{SINK}\
             stream beside = rows | aggregate by k {{ k, n: count() }}\nsink beside | changes into file {{ path: \"beside\", format: json }}\n",
            job(),
            source("rows"),
            source("more")
        )
    };
    let built = |name: &str, rows: &str| {
        let flow = folder.join(format!("{name}.flow"));
        let more = "sink more into blackhole {}\n";
        std::fs::write(&flow, format!("{}{more}", job(rows))).expect("written");
        build(&flow, &folder)
    };
    let (first, edited) = (built("first", "done"), built("edited", "done | union more"));
    for name in ["rows", "more", "done"] {
        std::fs::create_dir_all(folder.join(name)).expect("a folder");
    }
    drop_in(&folder, "rows", "1.json", &[("x", "z", 1)]);
    drop_in(&folder, "done", "1.json", &[("a", "z", 1), ("a", "z", 2)]);
    until("the rows of what ends", &first, &folder, &[], 3);

    drop_in(&folder, "more", "2.json", &[("a", "z", 10)]);
    let refused = start(&edited, &folder, &[]).end();
    let said = told(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("`by_key/aggregate/0` had come to the end of its input") && said.contains("--fresh"), "{said}");
    assert!(said.contains("--drop-state by_key/aggregate/0") && !said.contains("`beside/") && !said.contains("`all/"), "{said}");
    assert_eq!(total(&folder, "out", "a"), Some(3));

    // It begins anew; what keeps nothing just goes on.
    let said = until("the rows behind the end", &edited, &folder, &["--drop-state", "by_key/aggregate/0"], 10);
    assert!(
        said.contains("the state of `by_key/aggregate/0` is dropped, as --drop-state says: it had come to the end"),
        "{said}"
    );
    let all = std::fs::read_dir(folder.join("all")).expect("a folder").map(|file| file.expect("a file").path());
    let rows = all.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let rows: usize = rows.map(|path| std::fs::read_to_string(path).expect("a file").lines().count()).sum();
    assert_eq!(rows, 3, "each row of both sources");
}
