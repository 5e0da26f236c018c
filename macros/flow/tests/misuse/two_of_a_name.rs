//! Two modules of one name.

fn main() {}

millstream::flow! {
    job words {}
    record Word { word: string }
    source words: Word from channel {}
    sink words into stdout
}

millstream::flow! {
    job words {}
    record Word { word: string }
    source words: Word from channel {}
    sink words into blackhole
}
