//! Files in memory, one of them with a cursor in it.

use millstream_compiler::ide::{Analysis, Completion, complete};
use millstream_compiler::session::{Library, Loader};

/// What all texts may use: a connector, a record, a function and an operator of the user's own.
pub const RUST: &str = r#"use millstream::prelude::*;

/// Asks a service for rows.
///
/// Each partition is a split.
#[derive(Clone, Debug, Connector)]
#[flow(replayable)]
pub struct Poll {
    /// Address of the service.
    pub url: String,
    /// How long the service may wait.
    #[flow(default = "30s")]
    pub wait: Duration,
    /// How it is asked.
    #[flow(words = "get, post", default = "get")]
    pub method: String,
}

impl SourceConnector for Poll {}

/// A reading of a device.
#[derive(Clone, Debug, Record)]
pub struct Reading {
    pub id: i64,
    /// Degrees Celsius.
    pub celsius: f64,
}

/// Degrees Fahrenheit.
#[function]
pub fn fahrenheit(celsius: f64) -> f64 {
    celsius * 1.8 + 32.0
}

/// Drops readings that jump.
#[derive(Clone, Debug)]
pub struct Smooth {
    /// The greatest jump.
    pub most: f64,
}

#[operator]
impl Process for Smooth {
    type Input = Reading;
    type Output = Reading;
    type State = ();

    fn process(&mut self, row: Self::Input, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.emit(row)
    }
}
"#;

/// The text of `main.flow`, beside `own.rs` and a library.
pub struct Files(pub String);

impl Loader for Files {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "main.flow" => Ok(self.0.clone().into_bytes()),
            "own.rs" | "/p/src/lib.rs" => Ok(RUST.as_bytes().to_vec()),
            "other.flow" => Ok(b"/// Of another file.\nrecord Other { a: int64 }\n".to_vec()),
            _ => Err("no such file".to_owned()),
        }
    }

    fn libraries(&self, _: &str) -> Result<Vec<Library>, String> {
        let [name, package, folder, root] = ["own", "own", "/p", "/p/src/lib.rs"].map(str::to_owned);
        Ok(vec![Library { name, package, folder, root, features: Vec::new() }])
    }
}

/// The text without its cursor, and where that is.
pub fn cursor(text: &str) -> (String, u32) {
    let at = text.find("$0").expect("a cursor");
    (text.replacen("$0", "", 1), at as u32)
}

/// What can be written at the cursor.
pub fn completions(text: &str) -> Vec<Completion> {
    let (text, at) = cursor(text);
    complete("main.flow", at, &Files(text)).list
}

pub fn analysis(text: &str) -> Analysis {
    Analysis::of("main.flow", &Files(text.to_owned())).expect("the file is there")
}

/// All of these can be written at the cursor, and none of the others.
#[track_caller]
pub fn offers(text: &str, wanted: &[&str], not: &[&str]) {
    let list = completions(text);
    let labels: Vec<&str> = list.iter().map(|offer| offer.label.as_str()).collect();
    let missing: Vec<_> = wanted.iter().filter(|wanted| !labels.contains(wanted)).collect();
    let wrong: Vec<_> = not.iter().filter(|not| labels.contains(not)).collect();
    let shown: Vec<_> = labels.iter().take(60).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "{text}\nmissing {missing:?}, wrong {wrong:?}, offered {shown:?}");
}

/// Exactly these can be written at the cursor, in this order.
#[track_caller]
pub fn offers_only(text: &str, wanted: &[&str]) {
    let list = completions(text);
    let labels: Vec<&str> = list.iter().map(|offer| offer.label.as_str()).collect();
    assert_eq!(labels, wanted, "{text}");
}
