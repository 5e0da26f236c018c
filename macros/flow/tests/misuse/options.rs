//! Connectors, their options and formats.

fn main() {}

millstream::flow! {
    job options {}
    record Word { word: string }
    source words: Word from fil { path: "words.jsonl" }
    source more: Word from file { paht: "words.jsonl", format: jsn }
    source others: Word from file { path: 5 }
    sink more into file { path: "out", roll_every: 5 }
}
