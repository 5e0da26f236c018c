//! One pipeline in a Rust program: in the program's text, in a file beside it, in a folder that the build script compiles, and around records
//! that say where they come from and go. All of these go through the same compiler and make the same job; choose by where you want to read the
//! pipeline. [`typed`] does without the language, and makes the same graph.

pub mod accounts;
pub mod attributes;
pub mod typed;
pub mod typed_operators;

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

// The same again with an operator over three streams, its side outputs, and a table that is kept elsewhere.
millstream::include_flow!("derived_accounts.flow");

millstream::flow! {
    use rust "accounts.rs"

    /// What customers owe.
    job written_accounts {}

    /// Where the balances are kept.
    param path: string

    record Ordered { customer: string, amount: int64 }
    record Paid { payer: string, amount: int64 }
    record Returned { customer: string, back: int64 }

    source orders: Ordered from channel { capacity: 100 }
    source payments: Paid from channel { capacity: 100 }
    source refunds: Returned from channel { capacity: 100 }

    stream entries =
        orders
        | process by customer Accounts
            with payments by payer with refunds by customer side Warning into warnings side Refunded into refunded
    stream balances = entries | @ttl(never) aggregate by customer { customer, entries: count(), owes: sum(amount) }

    sink refunded into channel {}
    sink warnings into channel {}
    sink balances into ledger { path: path } key (customer)
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
