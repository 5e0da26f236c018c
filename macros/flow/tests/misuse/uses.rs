//! Files that the pipeline uses: where they are not, and what is wrong inside of them.

fn main() {}

millstream::flow! {
    job uses {}
    use "nowhere.flow"
    use rust "nothing.rs"
    use crate unheard_of
    record Word { word: string }
    source words: Word from channel {}
    sink words into blackhole
}

millstream::flow! {
    job scored {}
    use rust "helpers/score.rs"
    record Word { word: string }
    source words: Word from channel {}
    stream scored = words | select { word, score: score(word) }
    sink scored into blackhole
}
