//! Pipelines in Rust programs. Used through the crate `millstream` with its feature `flow`; the code that is made names it.
//!
//! Both macros make a module that is called like the job: `job()`, `Params`, `start(params, options)`, and the rows as structs.
//! The compiler's own tokens are plain text until they are handed to rustc.

mod code;
mod include;
mod place;
mod report;
mod text;

use proc_macro::TokenStream;

/// A pipeline, written in the program: `flow! { job orders { } .. }` makes the module `orders`.
///
/// Everything the language knows, with mistakes shown at their place, as far as Rust can read it as tokens: names in backticks and
/// `f"{x}"` cannot stand in a macro, and `\` in a string is Rust's (write patterns as `r"\d+"`). Such pipelines belong in a file,
/// for [`include_flow!`].
#[proc_macro]
pub fn flow(input: TokenStream) -> TokenStream {
    text::expand(input)
}

/// A pipeline in a file, beside the Rust file that names it: `include_flow!("orders.flow")` makes the module of its job, or one
/// that is called like the file where it has no job. When the file, or one that it uses, changes, the program is built again.
#[proc_macro]
pub fn include_flow(input: TokenStream) -> TokenStream {
    include::expand(input)
}
