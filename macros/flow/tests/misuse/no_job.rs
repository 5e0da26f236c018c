//! The module would have no name.

fn main() {}

millstream::flow! {
    record Word { word: string }
    source words: Word from file { path: "words.jsonl", format: json }
    sink words into stdout
}
