//! Nothing, and text in quotes.

fn main() {}

millstream::flow! {}

millstream::flow!("job words {}");
