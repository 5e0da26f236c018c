use millstream::prelude::*;

#[function]
pub fn score(word: &str) -> usize {
    word.len()
}
