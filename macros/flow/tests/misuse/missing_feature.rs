//! A connector whose code is behind a feature that is off.

fn main() {}

millstream::flow! {
    job posted {}
    record Word { word: string }
    source words: Word from channel {}
    sink words into http { url: "http://127.0.0.1:9000/words" }
}
