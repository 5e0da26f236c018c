//! A pipeline is a module: it stands where modules do.

fn main() {
    let _job = millstream::flow! {
        job here {}
        record Word { word: string }
        source words: Word from channel {}
        sink words into blackhole
    };
}
