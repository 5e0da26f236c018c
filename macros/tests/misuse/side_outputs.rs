use millstream_macros::SideOutputs;

struct Calm;
struct Odd;

#[derive(SideOutputs)]
struct Both {
    calm: Calm,
    odd: Odd,
}

#[derive(SideOutputs)]
enum None {}

#[derive(SideOutputs)]
enum Bare {
    Calm(Calm),
    Odd,
}

#[derive(SideOutputs)]
enum Two {
    Calm(Calm, Odd),
}

#[derive(SideOutputs)]
enum Named {
    Calm { calm: Calm },
}

#[derive(SideOutputs)]
enum Generic<T> {
    Calm(T),
}

#[derive(SideOutputs)]
enum Borrowed<'a> {
    Calm(&'a Calm),
}

fn main() {}
