use millstream_macros::Connector;

#[derive(Connector)]
pub struct Undocumented {
    pub url: String,
}

/// An option without a comment.
#[derive(Connector)]
pub struct Half {
    pub url: String,
}

/// An attribute that is not there.
#[derive(Connector)]
#[flow(bounde)]
pub struct Bounded;

/// A type that no option has.
#[derive(Connector)]
pub struct Typed {
    /// How long.
    pub wait: std::sync::Arc<str>,
}

/// A default of another type.
#[derive(Connector)]
pub struct Defaulted {
    /// How long.
    #[flow(default = 30)]
    pub wait: Duration,
}

/// A default that is never used.
#[derive(Connector)]
pub struct Twice {
    /// How long.
    #[flow(default = "30s")]
    pub wait: Option<Duration>,
}

/// No word of the option.
#[derive(Connector)]
pub struct Words {
    /// How.
    #[flow(words = "get, post", default = "put")]
    pub method: String,
}

/// An attribute for another type.
#[derive(Connector)]
pub struct Every {
    /// How often.
    #[flow(every)]
    pub number: u64,
}

/// An option that all have.
#[derive(Connector)]
pub struct Taken {
    /// The format.
    pub format: String,
}

/// Two options of one name.
#[derive(Connector)]
pub struct Clash {
    /// One.
    pub a: String,
    /// Two.
    #[flow(rename = "a")]
    pub b: String,
}

/// Nothing to fill in.
#[derive(Connector)]
pub struct Generic<T> {
    /// Of some type.
    pub value: T,
}

/// No names.
#[derive(Connector)]
pub struct Tuple(String);

fn main() {}
