//! One state of a file and of all that it uses, ready to be asked.

use millstream_runtime::connectors::{self as catalog, ConnectorSpec};

use crate::diagnostics::Diagnostic;
use crate::hir::Facts;
use crate::session::{Loader, OpenError, Session};
use crate::source::{FileId, Span};
use crate::syntax::ast::{self, Item, ItemKind, Name, OnError, SettingValue, StageKind};

/// A file, parsed and typed, and what is known of the places in it.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub(super) session: Session,
    pub(super) facts: Facts,
}

impl Analysis {
    /// Looks at a file as `check` does, but for the plan.
    pub fn of(path: &str, loader: &dyn Loader) -> Result<Analysis, OpenError> {
        let (session, facts) = Session::open_with_facts(path, loader, Facts::default())?;
        Ok(Analysis { session, facts })
    }

    /// Plans the job, as `check` does, which takes as long as all before it. Says whether that has found something: a layout that cannot be.
    pub fn plan(&mut self) -> bool {
        let found = self.session.diagnostics().len();
        // A file without a sink is there for others to use: there is nothing to plan in it.
        if self.session.has_sink() {
            self.session.plan();
        }
        self.session.diagnostics().len() > found
    }

    /// The same for a place where a name is being written.
    pub(super) fn at(path: &str, loader: &dyn Loader, cursor: u32) -> Result<Analysis, OpenError> {
        let (session, facts) = Session::open_with_facts(path, loader, Facts::at(Some(cursor)))?;
        Ok(Analysis { session, facts })
    }

    /// The files, and what was found in them.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// All mistakes and warnings, in order of place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.session.diagnostics()
    }

    /// Diagnostics of the file that was opened with a fix, at a stretch of its text.
    pub fn fixes(&self, start: u32, end: u32) -> impl Iterator<Item = &Diagnostic> {
        let at = move |span: Span| span.file == FileId(0) && span.start <= end && start <= span.end;
        self.diagnostics().iter().filter(move |found| found.fix.is_some() && at(found.primary.span))
    }

    /// The tree of the file that was opened.
    pub(super) fn file(&self) -> Option<&ast::File> {
        self.session.files().first().map(|(_, file)| file)
    }

    /// The text of the file that was opened.
    pub fn text(&self) -> &str {
        self.session.sources().files().next().map_or("", |(_, file)| &file.text)
    }

    /// The items of all files, those that bindings in Rust files make included.
    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.session.files().iter().flat_map(|(_, file)| &file.items)
    }

    /// The connector of this name: the user's own, or a built-in one.
    pub(super) fn connector(&self, name: &str) -> Option<&'static ConnectorSpec> {
        let own = self.facts.connectors.iter().map(|(spec, _)| *spec).find(|spec| spec.name == name);
        own.or_else(|| catalog::find(name))
    }

    /// The item that defines a stream, and where its name stands. Of a clause that defines one (`late into x`), the item around it.
    pub(super) fn stream(&self, name: &str) -> Option<(&Item, Span)> {
        let whole = self.items().find_map(|item| {
            let own = match &item.kind {
                ItemKind::Source(source) => &source.name,
                ItemKind::Lookup(lookup) => &lookup.name,
                ItemKind::Stream(stream) => &stream.name,
                ItemKind::Error(Some(name)) => name,
                _ => return None,
            };
            (own.text == name).then_some((item, own.span))
        });
        whole.or_else(|| self.items().find_map(|item| clauses(item).find(|own| own.text == name).map(|own| (item, own.span))))
    }

    /// The item that defines something else by its name.
    pub(super) fn named(&self, name: &str, of: impl Fn(&ItemKind) -> Option<&Name>) -> Option<(&Item, Span)> {
        self.items().find_map(|item| {
            let own = of(&item.kind).filter(|own| own.text == name)?;
            Some((item, own.span))
        })
    }

    /// The text of any of the files.
    pub(super) fn text_of(&self, file: FileId) -> &str {
        let mut files = self.session.sources().files();
        files.find(|(id, _)| *id == file).map_or("", |(_, file)| &file.text)
    }
}

/// Names of streams that clauses in an item define.
fn clauses(item: &Item) -> impl Iterator<Item = &Name> {
    let mut names = Vec::new();
    match &item.kind {
        ItemKind::Job(job) => names.extend(job.settings.iter().filter_map(|setting| match &setting.value {
            SettingValue::Into(name) => Some(name),
            _ => None,
        })),
        ItemKind::Source(source) => {
            if let Some((OnError::Into(name), _)) = &source.on_error {
                names.push(name);
            }
        }
        _ => {}
    }
    let pipeline = match &item.kind {
        ItemKind::Stream(stream) => Some(&stream.pipeline),
        ItemKind::Sink(sink) => Some(&sink.pipeline),
        _ => None,
    };
    for stage in pipeline.into_iter().flat_map(|pipeline| &pipeline.stages) {
        match &stage.kind {
            StageKind::Dedup { late_into, .. } => names.extend(late_into),
            StageKind::Aggregate(aggregate) => names.extend(&aggregate.late_into),
            StageKind::Top(top) => names.extend(&top.late_into),
            StageKind::Sort(sort) => names.extend(&sort.late_into),
            StageKind::Join(join) => names.extend(&join.late_into),
            StageKind::Process(process) => names.extend(process.sides.iter().map(|side| &side.into)),
            _ => {}
        }
    }
    names.into_iter()
}
