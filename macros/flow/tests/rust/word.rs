//! A record for a test.

use millstream::prelude::*;

/// A word that is sent.
#[derive(Clone, Debug, Record)]
pub struct Word {
    pub text: String,
}
