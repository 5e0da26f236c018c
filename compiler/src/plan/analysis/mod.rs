//! What passes ask of expressions and operators: can it fail, which columns does it read, is it free to repeat.

pub mod columns;
pub mod exprs;
pub mod failure;
pub mod need;
pub mod pairs;
pub mod stages;
