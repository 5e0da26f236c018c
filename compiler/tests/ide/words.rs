//! Lists of words beside the grammar say what the grammar says: what is offered, and what editors colour.

use super::support::{completions, offers};

const GRAMMAR: &str = include_str!("../../../grammar/src/flow.pest");
const COLOURS: &str = include_str!("../../../editors/vscode/syntaxes/flow.tmLanguage.json");

/// The words in quotes of a rule.
fn words_of(rule: &str) -> Vec<&'static str> {
    let start = GRAMMAR.find(&format!("\n{rule} ")).unwrap_or_else(|| panic!("no rule {rule}"));
    let body = GRAMMAR[start..].split(" }").next().unwrap();
    let words: Vec<&str> = body.split('"').skip(1).step_by(2).filter(|word| word.chars().all(char::is_alphabetic)).collect();
    assert!(!words.is_empty(), "{rule}");
    words
}

#[test]
fn every_operator_is_offered_with_its_doc() {
    let mut words = words_of("stage_word");
    // Of a later edition.
    words.retain(|word| *word != "iterate");
    let text = "record A { x: int64 }\nsource a: A from file { path: \"a\" }\nstream b = a | $0";
    offers(text, &words, &[]);
    assert!(completions(text).iter().all(|offer| offer.doc.contains("```flow")));
}

#[test]
fn every_item_is_offered() {
    let words: Vec<_> = millstream_grammar::split::ITEM_WORDS.iter().copied().filter(|word| *word != "test").collect();
    offers("$0", &words, &[]);
}

#[test]
fn every_setting_is_offered() {
    offers("job a { $0 }", millstream_compiler::hir::SETTINGS, &[]);
}

#[test]
fn every_window_is_offered() {
    let text = "record A { x: int64 }\nsource a: A from file { path: \"a\" }\nstream b = a | aggregate by x over $0";
    offers(text, millstream_compiler::hir::WINDOWS, &[]);
}

#[test]
fn every_word_of_the_grammar_has_a_colour() {
    let colours: serde_json::Value = serde_json::from_str(COLOURS).expect("JSON");
    let patterns = colours["repository"]["words"]["patterns"].as_array().expect("patterns").iter();
    let patterns: Vec<&str> = patterns.map(|pattern| pattern["match"].as_str().expect("a pattern")).collect();
    let literals = ["true", "false", "null", "list", "map"];
    let coloured =
        |word: &str| literals.contains(&word) || patterns.iter().any(|p| p.split(['(', '|', ')']).any(|known| known == word));
    let keywords = GRAMMAR.lines().filter(|line| line.starts_with("kw_")).filter_map(|line| line.split('"').nth(1));
    let all = keywords.chain(words_of("stage_word")).chain(words_of("reserved"));
    let plain: Vec<&str> = all.filter(|word| !coloured(word) && *word != "iterate").collect();
    assert!(plain.is_empty(), "editors/vscode/syntaxes/flow.tmLanguage.json does not have {plain:?}");
}
