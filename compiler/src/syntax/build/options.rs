//! Settings of a job, connectors and their options.

use millstream_grammar::{Pair, Rule};

use super::{Builder, no_name};
use crate::diagnostics::did_you_mean;
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::{errors, recover};

impl Builder<'_> {
    /// `job name { settings }`
    pub fn job(&mut self, pair: Pair<'_, Rule>, span: Span) -> Job {
        let mut job = Job { name: no_name(span), settings: Vec::new() };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => job.name = self.name(&inner),
                Rule::job_block => {
                    for entry in inner.into_inner() {
                        match entry.as_rule() {
                            Rule::setting => job.settings.push(self.setting(entry)),
                            Rule::separator => self.separator(&entry),
                            Rule::bad_entry => {
                                let settings = &mut job.settings;
                                self.bad_entry(entry, Rule::setting_only, &mut |builder, pair| {
                                    settings.push(builder.setting(pair))
                                });
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        job
    }

    fn setting(&mut self, pair: Pair<'_, Rule>) -> Setting {
        let span = self.span(&pair);
        let mut setting = Setting { name: no_name(span), value: SettingValue::Error, span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::setting_name => {
                    let words = inner.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
                    setting.name = Name { text: words.trim_matches('`').to_string(), span: self.span(&inner) };
                }
                Rule::colon => self.colon(&inner),
                Rule::setting_value => setting.value = self.setting_value(inner),
                _ => {}
            }
        }
        setting
    }

    fn setting_value(&mut self, pair: Pair<'_, Rule>) -> SettingValue {
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::expr => return SettingValue::Expr(self.expr(inner)),
                Rule::into_value => {
                    let name = inner.into_inner().find(|part| part.as_rule() == Rule::def_name);
                    return name.map_or(SettingValue::Error, |name| SettingValue::Into(self.name(&name)));
                }
                Rule::nested_options => {
                    let (name, options) = self.nested_options(inner);
                    return SettingValue::Block(name, options);
                }
                Rule::checkpoint_value | Rule::wrong_every => {
                    self.misspelled_every(&inner, &["every"]);
                    let (mut exprs, mut options) = (Vec::new(), Vec::new());
                    for part in inner.into_inner() {
                        match part.as_rule() {
                            Rule::expr => exprs.push(self.expr(part)),
                            Rule::option_block => options = self.options(part),
                            _ => {}
                        }
                    }
                    let mut exprs = exprs.into_iter();
                    let Some(every) = exprs.next() else { return SettingValue::Error };
                    return SettingValue::Checkpoint { every, to: exprs.next(), options };
                }
                _ => {}
            }
        }
        SettingValue::Error
    }

    /// `disk { path: ".." }`
    fn nested_options(&mut self, pair: Pair<'_, Rule>) -> (Name, Vec<ConnectorOption>) {
        let (mut name, mut options) = (no_name(self.span(&pair)), Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::any_word => name = self.name(&part),
                Rule::option_block => options = self.options(part),
                _ => {}
            }
        }
        (name, options)
    }

    /// `file { path: ".." }`
    pub fn connector(&mut self, pair: Pair<'_, Rule>) -> Connector {
        let span = self.span(&pair);
        let mut connector = Connector { name: no_name(span), options: Vec::new(), stages: None, span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::hybrid => {
                    for part in inner.clone().into_inner().filter(|part| part.as_rule() == Rule::kw_hybrid) {
                        connector.name = Name { text: "hybrid".to_string(), span: self.span(&part) };
                    }
                    connector.stages = Some(self.hybrid(inner));
                }
                Rule::connector_name => connector.name = self.name(&inner),
                Rule::option_block => connector.options = self.options(inner),
                _ => {}
            }
        }
        connector
    }

    /// `hybrid { history = file { .. } live = .. }`
    fn hybrid(&mut self, pair: Pair<'_, Rule>) -> Vec<ConnectorStage> {
        let mut stages = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::hybrid_stage => stages.push(self.hybrid_stage(inner)),
                Rule::separator => self.separator(&inner),
                Rule::bad_entry => {
                    let list = &mut stages;
                    self.bad_entry(inner, Rule::hybrid_stage_only, &mut |builder, pair| list.push(builder.hybrid_stage(pair)));
                }
                _ => {}
            }
        }
        stages
    }

    fn hybrid_stage(&mut self, pair: Pair<'_, Rule>) -> ConnectorStage {
        let span = self.span(&pair);
        let connector = Connector { name: no_name(span), options: Vec::new(), stages: None, span };
        let mut stage = ConnectorStage { name: no_name(span), connector, span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => stage.name = self.name(&inner),
                Rule::wrong_colon => {
                    let at = self.span(&inner);
                    self.report(errors::colon_in_stage(at));
                }
                Rule::connector => stage.connector = self.connector(inner),
                _ => {}
            }
        }
        stage
    }

    pub fn options(&mut self, pair: Pair<'_, Rule>) -> Vec<ConnectorOption> {
        let mut options = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::option => options.push(self.option(inner)),
                Rule::separator => self.separator(&inner),
                Rule::bad_entry => {
                    let list = &mut options;
                    self.bad_entry(inner, Rule::option_only, &mut |builder, pair| list.push(builder.option(pair)));
                }
                _ => {}
            }
        }
        options
    }

    fn option(&mut self, pair: Pair<'_, Rule>) -> ConnectorOption {
        let span = self.span(&pair);
        let mut option = ConnectorOption { name: no_name(span), value: OptionValue::Error, span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::any_word => option.name = self.name(&inner),
                Rule::colon => self.colon(&inner),
                Rule::option_value => option.value = self.option_value(inner),
                _ => {}
            }
        }
        option
    }

    fn option_value(&mut self, pair: Pair<'_, Rule>) -> OptionValue {
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::expr => return OptionValue::Expr(self.expr(inner)),
                Rule::wrong_every => {
                    let after = self.misspelled_every(&inner, &["every", "after"]) == Some("after");
                    let value = if after { OptionValue::After } else { OptionValue::Every };
                    return self.only_expr(inner).map_or(OptionValue::Error, value);
                }
                Rule::every_value => return self.only_expr(inner).map_or(OptionValue::Error, OptionValue::Every),
                Rule::after_value => return self.only_expr(inner).map_or(OptionValue::Error, OptionValue::After),
                Rule::nested_options => {
                    let (name, options) = self.nested_options(inner);
                    return OptionValue::Block(name, options);
                }
                _ => {}
            }
        }
        OptionValue::Error
    }

    /// `evry 10s`: reported; the word that was meant.
    fn misspelled_every(&mut self, pair: &Pair<'_, Rule>, words: &[&'static str]) -> Option<&'static str> {
        let wrong = pair.clone().into_inner().find(|part| part.as_rule() == Rule::name)?;
        let meant = did_you_mean(wrong.as_str(), words.iter().copied()).unwrap_or(words[0]);
        let span = self.span(&wrong);
        self.report(errors::misspelled_word(span, wrong.as_str(), meant));
        Some(meant)
    }

    /// A comma, or a semicolon where a comma is meant.
    pub fn separator(&mut self, pair: &Pair<'_, Rule>) {
        if pair.as_str() == ";" {
            let span = self.span(pair);
            self.report(errors::semicolon_for_comma(span));
        }
    }

    /// An entry of a block that does not parse: reported; what can be saved goes to `save`.
    pub fn bad_entry(&mut self, pair: Pair<'_, Rule>, rule: Rule, save: &mut dyn FnMut(&mut Builder<'_>, Pair<'_, Rule>)) {
        let span = pair.as_span();
        self.within(span.start(), span.end(), |builder| recover::part(builder, rule, span.as_str(), save));
    }
}
