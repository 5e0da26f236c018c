//! One pipeline in a Rust program: in the program's text, in a file beside it, in a folder that the build script compiles, and around records
//! that say where they come from and go. All of these go through the same compiler and make the same job; choose by where you want to read the
//! pipeline. [`typed`] does without the language, and makes the same graph.

pub mod typed;

millstream::include_pipelines!("pipelines");

millstream::include_flow!("included.flow");

// Its source and its sink stand beside their records, in `records.rs`.
millstream::include_flow!("derived.flow");

millstream::flow! {
    /// Revenue per customer and minute.
    job written {}

    /// Smaller orders are left out.
    param least: decimal(10, 2) = 0.00

    record Order { customer: string, amount: decimal(10, 2), at: timestamp }

    source orders: Order from channel { capacity: 100 } watermark at - 5s

    stream revenue =
        orders
        | where amount >= least
        | aggregate by customer over tumbling(1m) { customer, minute: window.start, orders: count(), total: sum(amount) }

    sink revenue into channel {}
}

/// The first letter of a name: for pipelines that say `use crate millstream_embedded_example`.
#[millstream::prelude::function]
pub fn initial(name: &str) -> String {
    name.chars().take(1).collect()
}

/// The examples of the manual are true.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
pub struct Manual;
