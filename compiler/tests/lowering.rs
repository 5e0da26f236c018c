//! Lowering holds out: no text makes it panic or overflow the stack, and mistakes do not breed others.

use std::path::Path;

use millstream_compiler::diagnostics::Diagnostic;
use millstream_compiler::session::{Loader, Session};

struct Files<'a>(&'a Path, &'a str);

impl Loader for Files<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "main.flow" => Ok(self.1.as_bytes().to_vec()),
            other => std::fs::read(self.0.join(other)).map_err(|error| error.to_string()),
        }
    }
}

fn check(folder: &Path, text: &str) -> Vec<Diagnostic> {
    Session::open("main.flow", &Files(folder, text)).expect("the text is there").diagnostics().to_vec()
}

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All `.flow` files of the examples, with their folders.
fn examples() -> Vec<(std::path::PathBuf, String)> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(repository().join("examples")).expect("examples").flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|extension| extension == "flow") {
                found.push((folder.path(), std::fs::read_to_string(file.path()).expect("example")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn examples_have_no_mistakes() {
    for (folder, text) in examples() {
        let found = check(&folder, &text);
        assert!(found.is_empty(), "{}: {found:?}\n{text}", folder.display());
    }
}

/// Words are taken out, doubled, swapped and replaced by others, at random from a fixed seed.
#[test]
fn broken_texts_do_not_panic() {
    let mut random: u64 = 7;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    let examples = examples();
    let spare = [
        "null",
        "window",
        "$X",
        "(",
        "}",
        "..",
        "except",
        "0",
        "distinct",
        "count()",
        "by",
        "-",
        "\"x\"",
        "1d",
        "?",
        "[",
        "as",
        "late",
        "into",
        "final",
        "@x",
        "sum",
        "340282366920938463463374607431768211455",
        "decimal(38, 38)",
        "é",
    ];
    for (folder, text) in examples.iter().cycle().take(100) {
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '(', ')', ',', '.']).collect();
        for _ in 0..1 + next(3) {
            let at = next(words.len());
            match next(4) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[at]),
                2 => {
                    let other = next(words.len());
                    words.swap(at, other);
                }
                _ => words[at] = spare[next(spare.len())],
            }
        }
        check(folder, &words.concat());
    }
}

#[test]
fn depth_is_no_danger() {
    let folder = repository();
    let source = "source s: { a: int64, t: string, l: list<int64> } from file { path: \"x\" }\n";
    let nest =
        |open: &str, inner: &str, close: &str, times: usize| format!("{}{inner}{}", open.repeat(times), close.repeat(times));
    for times in [50, 190, 1_000] {
        for (expr, name) in [
            (nest("lower(", "t", ")", times), "calls"),
            (nest("not ", "true", "", times), "not"),
            (nest("-", "a", "", times), "minus"),
            (nest("[", "a", "]", times), "lists"),
            (nest("{ a: ", "a", " }", times), "records"),
            (nest("if a > 0 then a else ", "a", "", times), "else"),
            (nest("match a { 1 => 1, _ => ", "a", " }", times), "match"),
            (nest("(a + ", "a", ")", times), "sums"),
            (nest("a + ", "a", "", times), "long sums"),
            (nest("a > 0 and ", "true", "", times), "conditions"),
            (nest("f\"{", "a", "}\"", times.min(2)), "formats"),
        ] {
            let text = format!("{source}stream x = s | select {{ v: {expr} }}\nsink x into stdout {{}}\n");
            let found = check(&folder, &text);
            assert!(found.iter().all(|diagnostic| diagnostic.code.0 < "E0120"), "{name} x {times}: {found:?}");
        }
    }
}

/// A function that calls the next, and a stream that reads the next, many times.
#[test]
fn long_chains_of_definitions_are_fine() {
    let mut text = String::from("source s0: { a: int64 } from file { path: \"x\" }\nfn f0(x: int64) = x\n");
    for n in 1..400 {
        text.push_str(&format!("stream s{n} = s{} | where f{n}(a) > 0\nfn f{n}(x: int64) = f{}(x)\n", n - 1, n - 1));
    }
    text.push_str("sink s399 into stdout {}\n");
    let found = check(&repository(), &text);
    assert!(found.is_empty(), "{:?}", found.first());
}
