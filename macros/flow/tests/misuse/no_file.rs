//! What is no path of a file.

fn main() {}

millstream::include_flow!("nowhere.flow");
millstream::include_flow!(orders);
millstream::include_flow!("helpers/broken.flow", "nowhere.flow");
