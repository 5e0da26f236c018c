//! The state of an operator in Rust whose struct changes between runs: killed, changed, built, started again.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{assert_success, build, fresh_folder, signal, wait_for};

const FLOW: &str = r#"job counting { checkpoint: every 50ms to "checkpoints", parallelism: 1 }

use rust "count.rs"

source rows: Row from file { path: "in", format: json, watch: every 20ms }

stream counted = rows | process by name Count

sink counted into file { path: "out", format: json }
"#;

/// The Rust file with these fields of the state, and what is done with a row.
fn rust(fields: &str, says: &str) -> String {
    format!(
        "use millstream::prelude::*;\n\n\
         #[derive(Clone, Debug, Record)]\npub struct Row {{\n    pub name: String,\n    pub n: i64,\n}}\n\n\
         #[derive(Clone, Debug, Record)]\npub struct Counted {{\n    pub name: String,\n    pub n: i64,\n    pub said: String,\n}}\n\n\
         /// One of the values.\n#[derive(Clone, Debug, PartialEq, State)]\npub enum Mood {{\n    Calm,\n    Busy {{ since: i64 }},\n}}\n\n\
         #[derive(Clone, Debug, Default, State)]\npub struct Seen {{\n{fields}\n}}\n\n\
         pub struct Count;\n\n#[operator]\nimpl Process for Count {{\n    type Input = Row;\n    type Output = Counted;\n    type State = Seen;\n\n    \
         fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {{\n        let seen = cx.state();\n        \
         {says}\n        cx.emit(Counted {{ name: row.name, n: row.n, said }});\n        Ok(())\n    }}\n}}\n"
    )
}

/// Rows that appear in the watched folder at once: four names in turn.
fn drop_in(folder: &Path, numbers: std::ops::Range<i64>) {
    let text: String = numbers.clone().map(|n| format!("{{\"name\":\"n{}\",\"n\":{n}}}\n", n % 4)).collect();
    let hidden = folder.join(".arriving");
    std::fs::write(&hidden, text).expect("written");
    std::fs::rename(hidden, folder.join(format!("in/rows-{}.json", numbers.start))).expect("renamed");
}

/// What was said of each number, in order.
fn said(folder: &Path) -> Vec<(i64, String)> {
    let mut rows = Vec::new();
    for file in std::fs::read_dir(folder.join("out")).into_iter().flatten().map(|file| file.expect("a file").path()) {
        if file.extension().is_some_and(|extension| extension == "json") {
            for line in std::fs::read_to_string(&file).unwrap_or_default().lines() {
                let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
                rows.push((row["n"].as_i64().expect("a number"), row["said"].as_str().expect("a text").to_owned()));
            }
        }
    }
    rows.sort();
    rows
}

fn start(folder: &Path, rust: &str, args: &[&str]) -> Child {
    std::fs::write(folder.join("count.rs"), rust).expect("written");
    let binary = build(&folder.join("counting.flow"), folder);
    Command::new(binary).args(args).current_dir(folder).stderr(Stdio::piped()).spawn().expect("the pipeline starts")
}

#[test]
fn state_outlives_a_changed_struct_or_the_change_is_refused_by_name() {
    let folder = fresh_folder("state-evolution");
    std::fs::create_dir(folder.join("in")).expect("a folder");
    std::fs::write(folder.join("counting.flow"), FLOW).expect("written");

    let first = rust(
        "    count: u32,\n    gone: Vec<String>,\n    last: i64,\n    mood: Option<Mood>,",
        "seen.count += 1;\n        seen.gone.push(row.name.clone());\n        seen.last = row.n;\n        \
         seen.mood = Some(Mood::Busy { since: row.n });\n        let said = format!(\"{}\", seen.count);",
    );
    let mut job = start(&folder, &first, &[]);
    drop_in(&folder, 0..40);
    wait_for("the rows of the first version", || said(&folder).len() == 40);
    job.kill().expect("killed");
    job.wait().expect("dead");

    // Wider, gone, under another name, new ones that begin empty, and new ones that say what they are.
    let second = rust(
        "    count: u64,\n    #[flow(rename = \"last\")]\n    newest: i64,\n    mood: Option<Mood>,\n    note: Option<String>,\n    all: Vec<i64>,\n    #[flow(default)]\n    plain: i32,\n    #[flow(default = 0.5)]\n    weight: f64,",
        "seen.count += 1;\n        let mood = seen.mood.replace(Mood::Calm);\n        \
         let said = format!(\"{} after {} {:?} {:?} {} {}/{}\", seen.count, seen.newest, mood, seen.note, seen.all.len(), seen.plain, seen.weight);\n        \
         seen.newest = row.n;\n        seen.note = Some(\"noted\".to_owned());\n        seen.all.push(row.n);\n        seen.plain -= 1;\n        seen.weight += 1.0;",
    );
    let job = start(&folder, &second, &[]);
    drop_in(&folder, 40..48);
    wait_for("the rows of the second version", || said(&folder).len() >= 48);
    signal(&job, "TERM");
    assert_success(&job.wait_with_output().expect("the job ends"), "a job that is asked to stop");
    let mut expected: Vec<(i64, String)> = (0..40).map(|n| (n, format!("{}", n / 4 + 1))).collect();
    expected.extend((40..44).map(|n| (n, format!("11 after {} Some(Busy {{ since: {} }}) None 0 0/0.5", n - 4, n - 4))));
    expected.extend((44..48).map(|n| (n, format!("12 after {} Some(Calm) Some(\"noted\") 1 -1/1.5", n - 4))));
    assert_eq!(said(&folder), expected);

    // Another type, and a new field that has no empty value: refused, and nothing is lost.
    for (fields, field) in [
        (
            "    count: String,\n    #[flow(rename = \"last\")]\n    newest: i64,\n    mood: Option<Mood>,\n    note: Option<String>,\n    all: Vec<i64>,\n    #[flow(default)]\n    plain: i32,\n    #[flow(default = 0.5)]\n    weight: f64,",
            "count",
        ),
        (
            "    count: u64,\n    #[flow(rename = \"last\")]\n    newest: i64,\n    mood: Option<Mood>,\n    note: Option<String>,\n    all: Vec<i64>,\n    #[flow(default)]\n    plain: i32,\n    #[flow(default = 0.5)]\n    weight: f64,\n    extra: u64,",
            "extra",
        ),
    ] {
        let job = start(&folder, &rust(fields, "let said = format!(\"{seen:?}\");"), &[]);
        let output = job.wait_with_output().expect("the job ends");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains("keep the types as they were"), "{field}: {told}");
        assert_eq!(told.contains("`#[flow(default)]` on it would"), field == "extra", "{field}: {told}");
        assert!(told.contains("--drop-state counted/process/0") && told.contains(&format!("`state.{field}`")), "{field}: {told}");
    }

    let job = start(&folder, &second, &[]);
    drop_in(&folder, 48..52);
    wait_for("the rows after what was refused", || said(&folder).len() >= 52);
    signal(&job, "TERM");
    assert_success(&job.wait_with_output().expect("the job ends"), "a job that goes on");
    assert_eq!(said(&folder)[48], (48, "13 after 44 Some(Calm) Some(\"noted\") 2 -2/2.5".to_owned()));

    // What does not fit is given up by name, and the source goes on from where it was.
    let third = rust("    count: String,", "seen.count.push('x');\n        let said = seen.count.clone();");
    let job = start(&folder, &third, &["--drop-state", "counted/process/0"]);
    drop_in(&folder, 52..60);
    wait_for("the rows after state was dropped", || said(&folder).len() >= 60);
    signal(&job, "TERM");
    let output = job.wait_with_output().expect("the job ends");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("of `counted/process/0` in the checkpoint is dropped"), "{told}");
    let rows = said(&folder);
    assert_eq!((rows.len(), &rows[52].1[..], &rows[59].1[..]), (60, "x", "xx"), "{rows:?}");
}
