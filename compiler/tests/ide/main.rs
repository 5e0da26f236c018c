//! What an editor is told about a text: `$0` is the cursor.

mod completion;
mod half_typed;
mod names;
mod support;
mod words;
