//! The command as a user meets it: what it prints where, and how it exits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A fresh folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("millstream-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::write(self.0.join(name), text).unwrap();
        self
    }

    fn run(&self, args: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_millstream")).args(args).current_dir(&self.0).output().unwrap();
        Said::of(output)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Said {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

const GOOD: &str = r#"
job good { parallelism: 2, checkpoint: every 1s to "checkpoints" }
record Row { id: int64, name: string, at: timestamp }
source rows: Row from file { path: "rows.jsonl", format: json } watermark at - 1s
stream named = rows | where name != "" | select { id, name }
sink named into file { path: "out", format: json }
"#;

const BROKEN: &str = r#"
job broken {}
record Row { id: int64, name: strin }
source rows: Row from file { path: "rows.jsonl", format: json }
stream named = rows | where nam != "" | select { id, name }
sink name into file { path: "out", format: json }
"#;

#[test]
fn a_new_pipeline_is_good_and_explains_itself() {
    let folder = Folder::new("new");
    let said = folder.run(&["new", "my-pipeline"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("millstream run my_pipeline.flow"), "{said:?}");
    for file in ["my_pipeline.flow", "data/orders.csv", "README.md", ".gitignore"] {
        assert!(folder.0.join("my-pipeline").join(file).is_file(), "{file}");
    }
    let readme = fs::read_to_string(folder.0.join("my-pipeline/README.md")).unwrap();
    assert!(readme.contains("my_pipeline.flow") && !readme.contains("{{"), "{readme}");
    let said = folder.run(&["check", "my-pipeline/my_pipeline.flow"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let said = folder.run(&["explain", "my-pipeline/my_pipeline.flow"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("exactly once"), "{said:?}");
}

#[test]
fn new_leaves_existing_folders_alone() {
    let folder = Folder::new("exists");
    fs::create_dir(folder.0.join("there")).unwrap();
    let said = folder.run(&["new", "there"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("there already"), "{said:?}");
    assert_eq!(fs::read_dir(folder.0.join("there")).unwrap().count(), 0);
    assert_eq!(folder.run(&["new", "not a name"]).code, Some(1));
    assert!(!folder.0.join("not a name").exists());
}

#[test]
fn check_of_a_good_file_says_one_line() {
    let folder = Folder::new("good");
    let said = folder.write("good.flow", GOOD).run(&["check", "good.flow"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{said:?}");
    assert!(said.err.starts_with("good.flow: good: 1 source, 2 operators, 1 sink ("), "{said:?}");
    assert_eq!(said.err.lines().count(), 1);
}

#[test]
fn check_of_a_file_for_others_to_use_needs_no_sink() {
    let folder = Folder::new("library");
    let library = GOOD.replace("sink named into file { path: \"out\", format: json }", "").replace("job good", "job library");
    let said = folder
        .write("library.flow", library.lines().filter(|line| !line.starts_with("job")).collect::<Vec<_>>().join("\n"))
        .run(&["check", "library.flow"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("good: 1 source, 2 operators, 0 sinks"), "{said:?}");
    let said = folder.run(&["explain", "library.flow"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("E0703"), "{said:?}");
}

#[test]
fn check_shows_every_mistake_at_once() {
    let folder = Folder::new("broken");
    let said = folder.write("broken.flow", BROKEN).write("good.flow", GOOD).run(&["check", "good.flow", "broken.flow"]);
    assert_eq!(said.code, Some(1));
    for place in ["broken.flow:3:31", "broken.flow:5:29", "broken.flow:6:6", "3 errors", "good.flow: good"] {
        assert!(said.err.contains(place), "{place}: {}", said.err);
    }
    assert!(!said.err.contains('\x1b'), "no colours in a pipe");
    let said = folder.run(&["--color", "always", "check", "broken.flow"]);
    assert!(said.err.contains('\x1b'));
}

#[test]
fn check_speaks_json() {
    let folder = Folder::new("json");
    let said = folder.write("broken.flow", BROKEN).run(&["check", "--format", "json", "broken.flow"]);
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""));
    let diagnostics: Vec<serde_json::Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["E0205", "E0202", "E0203"]);
    assert_eq!(diagnostics[0]["primary"]["place"]["line"], 3);
}

#[test]
fn files_that_cannot_be_read_are_errors() {
    let folder = Folder::new("unreadable");
    let said = folder.run(&["check", "nothing.flow"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("cannot read nothing.flow: there is no such file"), "{said:?}");
    let said = folder.write("latin.flow", b"job x {}\n// gr\xf6\xdfe\n").run(&["check", "latin.flow"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("E0120") && said.err.contains("latin.flow:2:6"), "{said:?}");
    let said = folder.write("uses.flow", format!("use \"gone.flow\"\n{GOOD}")).run(&["check", "uses.flow"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("E0121"), "{said:?}");
}

#[test]
fn layouts_that_cannot_run_are_errors() {
    let folder = Folder::new("layout");
    let many = GOOD.replace("source rows", "@parallelism(1000)\nsource rows");
    let said = folder.write("many.flow", many).run(&["check", "many.flow"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("E0701"), "{said:?}");
}

#[test]
fn explain_shows_every_phase_and_form() {
    let folder = Folder::new("explain");
    folder.write("good.flow", GOOD);
    let shown = |args: &[&str]| {
        let said = folder.run(&[&["explain", "good.flow"], args].concat());
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{args:?}: {said:?}");
        said.out
    };
    assert!(shown(&[]).contains("rows -> named into file: exactly once"));
    let json: serde_json::Value = serde_json::from_str(&shown(&["--format", "json"])).unwrap();
    assert_eq!((&json["job"], &json["chains"][0]["parallelism"]), (&"good".into(), &2.into()));
    assert!(shown(&["--format", "dot"]).starts_with("digraph \"good\" {"));
    assert!(shown(&["--format", "mermaid"]).starts_with("flowchart LR\n"));
    for (phase, text) in [
        ("ast", "stream named"),
        ("hir", "named/where/0"),
        ("job", "[named/where/0]"),
        ("optimised", "[rows/source/0]"),
        ("execution", "chain rows"),
    ] {
        assert!(shown(&["--phase", phase]).contains(text), "{phase}");
    }
    assert!(shown(&["--passes"]).contains("prune_columns"));
}

/// Without an exchange there is nothing that could overtake a barrier.
#[test]
fn explain_says_where_rows_may_count_again() {
    let folder = Folder::new("at_least_once");
    let good = GOOD.replace("\"checkpoints\"", "\"checkpoints\" { mode: at_least_once }");
    let by_name = "stream names = rows | aggregate by name over tumbling(1m) { name, rows: count() }\nsink names into file { path: \"names\", \
                   format: json }\n";
    folder.write("good.flow", &(good + by_name));
    let said = folder.run(&["explain", "good.flow"]);
    assert!(said.out.contains("rows -> named into file: exactly once"), "{said:?}");
    assert!(said.out.contains("rows -> names into file: at least once"), "{said:?}");
    assert!(said.out.contains("`mode: at_least_once` lets them pass"), "{said:?}");
}

#[test]
fn explain_says_what_goes_to_every_task_and_where_late_rows_go() {
    let folder = Folder::new("broadcast");
    let join = "source names: { id: int64, label: string } from file { path: \"names.jsonl\", format: json }\n\
                stream labelled = rows | join names as n on id == n.id broadcast | select { id, label }\n\
                sink labelled into file { path: \"labelled\", format: json }\n\
                stream once = rows | dedup by id within 1m late into late_rows\n\
                sink once into file { path: \"once\", format: json }\nsink late_rows into file { path: \"late\", format: json }\n";
    folder.write("good.flow", GOOD.to_owned() + join);
    let said = folder.run(&["explain", "good.flow"]);
    assert!(said.out.contains("those of the right side in every task"), "{said:?}");
    assert!(said.out.contains("a late row that may repeat what is forgotten goes to `late_rows into file`"), "{said:?}");
    let said = folder.run(&["explain", "good.flow", "--format", "dot"]);
    assert!(said.out.contains("broadcast"), "{said:?}");
}

#[test]
fn explain_shows_pages_of_errors() {
    let folder = Folder::new("pages");
    let said = folder.run(&["explain", "e0701"]);
    assert_eq!(said.code, Some(0));
    assert!(said.out.starts_with("# E0701"), "{said:?}");
    let said = folder.run(&["explain", "E0799"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("there is no error E0799"), "{said:?}");
}

#[test]
fn wrong_usage_exits_with_2_and_help_has_examples() {
    let folder = Folder::new("usage");
    assert_eq!(folder.run(&["check"]).code, Some(2));
    assert_eq!(folder.run(&["chek", "x.flow"]).code, Some(2));
    for command in [&["--help"] as &[&str], &["new", "--help"], &["check", "--help"], &["explain", "--help"]] {
        let said = folder.run(command);
        assert_eq!(said.code, Some(0));
        assert!(said.out.contains("Examples:\n  millstream "), "{said:?}");
    }
}

/// The template lies in the repository as it is handed out.
#[test]
fn the_template_is_complete() {
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/basic");
    let orders = fs::read_to_string(template.join("data/orders.csv")).unwrap();
    assert!(orders.lines().count() > 20);
}

#[test]
fn fmt_rewrites_checks_and_filters() {
    let folder = Folder::new("fmt");
    folder.write("a.flow", "record R{a:int64}\n// kept\nstream broken = = r\n").write("b.flow", "record R { a: int64 }\n");
    let checked = folder.run(&["fmt", "--check", "."]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.err.contains("a.flow is not in the style") && !checked.err.contains("b.flow"), "{}", checked.err);
    assert_eq!(folder.run(&["fmt", "."]).code, Some(0));
    let text = fs::read_to_string(folder.0.join("a.flow")).unwrap();
    assert_eq!(text, "record R { a: int64 }\n// kept\nstream broken = = r\n");
    assert_eq!(folder.run(&["fmt", "--check", "a.flow", "b.flow"]).code, Some(0));
    assert_eq!(folder.run(&["fmt", "missing.flow"]).code, Some(1));
    assert_eq!(folder.run(&["fmt"]).code, Some(2));
}

/// A client of buckets is compiled where a text names a place in one, or the command line says so; for all others it would be a waste.
#[test]
fn only_pipelines_with_a_place_in_s3_get_its_client() {
    let folder = Folder::new("s3");
    folder.write("local.flow", GOOD);
    folder.write("checkpoints.flow", GOOD.replace("\"checkpoints\"", "\"s3://jobs/good\""));
    folder.write("sink.flow", GOOD.replace("\"out\"", "\"s3://lake/out\""));
    for (file, more, expected) in [
        ("local.flow", &[][..], false),
        ("checkpoints.flow", &[], true),
        ("sink.flow", &[], true),
        ("local.flow", &["--features", "s3"], true),
    ] {
        let said = folder.run(&[&["build", file, "--emit-only", "crate"], more].concat());
        assert_eq!(said.code, Some(0), "{said:?}");
        let manifest = fs::read_to_string(folder.0.join("crate/Cargo.toml")).unwrap();
        assert_eq!(manifest.contains("\"s3\""), expected, "{file} {more:?}: {manifest}");
    }
}

#[test]
fn a_channel_needs_a_program() {
    let folder = Folder::new("channel");
    let pipeline = "job echo {}\nrecord Row { id: int64 }\nsource rows: Row from channel {}\nsink rows into channel {}\n";
    folder.write("echo.flow", pipeline);
    let said = folder.run(&["build", "echo.flow"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(said.err.matches("error[E0907]").count(), 2, "{}", said.err);
    assert!(said.err.contains("echo.flow:3:23") && said.err.contains("include_flow!"), "{}", said.err);
    // What it does is to be seen all the same.
    assert_eq!(folder.run(&["check", "echo.flow"]).code, Some(0));
    let said = folder.run(&["explain", "echo.flow"]);
    assert_eq!(said.code, Some(0), "{said:?}");
}
