//! Descriptors of connectors that are not built in: what a Rust file of a pipeline says, in the form that the built-in ones have.
//!
//! Descriptors are static. One that is made while a pipeline is read is kept for as long as the process runs, and equal ones are one:
//! an editor that reads the same file again and again keeps one.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{ConnectorSpec, OptionSpec, OptionTy, SINCE, SinkSpec, SourceSpec, UNTIL};

/// A connector as a Rust file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    pub name: String,
    pub doc: String,
    pub options: Vec<DescribedOption>,
    /// Names of formats, the default first.
    pub formats: Vec<String>,
    /// It can be read from.
    pub source: bool,
    /// It can be written to.
    pub sink: bool,
    /// Tables can be written to it.
    pub tables: bool,
    /// It finds rows of tables by their key.
    pub keyed: bool,
    /// What it reads comes to an end.
    pub bounded: bool,
    /// It can be read again from a stored position.
    pub replayable: bool,
    /// Rows appear once after failures.
    pub exactly_once: bool,
}

/// An option of it.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedOption {
    pub name: String,
    pub ty: OptionTy,
    pub required: bool,
    /// As the user would write it; empty: none.
    pub default: String,
    pub doc: String,
}

static KNOWN: Mutex<BTreeMap<String, &'static ConnectorSpec>> = Mutex::new(BTreeMap::new());

/// A list of words that is kept for as long as the process runs; equal lists are one.
pub fn keep_words(words: &[String]) -> &'static [&'static str] {
    static WORDS: Mutex<BTreeMap<Vec<String>, &'static [&'static str]>> = Mutex::new(BTreeMap::new());
    let mut known = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = known.get(words) {
        return kept;
    }
    let kept: &'static [&'static str] = words.iter().map(|word| text(word)).collect::<Vec<_>>().leak();
    known.insert(words.to_vec(), kept);
    kept
}

fn text(text: &str) -> &'static str {
    text.to_owned().leak()
}

impl Described {
    /// The descriptor. Its sides have no Rust type: that is found in the file.
    pub fn keep(&self) -> &'static ConnectorSpec {
        let key = format!("{self:?}");
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = known.get(&key) {
            return kept;
        }
        let formats = keep_words(&self.formats);
        let options: Vec<OptionSpec> = self
            .options
            .iter()
            .map(|option| OptionSpec {
                name: text(&option.name),
                ty: option.ty,
                required: option.required,
                default: text(&option.default),
                doc: text(&option.doc),
            })
            .collect();
        let bounded: fn(&[&str]) -> bool = if self.bounded { |_| true } else { |_| false };
        // Every source can be cut by time: the engine does it, not the connector.
        let of_source = [options.as_slice(), &[SINCE, UNTIL]].concat().leak();
        let source = SourceSpec { rust: "", options: of_source, formats, replayable: self.replayable, bounded, columns: None };
        let sink = SinkSpec {
            rust: "",
            options: options.leak(),
            formats,
            accepts_tables: self.tables,
            needs_key: self.keyed,
            exactly_once: self.exactly_once,
        };
        let spec: &'static ConnectorSpec = Box::leak(Box::new(ConnectorSpec {
            name: text(&self.name),
            doc: text(&self.doc),
            feature: None,
            source: self.source.then_some(source),
            lookup: None,
            sink: self.sink.then_some(sink),
        }));
        known.insert(key, spec);
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_descriptions_are_kept_once() {
        let ty = OptionTy::Word(keep_words(&["a".to_owned(), "b".to_owned()]));
        let option =
            DescribedOption { name: "url".to_owned(), ty, required: true, default: String::new(), doc: "Where.".to_owned() };
        let described = Described {
            name: "poll".to_owned(),
            doc: "Polls.".to_owned(),
            options: vec![option],
            formats: vec!["json".to_owned()],
            source: true,
            sink: false,
            tables: false,
            keyed: false,
            bounded: false,
            replayable: true,
            exactly_once: false,
        };
        let spec = described.keep();
        assert!(std::ptr::eq(spec, described.clone().keep()));
        let source = spec.source.unwrap();
        assert_eq!(source.options.iter().map(|option| option.name).collect::<Vec<_>>(), ["url", "since", "until"]);
        assert!(spec.sink.is_none() && !(source.bounded)(&[]) && source.replayable);
        let other = Described { bounded: true, ..described };
        assert!(!std::ptr::eq(spec, other.keep()));
    }
}
