//! Syntax trees as text, for `explain --phase ast` and for golden tests.
//!
//! Stable and made for people: one line per item, clause, operator or column; expressions in the language's own form with
//! every pair of parentheses written out, so that precedence shows. No places, so that moved lines change nothing.

mod expr;
mod join;
mod ranking;

use std::fmt::Write;

use super::ast::*;

pub use expr::{expr, ty};

/// The tree of a file as text.
pub fn dump(file: &File) -> String {
    let mut out = Out::default();
    for item in &file.items {
        out.item(item);
    }
    out.text
}

#[derive(Default)]
struct Out {
    text: String,
    indent: usize,
}

impl Out {
    fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{:width$}{}", "", line.as_ref(), width = self.indent * 2);
    }

    fn inside(&mut self, write: impl FnOnce(&mut Out)) {
        self.indent += 1;
        write(self);
        self.indent -= 1;
    }

    fn before(&mut self, doc: Option<&String>, attributes: &[Attribute]) {
        for line in doc.iter().flat_map(|doc| doc.lines()) {
            self.line(format!("/// {line}").trim_end());
        }
        for attribute in attributes {
            let args: Vec<String> = attribute.args.iter().map(expr).collect();
            let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
            self.line(format!("@{}{args}", name(&attribute.name)));
        }
    }

    fn item(&mut self, item: &Item) {
        self.before(item.doc.as_ref(), &item.attributes);
        match &item.kind {
            ItemKind::Job(job) => {
                self.line(format!("job {}", name(&job.name)));
                self.inside(|out| job.settings.iter().for_each(|setting| out.setting(setting)));
            }
            ItemKind::Use(file) if file.kind == UseKind::Rust => self.line(format!("use rust {:?}", file.path)),
            ItemKind::Use(of) if of.kind == UseKind::Crate => self.line(format!("use crate {}", of.path)),
            ItemKind::Use(file) => self.line(format!("use {:?}", file.path)),
            ItemKind::Param(param) => {
                let default = param.default.as_ref().map_or(String::new(), |default| format!(" = {}", expr(default)));
                self.line(format!("param {}: {}{default}", name(&param.name), ty(&param.ty)));
            }
            ItemKind::Record(record) => {
                self.line(format!("record {}", name(&record.name)));
                self.inside(|out| record.columns.iter().for_each(|column| out.column(column)));
            }
            ItemKind::Enum(of) => {
                let values: Vec<String> = of.values.iter().map(|value| format!("{:?}", value.text)).collect();
                self.line(format!("enum {} {}", name(&of.name), values.join(", ")));
            }
            ItemKind::Function(function) => {
                let params: Vec<String> =
                    function.params.iter().map(|(param, of)| format!("{}: {}", name(param), ty(of))).collect();
                let returns = function.returns.as_ref().map_or(String::new(), |returns| format!(": {}", ty(returns)));
                self.line(format!("fn {}({}){returns} = {}", name(&function.name), params.join(", "), expr(&function.body)));
            }
            ItemKind::Source(source) => self.source(source),
            ItemKind::Lookup(lookup) => self.lookup(lookup),
            ItemKind::Stream(stream) => {
                self.line(format!("stream {}", name(&stream.name)));
                self.inside(|out| out.pipeline(&stream.pipeline));
            }
            ItemKind::Sink(sink) => {
                self.line("sink");
                self.inside(|out| {
                    out.pipeline(&sink.pipeline);
                    out.connector("into", &sink.connector);
                    out.key(&sink.key);
                });
            }
            ItemKind::Error(of) => self.line(format!("error {}", of.as_ref().map_or("?".to_string(), name)).trim_end()),
        }
    }

    fn setting(&mut self, setting: &Setting) {
        let value = match &setting.value {
            SettingValue::Expr(value) => expr(value),
            SettingValue::Checkpoint { every, to, options } => {
                let to = to.as_ref().map_or(String::new(), |to| format!(" to {}", expr(to)));
                self.line(format!("{}: every {}{to}", setting.name.text, expr(every)));
                return self.inside(|out| out.options(options));
            }
            SettingValue::Block(block, options) => {
                self.line(format!("{}: {}", setting.name.text, name(block)));
                return self.inside(|out| out.options(options));
            }
            SettingValue::Into(stream) => format!("into {}", name(stream)),
            SettingValue::Error => "error".to_string(),
        };
        self.line(format!("{}: {value}", setting.name.text));
    }

    fn column(&mut self, column: &Column) {
        self.before(column.doc.as_ref(), &column.attributes);
        self.line(format!("{}: {}", name(&column.name), ty(&column.ty)));
    }

    fn source(&mut self, source: &Source) {
        self.line(format!("source {}: {}", name(&source.name), ty(&source.ty)));
        self.inside(|out| {
            out.connector("from", &source.connector);
            if let Some(watermark) = &source.watermark {
                out.line(format!("watermark {}", expr(watermark)));
            }
            if let Some(idle) = &source.idle {
                out.line(format!("idle after {}", expr(idle)));
            }
            if let Some(align) = &source.align {
                let every = align.every.as_ref().map_or(String::new(), |every| format!(" every {}", expr(every)));
                out.line(format!("align {} within {}{every}", name(&align.group), expr(&align.within)));
            }
            if let Some((on_error, _)) = &source.on_error {
                let what = match on_error {
                    OnError::Fail => "fail".to_string(),
                    OnError::Skip => "skip".to_string(),
                    OnError::Into(stream) => format!("into {}", name(stream)),
                };
                out.line(format!("on error {what}"));
            }
            out.key(&source.key);
        });
    }

    fn lookup(&mut self, lookup: &Lookup) {
        self.line(format!("lookup {}: {}", name(&lookup.name), ty(&lookup.ty)));
        self.inside(|out| {
            out.connector("from", &lookup.connector);
            out.key(&lookup.key);
            if let Some(cache) = &lookup.cache {
                let limit = cache.limit.as_ref().map_or(String::new(), |limit| format!(" up to {} rows", expr(limit)));
                out.line(format!("cache {}{limit}", expr(&cache.time)));
            }
            if lookup.unordered.is_some() {
                out.line("unordered");
            }
        });
    }

    fn key(&mut self, key: &[Name]) {
        if !key.is_empty() {
            self.line(format!("key ({})", key.iter().map(name).collect::<Vec<_>>().join(", ")));
        }
    }

    fn connector(&mut self, word: &str, connector: &Connector) {
        self.line(format!("{word} {}", name(&connector.name)));
        self.inside(|out| {
            out.options(&connector.options);
            for stage in connector.stages.iter().flatten() {
                out.connector(&format!("{} =", name(&stage.name)), &stage.connector);
            }
        });
    }

    fn options(&mut self, options: &[ConnectorOption]) {
        for option in options {
            match &option.value {
                OptionValue::Expr(value) => self.line(format!("{}: {}", name(&option.name), expr(value))),
                OptionValue::Block(of, inner) => {
                    self.line(format!("{}: {}", name(&option.name), name(of)));
                    self.inside(|out| out.options(inner));
                }
                OptionValue::Every(value) => self.line(format!("{}: every {}", name(&option.name), expr(value))),
                OptionValue::After(value) => self.line(format!("{}: after {}", name(&option.name), expr(value))),
                OptionValue::Error => self.line(format!("{}: error", name(&option.name))),
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let alias = pipeline.alias.as_ref().map_or(String::new(), |alias| format!(" as {}", name(alias)));
        self.line(format!("{}{alias}", name(&pipeline.input)));
        for stage in &pipeline.stages {
            self.before(None, &stage.attributes);
            self.stage(&stage.kind);
        }
    }

    fn stage(&mut self, stage: &StageKind) {
        match stage {
            StageKind::Where(condition) => self.line(format!("| where {}", expr(condition))),
            StageKind::Select(items) => {
                self.line("| select");
                self.inside(|out| out.select_items(items));
            }
            StageKind::Explode { list, name: as_name } => self.line(format!("| explode {} as {}", expr(list), name(as_name))),
            StageKind::Union(names) => self.line(format!("| union {}", names.iter().map(name).collect::<Vec<_>>().join(", "))),
            StageKind::Watermark(time) => self.line(format!("| watermark {}", expr(time))),
            StageKind::Process(process) => {
                let by = |keys: &[Expr]| match keys {
                    [] => String::new(),
                    keys => format!(" by ({})", keys.iter().map(expr).collect::<Vec<_>>().join(", ")),
                };
                let options = if process.options.is_empty() { "" } else { " { .. }" };
                let side = process.sides.iter().map(|side| {
                    let output = side.output.as_ref().map(|output| format!(" {}", name(output))).unwrap_or_default();
                    format!(" side{output} into {}", name(&side.into))
                });
                let side: String = side.collect();
                let with = process.with.iter().map(|with| {
                    let all = if with.broadcast { "broadcast " } else { "" };
                    format!(" with {all}{}{}", name(&with.stream), by(&with.by))
                });
                let with: String = with.collect();
                self.line(format!("| process{} {}{options}{with}{side}", by(&process.by), name(&process.name)));
            }
            StageKind::Dedup { by, keep, within, late_into } => {
                let by: Vec<String> = by.iter().map(expr).collect();
                let keep = match keep {
                    Some((Keep::First, _)) => " keep first",
                    Some((Keep::Last, _)) => " keep last",
                    None => "",
                };
                let within = within.as_ref().map_or(String::new(), |within| format!(" within {}", expr(within)));
                self.line(format!("| dedup by ({}){keep}{within}{}", by.join(", "), ranking::late(late_into)));
            }
            StageKind::Aggregate(aggregate) => self.aggregate(aggregate),
            StageKind::Top(top) => self.line(ranking::top(top)),
            StageKind::Sort(sort) => {
                self.line(format!("| sort by {}{}", ranking::order(&sort.by), ranking::late(&sort.late_into)))
            }
            StageKind::Combine { how, all, others } => self.line(ranking::combine(*how, all.is_some(), others)),
            StageKind::Distinct => self.line("| distinct"),
            StageKind::Join(join) => self.line(join::join(join)),
            StageKind::Final => self.line("| final"),
            StageKind::Changes => self.line("| changes"),
            StageKind::Rebalance => self.line("| rebalance"),
            StageKind::Broadcast => self.line("| broadcast"),
            StageKind::PartitionBy(keys) => {
                self.line(format!("| partition by ({})", keys.iter().map(expr).collect::<Vec<_>>().join(", ")))
            }
            StageKind::Error => self.line("| error"),
        }
    }

    fn aggregate(&mut self, aggregate: &Aggregate) {
        let mut head = "| aggregate".to_string();
        if !aggregate.by.is_empty() {
            let key = |(key, value): &(Option<Name>, Expr)| match key {
                Some(key) => format!("{}: {}", name(key), expr(value)),
                None => expr(value),
            };
            let _ = write!(head, " by ({})", aggregate.by.iter().map(key).collect::<Vec<_>>().join(", "));
        }
        if let Some(over) = &aggregate.over {
            head.push_str(&ranking::over(over));
        }
        if let Some(allow) = &aggregate.allow_late {
            let _ = write!(head, " allow {} late", expr(allow));
        }
        if let Some(late) = &aggregate.late_into {
            let _ = write!(head, " late into {}", name(late));
        }
        self.line(head);
        self.inside(|out| out.select_items(&aggregate.columns));
    }

    fn select_items(&mut self, items: &[SelectItem]) {
        for item in items {
            let line = match item {
                SelectItem::Column { name: Some(of), value } => format!("{}: {}", name(of), expr(value)),
                SelectItem::Column { name: None, value } => expr(value),
                SelectItem::Rest { of, .. } => format!("{}..", of.as_ref().map_or(String::new(), expr)),
                SelectItem::Except(names) => format!("except {}", names.iter().map(name).collect::<Vec<_>>().join(", ")),
                SelectItem::Error(_) => "error".to_string(),
            };
            self.line(line);
        }
    }
}

/// A name, in backticks where it would not be one without.
fn name(name: &Name) -> String {
    quoted(&name.text)
}

fn quoted(text: &str) -> String {
    use millstream_grammar::{FlowParser, Parser, Rule};
    let plain = FlowParser::parse(Rule::name, text).is_ok_and(|pairs| pairs.as_str().len() == text.len());
    if plain { text.to_string() } else { format!("`{text}`") }
}
