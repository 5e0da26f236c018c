//! The grammar of the Flow language.
