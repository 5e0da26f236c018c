//! One compilation from text to plan: loads a file and what it uses, runs the phases, keeps diagnostics.
//!
//! The command line, editors and macros all come through here. Reading is behind [`Loader`], so that phases do no IO.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::Path;

use millstream_runtime::graph::{ExecutionGraph, JobGraph, Operation, RustCrate};

use crate::diagnostics::{Diagnostic, Diagnostics, Severity, did_you_mean};
use crate::hir::{self, Facts, Program};
use crate::plan::{self, PassTrace};
use crate::rust::{self, ModuleFile, RustFile};
use crate::source::{FileId, SourceFile, SourceMap, Span};
use crate::syntax::{self, Remembered, ast};

/// Reads files. Paths are as the user named them, or relative to those.
pub trait Loader {
    /// The bytes of a file, or why they cannot be had.
    fn load(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Items of files that were read before: where files are read again and again, only what has changed is parsed.
    fn remembered(&self) -> Option<&Remembered> {
        None
    }

    /// The libraries that the package around a file has and depends on; or why there is none. Asked once for each folder.
    fn libraries(&self, file: &str) -> Result<Vec<Library>, String> {
        Err(format!("{file} is no file on a disk, beside which a package could be"))
    }
}

/// A library crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// As Rust calls it.
    pub name: String,
    pub package: String,
    /// The folder of its manifest, from the root of the disk.
    pub folder: String,
    /// The file that is its root.
    pub root: String,
    /// Its features that are on.
    pub features: Vec<String>,
}

/// The file that the user named cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    pub path: String,
    pub reason: String,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.path, self.reason)
    }
}

impl std::error::Error for OpenError {}

/// Whether a message about types is about a place that does not parse: one mistake, one message.
fn follows(found: &Diagnostic, broken: &[Span]) -> bool {
    let mut labels = std::iter::once(&found.primary).chain(&found.secondary);
    let overlap = |a: Span, b: Span| a.file == b.file && a.start < b.end && b.start < a.end;
    found.code.0.starts_with("E03") && labels.any(|label| broken.iter().any(|broken| overlap(label.span, *broken)))
}

/// A file with all that it uses, parsed and typed.
#[derive(Clone, Debug)]
pub struct Session {
    sources: SourceMap,
    files: Vec<(FileId, ast::File)>,
    rust: Vec<RustFile>,
    program: Program,
    diagnostics: Vec<Diagnostic>,
}

/// A job in its three forms, and how it came from one to the next.
#[derive(Clone, Debug)]
pub struct Planned {
    /// As written.
    pub built: JobGraph,
    /// After all passes.
    pub job: JobGraph,
    pub traces: Vec<PassTrace>,
    pub execution: ExecutionGraph,
}

impl Session {
    /// Loads, parses and types. Mistakes in the text are among the diagnostics.
    pub fn open(path: &str, loader: &dyn Loader) -> Result<Session, OpenError> {
        let (session, _) = Session::open_all(path, loader, None)?;
        Ok(session)
    }

    /// The same, with what an editor wants to know.
    pub fn open_with_facts(path: &str, loader: &dyn Loader, facts: Facts) -> Result<(Session, Facts), OpenError> {
        let (session, facts) = Session::open_all(path, loader, Some(facts))?;
        Ok((session, facts.unwrap_or_default()))
    }

    fn open_all(path: &str, loader: &dyn Loader, facts: Option<Facts>) -> Result<(Session, Option<Facts>), OpenError> {
        let bytes = loader.load(path).map_err(|reason| OpenError { path: path.to_owned(), reason })?;
        let mut loading = Loading {
            loader,
            sources: SourceMap::default(),
            files: Vec::new(),
            rust: Vec::new(),
            bound: Vec::new(),
            seen: HashMap::new(),
            libraries: HashMap::new(),
            diags: Diagnostics::default(),
            complete: true,
        };
        loading.file(normal(path), path.to_owned(), bytes);
        let Loading { sources, mut files, rust, bound, mut diags, complete, .. } = loading;
        files.extend(bound);
        let (program, found, facts) = match facts {
            Some(facts) => {
                let (program, found, facts) = hir::lower_with_facts(&sources, &files, &rust, facts);
                (program, found, Some(facts))
            }
            None => {
                let (program, found) = hir::lower(&sources, &files, &rust);
                (program, found, None)
            }
        };
        // Without a file its names are missing: what is unknown then is no mistake of the text.
        if complete {
            let broken: Vec<Span> = diags.iter().map(|diagnostic| diagnostic.primary.span).collect();
            diags.extend(found.into_sorted().into_iter().filter(|found| !follows(found, &broken)));
        }
        Ok((Session { sources, files, rust, program, diagnostics: diags.into_sorted() }, facts))
    }

    /// All files; the first is the one that was opened.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The syntax trees, in the order of the files.
    pub fn files(&self) -> &[(FileId, ast::File)] {
        &self.files
    }

    /// The Rust files that are used.
    pub fn rust(&self) -> &[RustFile] {
        &self.rust
    }

    /// What was found so far, in order of place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether something keeps the text from being planned.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The typed program: only of use without errors.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether rows go anywhere; a file without a sink is there for others to use.
    pub fn has_sink(&self) -> bool {
        self.program.nodes.iter().any(|node| matches!(node.operation, Operation::Sink(_)))
    }

    /// Plans the job. None if there are errors, which are then among the diagnostics: those of before, or what keeps the
    /// plan from running.
    pub fn plan(&mut self) -> Option<Planned> {
        if self.has_errors() {
            return None;
        }
        let built = plan::build(&self.program);
        let (job, traces) = plan::optimise(built.clone());
        match ExecutionGraph::expand(&job) {
            Ok(execution) => Some(Planned { built, job, traces, execution }),
            Err(errors) => {
                let job = self.job_name();
                self.diagnostics.extend(errors.iter().map(|error| plan::layout::diagnose(&self.sources, error, job)));
                None
            }
        }
    }
}

impl Session {
    /// Where the job's name stands; without a job, the start of the file.
    fn job_name(&self) -> Span {
        let mut items = self.files.iter().flat_map(|(_, file)| &file.items);
        let name = items.find_map(|item| match &item.kind {
            ast::ItemKind::Job(job) => Some(job.name.span),
            _ => None,
        });
        name.unwrap_or_default()
    }
}

struct Loading<'a> {
    loader: &'a dyn Loader,
    sources: SourceMap,
    files: Vec<(FileId, ast::File)>,
    rust: Vec<RustFile>,
    /// Items that stand in Rust files.
    bound: Vec<(FileId, ast::File)>,
    /// By normal path, so that files that use each other are loaded once.
    seen: HashMap<String, FileId>,
    /// What `use crate` finds, by the folder of the file that says it.
    libraries: HashMap<String, Result<Vec<Library>, String>>,
    diags: Diagnostics,
    /// All files could be read.
    complete: bool,
}

impl Loading<'_> {
    /// Loads a file and, after it, what it uses.
    fn file(&mut self, normal: String, path: String, bytes: Vec<u8>) {
        let mut open = vec![(normal, path, bytes)];
        while let Some((normal, path, bytes)) = open.pop() {
            if self.seen.contains_key(&normal) {
                continue;
            }
            let (id, file) = self.parse(path, bytes);
            self.seen.insert(normal, id);
            let mut used = self.used(id, &file);
            used.reverse();
            open.extend(used);
            self.files.push((id, file));
        }
    }

    /// A Rust file that becomes a module of the pipeline.
    fn rust(&mut self, normal: String, path: String, bytes: Vec<u8>, used: &ast::Use) {
        let Some((file, fruitful)) = self.read_rust(normal, path, bytes, &BTreeSet::new()) else { return };
        if !fruitful {
            self.diags.push(rust::nothing_annotated(used.path_span, &used.path, &file.private_modules));
        }
        self.rust.push(file);
    }

    /// Reads what a Rust file makes known, and says whether that is anything, or a mistake. None: it is no text (reported).
    fn read_rust(
        &mut self,
        normal: String,
        path: String,
        bytes: Vec<u8>,
        features: &BTreeSet<String>,
    ) -> Option<(RustFile, bool)> {
        let (id, text) = self.text(path, bytes).ok()?;
        self.seen.insert(normal, id);
        let (file, diagnostics) = rust::read(id, &text, features);
        let diagnostics = diagnostics.into_sorted();
        // What cannot be read may define anything.
        self.complete &= diagnostics.iter().all(|diagnostic| diagnostic.code.0 != "E0801");
        let fruitful = !diagnostics.is_empty() || !file.is_empty();
        self.diags.extend(diagnostics);
        // Its sources and sinks are items of the language.
        for binding in &file.bindings {
            let mut parse = syntax::parse(file.id, &binding.text);
            self.diags.extend(parse.diagnostics.into_sorted());
            binding.place_name(&mut parse.file);
            self.bound.push((file.id, parse.file));
        }
        Some((file, fruitful))
    }

    /// Reads what a crate makes known: its root, and the public modules below it.
    fn of_crate(&mut self, user: &str, used: &ast::Use) {
        let folder = user.rfind(['/', '\\']).map_or("", |end| &user[..end]);
        let libraries = self.libraries.entry(folder.to_owned()).or_insert_with(|| self.loader.libraries(user));
        let found = match libraries {
            Ok(libraries) => libraries.iter().find(|library| library.name == used.path).cloned().ok_or_else(|| {
                let near = did_you_mean(&used.path, libraries.iter().map(|library| library.name.as_str()));
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                format!("neither the package around this file nor anything that it depends on is a library of this name{near}")
            }),
            Err(reason) => Err(reason.clone()),
        };
        let root = found.and_then(|found| match self.loader.load(&found.root) {
            Ok(bytes) => Ok((found, bytes)),
            Err(reason) => Err(format!("its file {} cannot be read: {reason}", found.root)),
        });
        let (found, bytes) = match root {
            Ok(root) => root,
            Err(reason) => {
                self.complete = false;
                return self.diags.push(rust::no_crate(used.path_span, &used.path, &reason));
            }
        };
        let (mut any, mut private) = (false, Vec::new());
        let features: BTreeSet<String> = found.features.iter().cloned().collect();
        // Each with whether it owns its folder: modules below it lie beside it.
        let mut open = vec![(found.root, bytes, Vec::new(), true)];
        while let Some((path, bytes, within, owns)) = open.pop() {
            let normal = normal(&path);
            if self.seen.contains_key(&normal) {
                any = true;
                continue;
            }
            let Some((mut file, fruitful)) = self.read_rust(normal, path.clone(), bytes, &features) else { continue };
            any |= fruitful;
            for module in &file.modules {
                let below: Vec<String> = within.iter().chain(&module.module).cloned().collect();
                // rustc says of one that is missing.
                open.extend(self.module_file(&path, owns, module).map(|(path, bytes, owns)| (path, bytes, below, owns)));
            }
            private.append(&mut file.private_modules);
            let (name, package, folder) = (used.path.clone(), found.package.clone(), found.folder.clone());
            let features = found.features.clone();
            file.of_crate = Some(RustCrate { name, package, folder, features, within });
            self.rust.push(file);
        }
        if !any && self.complete {
            self.diags.push(rust::nothing_annotated(used.path_span, &used.path, &private));
        }
    }

    /// The file of `pub mod x;`, what stands in it, and whether it owns its folder. By the rules of rustc.
    fn module_file(&self, of: &str, owns: bool, module: &ModuleFile) -> Option<(String, Vec<u8>, bool)> {
        let (folder, name) = of.rfind(['/', '\\']).map_or(("", of), |end| (&of[..=end], &of[end + 1..]));
        let mut below = match name.strip_suffix(".rs") {
            Some(stem) if !owns => format!("{folder}{stem}/"),
            _ => folder.to_owned(),
        };
        module.folders.iter().for_each(|folder| below.push_str(&format!("{folder}/")));
        let name = module.module.last()?;
        let places = match &module.path {
            Some(path) if Path::new(path).is_absolute() => vec![(path.clone(), true)],
            // Within a module of the file it counts from there, else from the file.
            Some(path) if module.folders.is_empty() => vec![(format!("{folder}{path}"), true)],
            Some(path) => vec![(format!("{below}{path}"), true)],
            None => vec![(format!("{below}{name}.rs"), false), (format!("{below}{name}/mod.rs"), true)],
        };
        places.into_iter().find_map(|(path, owns)| self.loader.load(&path).ok().map(|bytes| (path, bytes, owns)))
    }

    fn parse(&mut self, path: String, bytes: Vec<u8>) -> (FileId, ast::File) {
        match self.text(path, bytes) {
            Ok((id, text)) => {
                let parse = syntax::parse_again(id, &text, self.loader.remembered());
                self.diags.extend(parse.diagnostics.into_sorted());
                (id, parse.file)
            }
            Err(id) => (id, ast::File::default()),
        }
    }

    /// Adds a file. Err: it is no text (reported).
    fn text(&mut self, path: String, bytes: Vec<u8>) -> Result<(FileId, String), FileId> {
        // A byte order mark is no part of the text.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").map(<[u8]>::to_vec).unwrap_or(bytes);
        match String::from_utf8(bytes) {
            Ok(text) => Ok((self.sources.add(SourceFile::new(path, text.as_str())), text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                self.complete = false;
                let id = self.sources.add(SourceFile::new(path, text.as_str()));
                self.diags.push(not_utf8(Span::new(id, at, at + char::REPLACEMENT_CHARACTER.len_utf8()), &text));
                Err(id)
            }
        }
    }

    /// The files that a file names by `use` and that are not loaded yet.
    fn used(&mut self, id: FileId, file: &ast::File) -> Vec<(String, String, Vec<u8>)> {
        let mut found = Vec::new();
        for item in &file.items {
            let ast::ItemKind::Use(used) = &item.kind else { continue };
            if used.kind == ast::UseKind::Crate {
                let user = self.sources.file(id).path.clone();
                self.of_crate(&user, used);
                continue;
            }
            let path = beside(&self.sources.file(id).path, &used.path);
            let normal = normal(&path);
            if self.seen.contains_key(&normal) {
                continue;
            }
            match self.loader.load(&path) {
                Ok(bytes) if used.kind == ast::UseKind::Rust => self.rust(normal, path, bytes, used),
                Ok(bytes) => found.push((normal, path, bytes)),
                Err(reason) => {
                    self.complete = false;
                    self.diags.push(cannot_use(used, &path, &reason));
                }
            }
        }
        found
    }
}

fn not_utf8(span: Span, text: &str) -> Diagnostic {
    let utf16 = text.starts_with("\u{FFFD}\u{FFFD}") || text.bytes().take(200).filter(|byte| *byte == 0).count() > 20;
    let diagnostic = Diagnostic::error("E0120", "this file is not UTF-8 text", span, "the first byte that is not UTF-8");
    match utf16 {
        true => diagnostic.with_help("it looks like UTF-16: save the file as UTF-8"),
        false => diagnostic.with_help("save the file as UTF-8 in your editor, or convert it: `iconv -f latin1 -t utf-8`"),
    }
}

fn cannot_use(used: &ast::Use, path: &str, reason: &str) -> Diagnostic {
    Diagnostic::error("E0121", format!("cannot read {path}"), used.path_span, reason.to_owned())
        .with_help("the path is relative to the file that uses it")
}

/// A path as written in a file, seen from where that file was seen from.
pub(crate) fn beside(file: &str, path: &str) -> String {
    match file.rfind(['/', '\\']) {
        Some(end) if !path.starts_with('/') => format!("{}{path}", &file[..=end]),
        _ => path.to_owned(),
    }
}

/// One spelling per file: without `.` and, where a name stands before it, without `..`.
pub fn normal(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files by path.
    struct Files(&'static [(&'static str, &'static [u8])]);

    impl Loader for Files {
        fn load(&self, path: &str) -> Result<Vec<u8>, String> {
            let found = self.0.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| text.to_vec()).ok_or_else(|| "no such file".to_owned())
        }
    }

    fn codes(session: &Session) -> Vec<&'static str> {
        session.diagnostics().iter().map(|diagnostic| diagnostic.code.0).collect()
    }

    #[test]
    fn used_files_are_found_beside_their_user_and_loaded_once() {
        let files = Files(&[
            ("a/main.flow", b"use \"lib/x.flow\"\nuse \"./lib/../lib/x.flow\"\n"),
            ("a/lib/x.flow", b"use \"../main.flow\"\nuse \"y.flow\"\n"),
            ("a/lib/y.flow", b"record R { a: int64 }\n"),
        ]);
        let session = Session::open("a/main.flow", &files).unwrap();
        let paths: Vec<_> = session.sources().files().map(|(_, file)| file.path.clone()).collect();
        assert_eq!(paths, ["a/main.flow", "a/lib/x.flow", "a/lib/y.flow"]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let session = Session::open("main.flow", &Files(&[("main.flow", b"\xEF\xBB\xBFrecord A { x: int64 }")])).unwrap();
        assert_eq!(session.files()[0].1.items.len(), 1);
        assert_eq!(session.sources().files().next().unwrap().1.text.chars().next(), Some('r'));
    }

    #[test]
    fn a_missing_file_makes_no_name_unknown() {
        let session = Session::open("main.flow", &Files(&[("main.flow", b"use \"gone.flow\"\nstream a = b\n")])).unwrap();
        assert_eq!(codes(&session), ["E0121"]);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let files = Files(&[("main.flow", b"use \"gone.flow\"\n"), ("bad.flow", b"job x {}\n// \xff\n")]);
        assert!(codes(&Session::open("main.flow", &files).unwrap()).contains(&"E0121"));
        let bad = Session::open("bad.flow", &files).unwrap();
        let diagnostic = bad.diagnostics().iter().find(|diagnostic| diagnostic.code.0 == "E0120").unwrap();
        assert_eq!(diagnostic.primary.span.start, 12);
        assert_eq!(Session::open("gone.flow", &files).unwrap_err().to_string(), "cannot read gone.flow: no such file");
    }

    /// A package with one library.
    struct Package(&'static [(&'static str, &'static [u8])]);

    impl Loader for Package {
        fn load(&self, path: &str) -> Result<Vec<u8>, String> {
            Files(self.0).load(path)
        }

        fn libraries(&self, _file: &str) -> Result<Vec<Library>, String> {
            let [name, package, folder, root] = ["my_functions", "my-functions", "/p", "/p/src/lib.rs"].map(str::to_owned);
            Ok(vec![Library { name, package, folder, root, features: Vec::new() }])
        }
    }

    #[test]
    fn of_a_crate_public_modules_are_read() {
        const HALF: &[u8] = b"#[function]\npub fn half(x: i64) -> i64 { x / 2 }\n";
        let open = |flow: &'static [u8], root: &'static [u8]| {
            let files = [("main.flow", flow), ("/p/src/lib.rs", root), ("/p/src/words.rs", HALF)];
            let session = Session::open("main.flow", &Package(Box::leak(Box::new(files)))).unwrap();
            let texts = session.diagnostics().iter().map(|found| format!("{found:?}")).collect::<String>();
            (codes(&session), texts)
        };
        const FLOW: &[u8] = b"use crate my_functions\nfn quarter(x: int64) = half(half(x))\n";
        assert_eq!(open(FLOW, b"pub mod words;").0, [] as [&str; 0]);
        let (codes, texts) = open(FLOW, b"mod words;\npub use words::half;");
        assert!(codes.contains(&"W0801") && texts.contains("write `pub mod words;`"), "{codes:?} {texts}");
        let (codes, texts) = open(b"use crate my_function", b"");
        assert!(codes == ["E0817"] && texts.contains("did you mean `my_functions`?"), "{codes:?} {texts}");
    }
}
