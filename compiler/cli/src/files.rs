//! Reading pipelines from disk.

use millstream_compiler::diagnostics::render;
use millstream_compiler::disk::Disk;
use millstream_compiler::embed::needs_program;
use millstream_compiler::session::{Planned, Session};

use crate::console::Console;

/// Opens a pipeline; says on standard error if it cannot be read.
pub fn open(path: &str, console: &Console) -> Option<Session> {
    match Session::open(path, &Disk) {
        Ok(session) => Some(session),
        Err(error) => {
            console.error(error);
            None
        }
    }
}

/// Opens a pipeline and plans it, to be a program by itself; says on standard error what is wrong with it, and what it warns about.
pub fn plan(path: &str, console: &Console) -> Option<Planned> {
    let mut session = open(path, console)?;
    let planned = session.plan();
    let alone = needs_program(&session);
    let all = [session.diagnostics(), &alone].concat();
    let text = render::render_all(&all, session.sources(), console.style());
    if !text.is_empty() {
        console.message(text.trim_end());
    }
    planned.filter(|_| alone.is_empty())
}
