use millstream_macros::Record;

#[derive(Record)]
enum Empty {}

#[derive(Record)]
enum Holds {
    Nothing,
    Something(i64),
}

#[derive(Record)]
enum Generic<T> {
    Open,
    Of(T),
}

#[derive(Record)]
enum Same {
    Open,
    #[flow(rename = "Open")]
    Closed,
}

#[derive(Record)]
enum Unit {
    #[flow(unit = "ms")]
    Open,
}

fn main() {}
