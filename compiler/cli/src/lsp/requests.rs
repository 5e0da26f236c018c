//! Requests, each with its answer from [`millstream_compiler::ide`].

use std::collections::HashMap;

use lsp_server::{ErrorCode, Request};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, Formatting, GotoDefinition, HoverRequest, Request as _,
};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CompletionItem, CompletionItemKind, CompletionParams,
    CompletionTextEdit, DocumentFormattingParams, DocumentSymbol, DocumentSymbolParams, Documentation, GotoDefinitionParams,
    HoverContents, HoverParams, Location, MarkupContent, MarkupKind, SymbolKind, TextDocumentPositionParams, TextEdit, Uri,
    WorkspaceEdit,
};
use millstream_compiler::ide::{self, CompletionKind};
use serde_json::Value;

use super::convert::Lines;
use super::publish::{self, Places};
use super::server::Server;

/// A code of the protocol, and why.
type Failure = (i32, String);

impl Server {
    /// Answers a request.
    pub(super) fn dispatch(&mut self, request: Request) -> Result<Value, Failure> {
        let method = request.method.clone();
        match method.as_str() {
            HoverRequest::METHOD => self.on(request, Server::hover),
            Completion::METHOD => self.on(request, Server::completion),
            GotoDefinition::METHOD => self.on(request, Server::definition),
            DocumentSymbolRequest::METHOD => self.on(request, Server::symbols),
            Formatting::METHOD => self.on(request, Server::formatting),
            CodeActionRequest::METHOD => self.on(request, Server::actions),
            _ => Err((ErrorCode::MethodNotFound as i32, format!("there is no `{method}`"))),
        }
    }

    fn on<P: serde::de::DeserializeOwned, R: serde::Serialize>(
        &mut self,
        request: Request,
        answer: impl FnOnce(&mut Server, P) -> Option<R>,
    ) -> Result<Value, Failure> {
        let wrong = |error: serde_json::Error| (ErrorCode::InvalidParams as i32, error.to_string());
        let params = serde_json::from_value(request.params).map_err(wrong)?;
        let answer = answer(self, params);
        serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError as i32, error.to_string()))
    }

    /// The path of a document, and a byte of it.
    fn place(&self, at: &TextDocumentPositionParams) -> Option<(String, u32)> {
        let (path, document) = self.document(&at.text_document.uri)?;
        Some((path, Lines::new(&document.text).offset(at.position)))
    }

    fn hover(&mut self, params: HoverParams) -> Option<lsp_types::Hover> {
        let (path, offset) = self.place(&params.text_document_position_params)?;
        let analysis = self.current(&path)?;
        let hover = analysis.hover(offset)?;
        let range = Lines::new(analysis.text()).range(hover.span.start, hover.span.end);
        Some(lsp_types::Hover { contents: HoverContents::Markup(markdown(hover.markdown)), range: Some(range) })
    }

    fn completion(&mut self, params: CompletionParams) -> Option<Vec<CompletionItem>> {
        let (path, offset) = self.place(&params.text_document_position)?;
        let found = ide::complete(&path, offset, &self.files);
        let (_, document) = self.document(&params.text_document_position.text_document.uri)?;
        let range = Lines::new(&document.text).range(found.start, offset);
        let items = found.list.into_iter().enumerate().map(|(place, offer)| CompletionItem {
            label: offer.label,
            kind: Some(completion_kind(offer.kind)),
            detail: (!offer.detail.is_empty()).then_some(offer.detail),
            documentation: (!offer.doc.is_empty()).then(|| Documentation::MarkupContent(markdown(offer.doc))),
            // Columns before functions, as they are given here.
            sort_text: Some(format!("{place:05}")),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: offer.insert })),
            ..CompletionItem::default()
        });
        Some(items.collect())
    }

    fn definition(&mut self, params: GotoDefinitionParams) -> Option<Location> {
        let (path, offset) = self.place(&params.text_document_position_params)?;
        self.current(&path)?;
        let analysis = self.analyses.get(&path)?;
        Places::new(analysis, &self.files).location(analysis.definition(offset)?)
    }

    fn symbols(&mut self, params: DocumentSymbolParams) -> Option<Vec<DocumentSymbol>> {
        let (_, document) = self.document(&params.text_document.uri)?;
        let lines = Lines::new(&document.text);
        Some(ide::symbols(&document.text).into_iter().map(|of| symbol(of, &lines)).collect())
    }

    fn formatting(&mut self, params: DocumentFormattingParams) -> Option<Vec<TextEdit>> {
        let (_, document) = self.document(&params.text_document.uri)?;
        let lines = Lines::new(&document.text);
        let edit = ide::format(&document.text);
        Some(edit.into_iter().map(|edit| TextEdit { range: lines.range(edit.start, edit.end), new_text: edit.text }).collect())
    }

    fn actions(&mut self, params: CodeActionParams) -> Option<Vec<CodeActionOrCommand>> {
        let (path, document) = self.document(&params.text_document.uri)?;
        let lines = Lines::new(&document.text);
        let (start, end) = (lines.offset(params.range.start), lines.offset(params.range.end));
        self.current(&path)?;
        let analysis = self.analyses.get(&path)?;
        let places = Places::new(analysis, &self.files);
        let actions = analysis.fixes(start, end).filter_map(|found| {
            let fix = found.fix.as_ref()?;
            let at = places.location(fix.span)?;
            let edit = TextEdit { range: at.range, new_text: fix.replacement.clone() };
            // The keys are texts: only the protocol's types make them look otherwise.
            #[allow(clippy::mutable_key_type)]
            let changes: HashMap<Uri, Vec<TextEdit>> = HashMap::from([(at.uri, vec![edit])]);
            Some(CodeActionOrCommand::CodeAction(CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: publish::diagnostic(found, &places).map(|found| vec![found]),
                edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
                is_preferred: Some(fix.safe),
                ..CodeAction::default()
            }))
        });
        Some(actions.collect())
    }
}

fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

fn completion_kind(kind: CompletionKind) -> CompletionItemKind {
    match kind {
        CompletionKind::Column => CompletionItemKind::FIELD,
        CompletionKind::Param => CompletionItemKind::VARIABLE,
        CompletionKind::Option => CompletionItemKind::PROPERTY,
        CompletionKind::Value => CompletionItemKind::ENUM_MEMBER,
        CompletionKind::Stream => CompletionItemKind::VARIABLE,
        CompletionKind::Connector => CompletionItemKind::MODULE,
        CompletionKind::Operator => CompletionItemKind::CLASS,
        CompletionKind::Type => CompletionItemKind::STRUCT,
        CompletionKind::Function => CompletionItemKind::FUNCTION,
        CompletionKind::Keyword => CompletionItemKind::KEYWORD,
    }
}

fn symbol(of: ide::Symbol, lines: &Lines<'_>) -> DocumentSymbol {
    let kind = match of.kind {
        ide::SymbolKind::Job => SymbolKind::MODULE,
        ide::SymbolKind::Param => SymbolKind::CONSTANT,
        ide::SymbolKind::Record => SymbolKind::STRUCT,
        ide::SymbolKind::Enum => SymbolKind::ENUM,
        ide::SymbolKind::EnumValue => SymbolKind::ENUM_MEMBER,
        ide::SymbolKind::Column => SymbolKind::FIELD,
        ide::SymbolKind::Function => SymbolKind::FUNCTION,
        ide::SymbolKind::Source | ide::SymbolKind::Lookup => SymbolKind::INTERFACE,
        ide::SymbolKind::Stream => SymbolKind::VARIABLE,
        ide::SymbolKind::Sink => SymbolKind::EVENT,
    };
    let children: Vec<_> = of.children.into_iter().map(|child| symbol(child, lines)).collect();
    // The protocol keeps a field that it has given up.
    #[allow(deprecated)]
    DocumentSymbol {
        name: of.name,
        detail: (!of.detail.is_empty()).then_some(of.detail),
        kind,
        tags: None,
        deprecated: None,
        range: lines.range(of.span.start, of.span.end),
        selection_range: lines.range(of.name_span.start, of.name_span.end),
        children: (!children.is_empty()).then_some(children),
    }
}
