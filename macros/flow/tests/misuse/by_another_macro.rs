//! Tokens that come from elsewhere have no place in the text.

fn main() {}

macro_rules! pipeline {
    ($path:literal) => {
        millstream::flow! {
            job copied {}
            record Word { word: string }
            source words: Word from file { path: $path, format: json }
            sink words into stdout
        }
    };
}

pipeline!("words.jsonl");
