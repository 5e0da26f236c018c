//! An editor and the real `millstream lsp`, over its standard input and output.
#![cfg(feature = "lsp")]

use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support;

use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    requests: i32,
}

impl Editor {
    fn start() -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_millstream"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (to, from) = (server.stdin.take().expect("its input"), server.stdout.take().expect("its output"));
        Editor { server, to, from: BufReader::new(from), requests: 0 }
    }

    fn send(&mut self, message: Message) {
        message.write(&mut self.to).expect("it listens");
        self.to.flush().expect("it listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(Message::Notification(Notification::new(method.to_owned(), params)));
    }

    fn next(&mut self) -> Message {
        Message::read(&mut self.from).expect("a message of the protocol").expect("it goes on")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        self.send(Message::Request(Request::new(self.requests.into(), method.to_owned(), params)));
        loop {
            if let Message::Response(response) = self.next() {
                return response.response_result.unwrap_or_else(|error| panic!("{method}: {error:?}"));
            }
        }
    }

    /// What is shown next of a file.
    fn shown(&mut self, uri: &str) -> Vec<Value> {
        loop {
            match self.next() {
                Message::Notification(found)
                    if found.method == "textDocument/publishDiagnostics" && found.params["uri"] == uri =>
                {
                    return found.params["diagnostics"].as_array().expect("a list").clone();
                }
                _ => {}
            }
        }
    }
}

/// The place of a word: its line, and its column, counted as editors do.
fn position(text: &str, at: usize) -> Value {
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    json!({ "line": line, "character": text[start..at].encode_utf16().count() })
}

#[test]
fn a_pipeline_with_a_connector_of_its_own_is_edited() {
    let path = support::root().join("examples/connector/pipelines/devices.flow").canonicalize().expect("the example");
    let uri = format!("file://{}", path.display());
    let good = std::fs::read_to_string(&path).expect("the example");
    let wrong = good.replace("wait: 5s", "wiat: 5s");
    let mut editor = Editor::start();
    let about = editor.ask("initialize", json!({ "capabilities": {} }));
    assert_eq!(about["serverInfo"]["name"], "millstream");
    editor.tell("initialized", json!({}));

    // A mistake in an option whose struct is in Rust, not saved anywhere.
    let document = json!({ "uri": uri, "languageId": "flow", "version": 1, "text": wrong });
    editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
    let found = editor.shown(&uri);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"]["start"], position(&wrong, wrong.find("wiat").expect("the mistake")));
    assert!(found[0]["message"].as_str().expect("a message").contains("did you mean `wait`?"), "{found:?}");

    // It is mended, still unsaved.
    let document = json!({ "uri": uri, "version": 2 });
    editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": good }] }));
    assert_eq!(editor.shown(&uri), [] as [Value; 0]);

    // An option is begun, in a line that is not whole.
    let begun = good.replace(", wait: 5s, rows: 500, drain: drain }", ", ");
    assert_ne!(begun, good);
    let document = json!({ "uri": uri, "version": 3 });
    editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": begun }] }));
    let at = position(&begun, begun.find("url: service, ").expect("the option") + "url: service, ".len());
    let offers = editor.ask("textDocument/completion", json!({ "textDocument": { "uri": uri }, "position": at }));
    let offers = offers.as_array().expect("a list");
    let labels: Vec<&str> = offers.iter().map(|offer| offer["label"].as_str().expect("a label")).collect();
    assert_eq!(labels, ["wait", "rows", "drain", "since", "until", "format"]);
    assert_eq!(offers[0]["detail"], "duration = 30s");
    assert_eq!(offers[0]["textEdit"]["newText"], "wait: ");

    // The doc comment of the struct's field, and where it is.
    let document = json!({ "uri": uri, "version": 4 });
    editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": good }] }));
    let place =
        json!({ "textDocument": { "uri": uri }, "position": position(&good, good.find("wait: 5s").expect("the option")) });
    let hover = editor.ask("textDocument/hover", place.clone());
    let shown = hover["contents"]["value"].as_str().expect("Markdown");
    assert!(shown.contains("How long the service may wait for rows before it says that there are none."), "{shown}");
    let definition = editor.ask("textDocument/definition", place);
    assert!(definition["uri"].as_str().expect("a file").ends_with("examples/connector/src/feed.rs"), "{definition}");

    // The style.
    let untidy = good.replace("param drain: bool = false", "param drain:bool=false");
    let document = json!({ "uri": uri, "version": 5 });
    editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": untidy }] }));
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let edits = editor.ask("textDocument/formatting", json!({ "textDocument": { "uri": uri }, "options": options }));
    assert_eq!(edits[0]["newText"], "param drain: bool = false\n", "{edits}");

    editor.ask("shutdown", Value::Null);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.server.wait().expect("it ends").code(), Some(0));
}

#[test]
fn an_editor_that_goes_without_a_word_ends_the_server() {
    let mut editor = Editor::start();
    editor.ask("initialize", json!({ "capabilities": {} }));
    editor.tell("initialized", json!({}));
    let Editor { mut server, to, from, .. } = editor;
    drop(to);
    drop(from);
    assert_eq!(server.wait().expect("it ends").code(), Some(1));
}
