//! The server over a connection in memory: what the editor sends, and what it gets.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, Response};
use millstream_compiler::ide::Analysis;
use millstream_compiler::session::{Loader, OpenError};
use serde_json::{Value, json};

use super::convert;
use super::server::{Analyse, Server};

/// An editor with one server, and a folder of its own.
struct Editor {
    connection: Connection,
    server: JoinHandle<Result<(), String>>,
    folder: tempfile::TempDir,
    requests: i32,
}

/// Nothing takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

impl Editor {
    fn start(analyse: Analyse) -> Editor {
        let (server, connection) = Connection::memory();
        let server = std::thread::spawn(move || Server::serve(server, analyse));
        let mut editor = Editor { connection, server, folder: tempfile::tempdir().unwrap(), requests: 0 };
        let about = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(about["capabilities"]["positionEncoding"], "utf-16");
        editor.tell("initialized", json!({}));
        editor
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn uri(&self, name: &str) -> String {
        convert::uri(&self.path(name).to_string_lossy()).unwrap().as_str().to_owned()
    }

    fn tell(&self, method: &str, params: Value) {
        self.connection.sender.send(Message::Notification(Notification::new(method.to_owned(), params))).unwrap();
    }

    fn open(&self, name: &str, text: &str) {
        let document = json!({ "uri": self.uri(name), "languageId": "flow", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&self, name: &str, version: i32, change: Value) {
        let document = json!({ "uri": self.uri(name), "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    fn next(&self) -> Message {
        self.connection.receiver.recv_timeout(PATIENCE).expect("a message")
    }

    /// Sends a request and waits for its answer; what comes before it is let go.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params);
        response.response_result.unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    fn response(&mut self, method: &str, params: Value) -> Response {
        self.requests += 1;
        let request = Request::new(self.requests.into(), method.to_owned(), params);
        self.connection.sender.send(Message::Request(request)).unwrap();
        loop {
            if let Message::Response(response) = self.next() {
                return response;
            }
        }
    }

    fn notified(&self, method: &str) -> Value {
        loop {
            match self.next() {
                Message::Notification(found) if found.method == method => return found.params,
                _ => {}
            }
        }
    }

    /// The codes that are shown next of a file.
    fn shown(&self, name: &str) -> Vec<String> {
        let uri = self.uri(name);
        loop {
            let found = self.notified("textDocument/publishDiagnostics");
            if found["uri"] == uri {
                let list = found["diagnostics"].as_array().unwrap();
                return list.iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect();
            }
        }
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        let late = self.response("textDocument/hover", Value::Null);
        assert!(late.response_result.is_err());
        self.tell("exit", Value::Null);
        assert_eq!(self.server.join().unwrap(), Ok(()));
    }
}

const GOOD: &str = "record A { x: int64 }\nsource a: A from file { path: \"a\" }\nsink a | where x > 1 into stdout\n";

#[test]
fn mistakes_come_and_go_as_the_text_changes() {
    let editor = Editor::start(Analysis::of);
    editor.open("a.flow", &GOOD.replace("x >", "y >"));
    assert_eq!(editor.shown("a.flow"), ["E0202"]);
    // Line 2, behind `sink a | where `.
    let range = json!({ "start": { "line": 2, "character": 15 }, "end": { "line": 2, "character": 16 } });
    editor.change("a.flow", 2, json!({ "range": range, "text": "x" }));
    assert_eq!(editor.shown("a.flow"), [] as [&str; 0]);
    editor.change("a.flow", 3, json!({ "text": "sink b into stdout\n" }));
    assert_eq!(editor.shown("a.flow"), ["E0203"]);
    let document = json!({ "uri": editor.uri("a.flow") });
    editor.tell("textDocument/didClose", json!({ "textDocument": document }));
    assert_eq!(editor.shown("a.flow"), [] as [&str; 0]);
    editor.end();
}

#[test]
fn files_that_use_each_other_see_what_is_open() {
    let editor = Editor::start(Analysis::of);
    let used = "record A { x: int64 }\n";
    std::fs::write(editor.path("used.flow"), used).unwrap();
    editor.open("a.flow", &format!("use \"used.flow\"\n{}", GOOD.split_once('\n').unwrap().1));
    assert_eq!(editor.shown("a.flow"), [] as [&str; 0]);
    editor.open("used.flow", used);
    assert_eq!(editor.shown("used.flow"), [] as [&str; 0]);
    // Nobody has saved this.
    editor.change("used.flow", 2, json!({ "text": "record A { y: int64 }\n" }));
    loop {
        if editor.shown("a.flow") == ["E0202"] {
            break;
        }
    }
    editor.end();
}

#[test]
fn mistakes_in_files_that_are_not_open_are_shown_there() {
    let editor = Editor::start(Analysis::of);
    std::fs::write(editor.path("own.rs"), "#[function]\npub fn f(x: usize) -> i64 { 0 }\n").unwrap();
    editor.open("a.flow", &format!("use rust \"own.rs\"\n{GOOD}"));
    assert_eq!(editor.shown("own.rs"), ["E0802"]);
    // It is mended there, and saved.
    std::fs::write(editor.path("own.rs"), "#[function]\npub fn f(x: i64) -> i64 { 0 }\n").unwrap();
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": editor.uri("own.rs"), "type": 2 }] }));
    assert_eq!(editor.shown("own.rs"), [] as [&str; 0]);
    editor.end();
}

#[test]
fn fixes_are_offered() {
    let mut editor = Editor::start(Analysis::of);
    editor.open("a.flow", &GOOD.replace("x: int64", "amount: int64").replace("x >", "amout >"));
    let range = json!({ "start": { "line": 2, "character": 16 }, "end": { "line": 2, "character": 16 } });
    let document = json!({ "uri": editor.uri("a.flow") });
    let params = json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } });
    let actions = editor.ask("textDocument/codeAction", params);
    let uri = editor.uri("a.flow");
    assert_eq!(actions[0]["edit"]["changes"][uri][0]["newText"], "amount", "{actions}");
    assert_eq!(actions[0]["diagnostics"][0]["code"], "E0202");
    editor.end();
}

/// As if there were a bug.
fn fails_sometimes(path: &str, loader: &dyn Loader) -> Result<Analysis, OpenError> {
    let analysis = Analysis::of(path, loader)?;
    assert!(!analysis.text().contains("panic"), "this text is too hard");
    Ok(analysis)
}

#[test]
fn a_panic_is_told_and_the_server_goes_on() {
    let mut editor = Editor::start(fails_sometimes);
    editor.open("a.flow", "// panic\n");
    let told = editor.notified("window/showMessage");
    assert!(told["message"].as_str().unwrap().contains("this text is too hard"), "{told}");
    let at = json!({ "textDocument": { "uri": editor.uri("a.flow") }, "position": { "line": 0, "character": 1 } });
    assert_eq!(editor.ask("textDocument/hover", at), Value::Null);
    editor.change("a.flow", 2, json!({ "text": "sink b into stdout\n" }));
    assert_eq!(editor.shown("a.flow"), ["E0203"]);
    editor.end();
}

#[test]
fn what_is_not_known_is_refused() {
    let mut editor = Editor::start(Analysis::of);
    assert!(editor.response("textDocument/rename", json!({})).response_result.is_err());
    assert!(editor.response("textDocument/hover", json!({ "no": 1 })).response_result.is_err());
    editor.tell("textDocument/didChange", json!({ "nonsense": true }));
    assert!(editor.notified("window/logMessage")["message"].as_str().unwrap().contains("didChange"));
    editor.end();
}

#[test]
fn an_editor_that_just_goes_is_noticed() {
    let editor = Editor::start(Analysis::of);
    drop(editor.connection);
    assert!(editor.server.join().unwrap().unwrap_err().contains("without `shutdown`"));
}

/// How often the text of the next test has been looked at, and whether it may be.
static LOOKS: (Mutex<(usize, bool)>, Condvar) = (Mutex::new((0, false)), Condvar::new());

fn counts(path: &str, loader: &dyn Loader) -> Result<Analysis, OpenError> {
    let mut looks = LOOKS.0.lock().unwrap();
    looks.0 += 1;
    LOOKS.1.notify_all();
    while !looks.1 {
        looks = LOOKS.1.wait(looks).unwrap();
    }
    drop(looks);
    Analysis::of(path, loader)
}

#[test]
fn only_the_last_of_many_changes_is_looked_at() {
    let editor = Editor::start(counts);
    editor.open("a.flow", GOOD);
    let mut looks = LOOKS.0.lock().unwrap();
    while looks.0 == 0 {
        looks = LOOKS.1.wait(looks).unwrap();
    }
    drop(looks);
    // While it is being looked at, the user types on.
    for version in 2..40 {
        editor.change("a.flow", version, json!({ "text": format!("{GOOD}// {version}\n") }));
    }
    editor.change("a.flow", 40, json!({ "text": "sink b into stdout\n" }));
    let at = json!({ "textDocument": { "uri": editor.uri("a.flow") }, "position": { "line": 0, "character": 5 } });
    let hover = Request::new(7.into(), "textDocument/hover".to_owned(), at);
    editor.connection.sender.send(Message::Request(hover)).unwrap();
    editor.tell("$/cancelRequest", json!({ "id": 7 }));
    // When this has been taken, what stands before it has arrived.
    editor.tell("$/setTrace", json!({ "value": "off" }));
    LOOKS.0.lock().unwrap().1 = true;
    LOOKS.1.notify_all();
    let (mut cancelled, mut shown) = (false, Vec::new());
    while !cancelled || shown.len() < 2 {
        match editor.next() {
            Message::Response(response) => cancelled = response.response_result.unwrap_err().code == -32_800,
            Message::Notification(found) => shown.push(found.params["version"].clone()),
            Message::Request(_) => {}
        }
    }
    assert_eq!(shown, [1, 40]);
    editor.end();
    assert_eq!(LOOKS.0.lock().unwrap().0, 2);
}
