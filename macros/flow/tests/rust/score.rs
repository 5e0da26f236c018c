//! A function and an operator for a test.

use super::word::Word;
use millstream::prelude::*;

/// How often a word has come so far.
#[derive(Clone, Debug, Record)]
pub struct Count {
    pub text: String,
    pub times: i64,
}

/// Letters of a text.
#[function]
pub fn letters_of(text: &str) -> i64 {
    text.chars().count() as i64
}

/// What is remembered of a word.
#[derive(Clone, Debug, Default, State)]
pub struct Seen {
    times: i64,
}

/// Counts words.
#[derive(Default)]
pub struct Counter {
    pub from: i64,
    /// What a word counts; 1 where nothing is given.
    pub step: Option<i64>,
}

#[operator]
impl Process for Counter {
    type Input = Word;
    type Output = Count;
    type State = Seen;

    fn process(&mut self, word: Word, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.state().times += self.step.unwrap_or(1);
        let times = self.from + cx.state().times;
        cx.emit(Count { text: word.text, times });
        Ok(())
    }
}
