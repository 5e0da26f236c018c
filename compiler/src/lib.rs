//! Compiles `.flow` files: `syntax::parse` → `hir::lower` → `plan::build` → `plan::optimise` →
//! `ExecutionGraph::expand` → `codegen::emit` → `driver`.

pub mod codegen;
pub mod diagnostics;
pub mod disk;
pub mod driver;
pub mod embed;
pub mod fmt;
pub mod hir;
pub mod ide;
pub mod plan;
pub mod rust;
pub mod session;
pub mod source;
pub mod syntax;
