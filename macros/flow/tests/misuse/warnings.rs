//! A warning stands at its tokens too, and can be made an error.
#![deny(warnings)]

fn main() {}

millstream::flow! {
    job unused {}
    record Word { word: string }
    source words: Word from channel {}
    stream long = words | where length(word) > 5
    stream short = words | where length(word) < 5
    sink short into blackhole
}
