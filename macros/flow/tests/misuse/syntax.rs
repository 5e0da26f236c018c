//! What does not parse, at its own tokens; the rest of the pipeline is looked at all the same.

fn main() {}

millstream::flow! {
    job broken {}
    recrd Word { word: string }
    record Flight { carrier: string, delay: int32? }
    source flights: Flight from file { path = "flights.csv", format: csv }
    stream late = flights where delay > 60
    stream long = flights | where (delay > 60 and) | select { carrier }
    stream odd = flights | where delay => 60 | selct { carrier }
    sink late into stdout
}
