//! Two mistakes in a pipeline, each at its own words.

fn main() {}

millstream::flow! {
    job late {}
    record Flight { carrier: string, delay: int32? }
    source flights: Flight from file { path: "flights.csv", format: csv }
    stream late = flights | where dely > 60 | select { carrier, minutes: delay }
    sink late into file { path: "out", format: json, partition: [carier] }
}
