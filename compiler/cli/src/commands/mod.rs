//! The commands, one file each: what it takes (`Args`) and what it does (`run`).

pub mod check;
pub mod explain;
pub mod new;
