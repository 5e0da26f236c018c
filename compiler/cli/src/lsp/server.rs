//! The loop: messages in, answers and diagnostics out.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::mpsc;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{InitializeParams, LogMessageParams, MessageType, PublishDiagnosticsParams, ShowMessageParams, Uri};
use millstream_compiler::ide::Analysis;
use millstream_compiler::session::{Loader, OpenError, normal};
use serde_json::{Value, json};

use super::files::{Document, Files};
use super::publish::{self, Shown};
use super::{convert, panics};

/// How a file is looked at.
pub type Analyse = fn(&str, &dyn Loader) -> Result<Analysis, OpenError>;

/// A server and what it knows of its editor.
pub struct Server {
    send: Box<dyn Fn(Message)>,
    analyse: Analyse,
    pub(super) files: Files,
    /// Of open pipelines, by path.
    pub(super) analyses: HashMap<String, Analysis>,
    /// Open pipelines that have changed, or that use what has.
    changed: BTreeSet<String>,
    /// Those that are not planned yet: that is done when there is nothing else to do.
    unplanned: BTreeSet<String>,
    /// What is shown, by the pipeline that it comes from.
    shown: HashMap<String, Shown>,
    /// What the editor shows now, by path.
    told: Shown,
    /// The editor tells when files change on the disk, if it is asked to.
    watches: bool,
    shut_down: bool,
}

/// What the loop does next.
enum Next {
    Go,
    End,
}

impl Server {
    /// Serves one editor until it says `exit`. Err: it has gone without `shutdown`, or does not speak the protocol.
    pub fn serve(connection: Connection, analyse: Analyse) -> Result<(), String> {
        let (id, params) = connection.initialize_start().map_err(|error| error.to_string())?;
        let params: InitializeParams = serde_json::from_value(params).map_err(|error| format!("`initialize`: {error}"))?;
        let server = json!({
            "capabilities": capabilities(),
            "serverInfo": { "name": "millstream", "version": env!("CARGO_PKG_VERSION") },
        });
        connection.initialize_finish(id, server).map_err(|error| error.to_string())?;
        let Connection { sender, receiver } = connection;
        // The connection hands over one message at a time; here all that have come are at hand.
        let (forward, messages) = mpsc::channel();
        let forwarder = std::thread::Builder::new().name("lsp messages".to_owned());
        let forwards = move || receiver.into_iter().try_for_each(|message| forward.send(message));
        forwarder.spawn(forwards).map_err(|error| format!("no thread can be started: {error}"))?;
        let mut server = Server {
            send: Box::new(move |message| drop(sender.send(message))),
            analyse,
            files: Files::default(),
            analyses: HashMap::new(),
            changed: BTreeSet::new(),
            unplanned: BTreeSet::new(),
            shown: HashMap::new(),
            told: Shown::new(),
            watches: watches(&params),
            shut_down: false,
        };
        server.watch();
        server.run(&messages)
    }

    fn run(&mut self, messages: &mpsc::Receiver<Message>) -> Result<(), String> {
        let mut waiting: VecDeque<Message> = VecDeque::new();
        loop {
            waiting.extend(messages.try_iter());
            let message = match waiting.pop_front() {
                Some(message) => message,
                // Nothing has come: time to look at what has changed.
                None if self.look_at_next() || self.plan_next() => continue,
                None => match messages.recv() {
                    Ok(message) => message,
                    Err(_) => return Err("the editor has gone without `shutdown` and `exit`".to_owned()),
                },
            };
            let next = match message {
                Message::Request(request) if is_cancelled(&waiting, &request.id) => {
                    self.fail(request.id, CANCELLED, "the editor has taken it back".to_owned());
                    Next::Go
                }
                Message::Request(request) => self.request(request),
                Message::Notification(notification) => self.notification(notification),
                // To a registration.
                Message::Response(_) => Next::Go,
            };
            match next {
                Next::Go => {}
                Next::End if self.shut_down => return Ok(()),
                Next::End => return Err("the editor said `exit` without `shutdown`".to_owned()),
            }
        }
    }

    fn request(&mut self, request: Request) -> Next {
        let id = request.id.clone();
        if self.shut_down {
            self.fail(id, ErrorCode::InvalidRequest as i32, "the server is shut down".to_owned());
            return Next::Go;
        }
        if request.method == request::Shutdown::METHOD {
            self.shut_down = true;
            self.answer(id, Value::Null);
            return Next::Go;
        }
        let method = request.method.clone();
        match panics::caught(|| self.dispatch(request)) {
            Ok(Ok(value)) => self.answer(id, value),
            Ok(Err((code, reason))) => self.fail(id, code, reason),
            Err(panic) => {
                self.log(&format!("`{method}` has failed, which is a bug of millstream: {panic}"));
                self.fail(id, ErrorCode::InternalError as i32, panic);
            }
        }
        Next::Go
    }

    fn notification(&mut self, notification: Notification) -> Next {
        if notification.method == notification::Exit::METHOD {
            return Next::End;
        }
        let method = notification.method.clone();
        match panics::caught(|| self.take(notification)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.log(&format!("`{method}` cannot be read: {error}")),
            Err(panic) => self.log(&format!("`{method}` has failed, which is a bug of millstream: {panic}")),
        }
        Next::Go
    }

    /// Takes what the editor says.
    fn take(&mut self, notification: Notification) -> Result<(), serde_json::Error> {
        use notification::{
            DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
        };
        let params = notification.params;
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let opened = read::<DidOpenTextDocument>(params)?.text_document;
                let path = normal(&convert::path(&opened.uri));
                let flow = path.ends_with(".flow") || matches!(opened.language_id.as_str(), "flow" | "millstream");
                let text = opened.text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(opened.text);
                self.files.open.insert(path.clone(), Document { uri: opened.uri, version: opened.version, text, flow });
                self.changed_everywhere();
            }
            DidChangeTextDocument::METHOD => {
                let changed = read::<DidChangeTextDocument>(params)?;
                let path = normal(&convert::path(&changed.text_document.uri));
                if let Some(document) = self.files.open.get_mut(&path) {
                    document.change(changed.text_document.version, changed.content_changes);
                    self.changed_in(&path);
                }
            }
            DidCloseTextDocument::METHOD => {
                let path = normal(&convert::path(&read::<DidCloseTextDocument>(params)?.text_document.uri));
                self.files.open.remove(&path);
                self.analyses.remove(&path);
                self.changed.remove(&path);
                self.unplanned.remove(&path);
                self.shown.remove(&path);
                self.changed_everywhere();
                self.publish(&path);
            }
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => self.changed_everywhere(),
            _ => {}
        }
        Ok(())
    }

    /// A file has changed that any pipeline may use, or miss.
    fn changed_everywhere(&mut self) {
        self.changed.extend(self.files.open.iter().filter(|(_, document)| document.flow).map(|(path, _)| path.clone()));
    }

    /// The text of an open file has changed.
    fn changed_in(&mut self, path: &str) {
        let uses = |of: &str| match self.analyses.get(of) {
            Some(analysis) => analysis.session().sources().files().any(|(_, file)| normal(&file.path) == path),
            None => true,
        };
        let open = self.files.open.iter().filter(|(own, document)| document.flow && (*own == path || uses(own)));
        self.changed.extend(open.map(|(own, _)| own.clone()));
    }

    /// Looks at one of the pipelines that have changed; false: none has.
    fn look_at_next(&mut self) -> bool {
        let Some(path) = self.changed.pop_first() else { return false };
        self.look_at(&path);
        true
    }

    /// Plans one of the pipelines that have been looked at; false: there is none.
    fn plan_next(&mut self) -> bool {
        let Some(path) = self.unplanned.pop_first() else { return false };
        let Some(mut analysis) = self.analyses.remove(&path) else { return true };
        match panics::caught(move || (analysis.plan(), analysis)) {
            Ok((found, analysis)) => {
                if found {
                    self.shown.insert(path.clone(), publish::shown(&analysis, &self.files));
                }
                self.analyses.insert(path.clone(), analysis);
                if found {
                    self.publish(&path);
                }
            }
            Err(panic) => self.fell(&path, &panic),
        }
        true
    }

    /// What is known of a pipeline as it is now.
    pub(super) fn current(&mut self, path: &str) -> Option<&Analysis> {
        if self.changed.remove(path) {
            self.look_at(path);
        }
        self.analyses.get(path)
    }

    fn look_at(&mut self, path: &str) {
        let analysed = panics::caught(|| (self.analyse)(path, &self.files));
        match analysed {
            Ok(Ok(analysis)) => {
                self.shown.insert(path.to_owned(), publish::shown(&analysis, &self.files));
                self.analyses.insert(path.to_owned(), analysis);
                self.unplanned.insert(path.to_owned());
                self.publish(path);
            }
            Ok(Err(error)) => self.log(&error.to_string()),
            Err(panic) => self.fell(path, &panic),
        }
    }

    /// Tells of a pipeline that made the compiler panic. What was known fits its text no longer; what is shown stays until it can be
    /// looked at again.
    fn fell(&mut self, path: &str, panic: &str) {
        self.analyses.remove(path);
        let text = format!("{path} cannot be looked at, which is a bug of millstream: {panic}");
        self.log(&text);
        self.notify::<notification::ShowMessage>(ShowMessageParams { typ: MessageType::ERROR, message: text });
    }

    /// Shows what has been found, and no longer what is gone. Of the file that was looked at it is said in any case: the editor waits.
    fn publish(&mut self, looked_at: &str) {
        let mut all: Shown = self.told.keys().map(|path| (path.clone(), Vec::new())).collect();
        for (root, shown) in &self.shown {
            for (path, list) in shown {
                // An open pipeline speaks for itself.
                if path != root && self.shown.contains_key(path) {
                    continue;
                }
                let known = all.entry(path.clone()).or_default();
                let new: Vec<_> = list.iter().filter(|found| !known.contains(found)).cloned().collect();
                known.extend(new);
            }
        }
        all.retain(|path, found| path == looked_at || self.told.get(path).map_or(&[][..], Vec::as_slice) != found.as_slice());
        for (path, diagnostics) in all {
            let open = self.files.open.get(&path);
            let version = open.map(|document| document.version);
            if let Some(uri) = open.map(|document| document.uri.clone()).or_else(|| convert::uri(&path)) {
                let diagnostics = diagnostics.clone();
                self.notify::<notification::PublishDiagnostics>(PublishDiagnosticsParams { uri, diagnostics, version });
            }
            match diagnostics.is_empty() {
                true => self.told.remove(&path),
                false => self.told.insert(path, diagnostics),
            };
        }
    }

    /// Asks to be told of files that change on the disk.
    fn watch(&self) {
        if !self.watches {
            return;
        }
        let watchers: Vec<Value> = ["**/*.flow", "**/*.rs", "**/Cargo.toml", "**/Cargo.lock"]
            .iter()
            .map(|pattern| json!({ "globPattern": pattern }))
            .collect();
        let method = notification::DidChangeWatchedFiles::METHOD;
        let registration = json!({ "id": "files", "method": method, "registerOptions": { "watchers": watchers } });
        let params = json!({ "registrations": [registration] });
        let request = Request::new(RequestId::from("watch".to_owned()), request::RegisterCapability::METHOD.to_owned(), params);
        (self.send)(Message::Request(request));
    }

    /// The document of a request, with its path. None: it is not open, or no pipeline.
    pub(super) fn document(&self, uri: &Uri) -> Option<(String, &Document)> {
        let path = normal(&convert::path(uri));
        let document = self.files.open.get(&path).filter(|document| document.flow)?;
        Some((path, document))
    }

    fn notify<N: notification::Notification>(&self, params: N::Params) {
        (self.send)(Message::Notification(Notification::new(N::METHOD.to_owned(), params)));
    }

    fn log(&self, text: &str) {
        eprintln!("{text}");
        self.notify::<notification::LogMessage>(LogMessageParams { typ: MessageType::ERROR, message: text.to_owned() });
    }

    fn answer(&self, id: RequestId, value: Value) {
        (self.send)(Message::Response(Response::new_ok(id, value)));
    }

    fn fail(&self, id: RequestId, code: i32, reason: String) {
        (self.send)(Message::Response(Response::new_err(id, code, reason)));
    }
}

/// `RequestCancelled`
const CANCELLED: i32 = -32_800;

fn is_cancelled(waiting: &VecDeque<Message>, id: &RequestId) -> bool {
    waiting.iter().any(|message| match message {
        Message::Notification(notification) if notification.method == notification::Cancel::METHOD => {
            let cancelled = serde_json::from_value::<RequestId>(notification.params["id"].clone());
            cancelled.is_ok_and(|cancelled| cancelled == *id)
        }
        _ => false,
    })
}

fn read<N: notification::Notification>(params: Value) -> Result<N::Params, serde_json::Error> {
    serde_json::from_value(params)
}

fn watches(params: &InitializeParams) -> bool {
    let workspace = params.capabilities.workspace.as_ref();
    let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
    watched.and_then(|watched| watched.dynamic_registration).unwrap_or(false)
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2, "save": {} },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": [".", "|", ":", "{", "@"] },
        "definitionProvider": true,
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
    })
}
