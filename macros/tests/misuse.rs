//! What the macros say of wrong items, at which place: `tests/misuse/*.rs` with the messages of rustc beside them.
//!
//! `TRYBUILD=overwrite cargo test -p millstream-macros --test misuse` records what is; read the difference. The messages are
//! those of the toolchain that CI has. A macro that refuses an item makes nothing of it, so the runtime is not needed here.

#[test]
fn misuse_is_refused_where_it_stands() {
    trybuild::TestCases::new().compile_fail("tests/misuse/*.rs");
}
