//! Derive macros of Millstream.
