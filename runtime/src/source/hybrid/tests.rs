//! A small world of one enumerator and some readers, driven message by message: checkpoints and crashes at any moment.

mod cases;
mod numbers;
mod world;
