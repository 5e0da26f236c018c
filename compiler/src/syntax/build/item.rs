//! Items: jobs, uses, params, records, functions, sources, streams, sinks.

use millstream_grammar::{Pair, Pairs, Rule};

use super::{Builder, no_name};
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::errors;
use crate::syntax::parse::doc_before;

impl Builder<'_> {
    /// The item that a `…_item` or `…_head` rule gives.
    pub fn item(&mut self, pairs: Pairs<'_, Rule>) -> Option<(ItemKind, Vec<Attribute>)> {
        let mut item = None;
        for pair in pairs.flat_map(|outer| outer.into_inner()) {
            if pair.as_rule() == Rule::wrong_semicolon {
                let span = self.span(&pair);
                self.report(errors::semicolon(span));
                continue;
            }
            let attributes = self.attributes(&pair);
            let span = self.span(&pair);
            let kind = match pair.as_rule() {
                Rule::job => ItemKind::Job(self.job(pair, span)),
                Rule::use_path => self.use_path(pair)?,
                Rule::param => ItemKind::Param(self.param(pair, span)),
                Rule::record => ItemKind::Record(self.record(pair, span)),
                Rule::enumeration => ItemKind::Enum(self.enumeration(pair, span)),
                Rule::function => ItemKind::Function(self.function(pair, span)),
                Rule::source => self.source(pair, span),
                Rule::lookup => self.lookup(pair, span),
                Rule::stream => ItemKind::Stream(self.stream(pair, span)),
                Rule::sink => self.sink(pair, span),
                _ => continue,
            };
            item = Some((kind, attributes));
        }
        item
    }

    /// The attributes at the beginning of a pair.
    pub fn attributes(&mut self, pair: &Pair<'_, Rule>) -> Vec<Attribute> {
        let attributes = pair.clone().into_inner().filter(|inner| inner.as_rule() == Rule::attribute);
        attributes.map(|attribute| self.attribute(attribute)).collect()
    }

    fn attribute(&mut self, pair: Pair<'_, Rule>) -> Attribute {
        let span = self.span(&pair);
        let mut attribute = Attribute { name: no_name(span), args: Vec::new(), span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => attribute.name = self.name(&inner),
                Rule::expr => attribute.args.push(self.expr(inner)),
                _ => {}
            }
        }
        attribute
    }

    fn use_path(&mut self, pair: Pair<'_, Rule>) -> Option<ItemKind> {
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::string => {
                    return Some(ItemKind::Use(Use { kind: UseKind::Flow, path: self.string_text(&inner), path_span: span }));
                }
                Rule::use_rust => {
                    let Some(string) = inner.into_inner().find(|inner| inner.as_rule() == Rule::string) else { continue };
                    let path_span = self.span(&string);
                    return Some(ItemKind::Use(Use { kind: UseKind::Rust, path: self.string_text(&string), path_span }));
                }
                Rule::use_crate => {
                    let Some(name) = inner.into_inner().find(|inner| inner.as_rule() == Rule::name) else { continue };
                    let Name { text, span } = self.name(&name);
                    return Some(ItemKind::Use(Use { kind: UseKind::Crate, path: text, path_span: span }));
                }
                Rule::wrong_use if inner.as_str().starts_with("rust") => self.report(errors::rust_path_unquoted(span)),
                Rule::wrong_use => self.report(errors::crate_quoted(span)),
                _ => {}
            }
        }
        None
    }

    fn param(&mut self, pair: Pair<'_, Rule>, span: Span) -> Param {
        let mut param = Param { name: no_name(span), ty: Type { kind: TypeKind::Error, optional: false, span }, default: None };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => param.name = self.name(&inner),
                Rule::colon => self.colon(&inner),
                Rule::r#type => param.ty = self.ty(inner),
                Rule::expr => param.default = Some(self.expr(inner)),
                _ => {}
            }
        }
        param
    }

    fn record(&mut self, pair: Pair<'_, Rule>, span: Span) -> Record {
        let mut record = Record { name: no_name(span), columns: Vec::new() };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => record.name = self.name(&inner),
                Rule::equals_before_block => {
                    let span = self.span(&inner);
                    self.report(errors::equals_before_block(span));
                }
                Rule::record_block => record.columns = self.record_block(inner),
                _ => {}
            }
        }
        record
    }

    fn enumeration(&mut self, pair: Pair<'_, Rule>, span: Span) -> Enum {
        let mut enumeration = Enum { name: no_name(span), values: Vec::new() };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => enumeration.name = self.name(&inner),
                Rule::equals_before_block => {
                    let span = self.span(&inner);
                    self.report(errors::equals_before_block(span));
                }
                Rule::enum_block => {
                    for value in inner.into_inner() {
                        match value.as_rule() {
                            Rule::enum_value => enumeration.values.extend(self.enum_value(value)),
                            Rule::separator => self.separator(&value),
                            Rule::bad_entry => self.bad_entry(value, Rule::enum_value_only, &mut |builder, value| {
                                enumeration.values.extend(builder.enum_value(value));
                            }),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        enumeration
    }

    fn enum_value(&mut self, pair: Pair<'_, Rule>) -> Option<Name> {
        let inner = pair.into_inner().next()?;
        Some(match inner.as_rule() {
            Rule::string => Name { text: self.string_text(&inner), span: self.span(&inner) },
            _ => self.name(&inner),
        })
    }

    fn record_block(&mut self, pair: Pair<'_, Rule>) -> Vec<Column> {
        let mut columns = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::column => columns.push(self.column(inner)),
                Rule::separator => self.separator(&inner),
                Rule::bad_entry => {
                    self.bad_entry(inner, Rule::column_only, &mut |builder, column| columns.push(builder.column(column)))
                }
                _ => {}
            }
        }
        columns
    }

    /// `name: type`
    pub fn column(&mut self, pair: Pair<'_, Rule>) -> Column {
        let span = self.span(&pair);
        let attributes = self.attributes(&pair);
        let doc = doc_before(self.text, span.start as usize);
        let ty = Type { kind: TypeKind::Error, optional: false, span };
        let mut column = Column { attributes, doc, name: no_name(span), ty, span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => column.name = self.name(&inner),
                Rule::colon => self.colon(&inner),
                Rule::r#type => column.ty = self.ty(inner),
                _ => {}
            }
        }
        column
    }

    fn function(&mut self, pair: Pair<'_, Rule>, span: Span) -> Function {
        let body = Expr { kind: ExprKind::Error, span };
        let mut function = Function { name: no_name(span), params: Vec::new(), returns: None, body };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => function.name = self.name(&inner),
                Rule::fn_params => function.params = inner.into_inner().filter_map(|param| self.fn_param(param)).collect(),
                Rule::fn_returns => function.returns = self.fn_returns(inner),
                Rule::expr => function.body = self.expr(inner),
                _ => {}
            }
        }
        function
    }

    fn fn_param(&mut self, pair: Pair<'_, Rule>) -> Option<(Name, Type)> {
        let (mut name, mut ty) = (None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => name = Some(self.name(&inner)),
                Rule::colon => self.colon(&inner),
                Rule::r#type => ty = Some(self.ty(inner)),
                _ => {}
            }
        }
        Some((name?, ty?))
    }

    fn fn_returns(&mut self, pair: Pair<'_, Rule>) -> Option<Type> {
        let mut ty = None;
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::wrong_arrow => {
                    let span = self.span(&inner);
                    self.report(errors::arrow_for_colon(span));
                }
                Rule::r#type => ty = Some(self.ty(inner)),
                _ => {}
            }
        }
        ty
    }

    fn source(&mut self, pair: Pair<'_, Rule>, span: Span) -> ItemKind {
        let mut name = no_name(span);
        let mut ty = Type { kind: TypeKind::Error, optional: false, span };
        let mut connector = Connector { name: no_name(span), options: Vec::new(), stages: None, span };
        let (mut watermark, mut on_error, mut key): (Option<Expr>, Option<(OnError, Span)>, Vec<Name>) = (None, None, Vec::new());
        let (mut idle, mut align): (Option<Expr>, Option<Align>) = (None, None);
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::def_name => name = self.name(&inner),
                Rule::r#type => ty = self.ty(inner),
                Rule::connector => connector = self.connector(inner),
                Rule::watermark_clause => match &watermark {
                    Some(first) => self.report(errors::repeated(span, "watermark", first.span)),
                    None => watermark = self.only_expr(inner),
                },
                Rule::idle_clause => match &idle {
                    Some(first) => self.report(errors::repeated(span, "idle after", first.span)),
                    None => idle = self.only_expr(inner),
                },
                Rule::align_clause => match &align {
                    Some(first) => self.report(errors::repeated(span, "align", first.span)),
                    None => align = self.align(inner, span),
                },
                Rule::on_error_clause => match &on_error {
                    Some((_, first)) => self.report(errors::repeated(span, "on error", *first)),
                    None => on_error = self.on_error(inner).map(|what| (what, span)),
                },
                Rule::key_clause => match key.first() {
                    Some(first) => self.report(errors::repeated(span, "key", first.span)),
                    None => key = self.key(inner),
                },
                _ => {}
            }
        }
        ItemKind::Source(Source { name, ty, connector, watermark, idle, align, on_error, key })
    }

    fn align(&mut self, pair: Pair<'_, Rule>, span: Span) -> Option<Align> {
        let (mut group, mut within, mut every) = (None, None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => group = Some(self.name(&inner)),
                Rule::expr => within = Some(self.expr(inner)),
                Rule::align_every => every = self.only_expr(inner),
                _ => {}
            }
        }
        Some(Align { group: group?, within: within?, every, span })
    }

    fn on_error(&mut self, pair: Pair<'_, Rule>) -> Option<OnError> {
        let mut what = None;
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::on_error_fail => what = Some(OnError::Fail),
                Rule::on_error_skip => what = Some(OnError::Skip),
                Rule::on_error_into => {
                    let name = inner.into_inner().find(|part| part.as_rule() == Rule::def_name);
                    what = name.map(|name| OnError::Into(self.name(&name)));
                }
                _ => {}
            }
        }
        what
    }

    fn stream(&mut self, pair: Pair<'_, Rule>, span: Span) -> Stream {
        let mut stream =
            Stream { name: no_name(span), pipeline: Pipeline { input: no_name(span), alias: None, stages: Vec::new(), span } };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => stream.name = self.name(&inner),
                Rule::wrong_colon => {
                    let span = self.span(&inner);
                    self.report(errors::colon_for_equals(span));
                }
                Rule::pipeline => stream.pipeline = self.pipeline(inner),
                _ => {}
            }
        }
        stream
    }

    fn sink(&mut self, pair: Pair<'_, Rule>, span: Span) -> ItemKind {
        let mut pipeline = Pipeline { input: no_name(span), alias: None, stages: Vec::new(), span };
        let mut connector = Connector { name: no_name(span), options: Vec::new(), stages: None, span };
        let mut key: Vec<Name> = Vec::new();
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::pipeline => pipeline = self.pipeline(inner),
                Rule::connector => connector = self.connector(inner),
                Rule::key_clause => match key.first() {
                    Some(first) => self.report(errors::repeated(span, "key", first.span)),
                    None => key = self.key(inner),
                },
                _ => {}
            }
        }
        ItemKind::Sink(Sink { pipeline, connector, key })
    }

    /// The columns behind `key`. Without parentheses they are taken all the same, and reported.
    pub fn key(&mut self, pair: Pair<'_, Rule>) -> Vec<Name> {
        match pair.clone().into_inner().find(|inner| inner.as_rule() == Rule::wrong_bare_key) {
            Some(bare) => {
                let span = self.span(&bare);
                let text = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
                self.report(errors::bare_key(span, text));
                self.names(bare)
            }
            None => self.names(pair),
        }
    }

    /// All names in a pair.
    pub fn names(&mut self, pair: Pair<'_, Rule>) -> Vec<Name> {
        pair.into_inner().filter(|inner| inner.as_rule() == Rule::name).map(|inner| self.name(&inner)).collect()
    }

    /// The first expression in a pair.
    pub fn only_expr(&mut self, pair: Pair<'_, Rule>) -> Option<Expr> {
        pair.into_inner().find(|inner| inner.as_rule() == Rule::expr).map(|inner| self.expr(inner))
    }
}
