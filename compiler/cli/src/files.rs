//! Reading pipelines from disk.

use millstream_compiler::diagnostics::render;
use millstream_compiler::session::{Loader, Planned, Session};

use crate::console::Console;

/// Larger files are no pipelines.
const LARGEST: u64 = 16 << 20;

/// The loader that reads from disk.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        let size = std::fs::metadata(path).map_err(|error| reason(&error))?;
        if size.is_dir() {
            return Err("it is a folder".to_owned());
        }
        if size.len() > LARGEST {
            return Err(format!("it has {} MB; a pipeline has at most {}", size.len() >> 20, LARGEST >> 20));
        }
        std::fs::read(path).map_err(|error| reason(&error))
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    }
}

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

/// Opens a pipeline and plans it; says on standard error what is wrong with it, and what it warns about.
pub fn plan(path: &str, console: &Console) -> Option<Planned> {
    let mut session = open(path, console)?;
    let planned = session.plan();
    let text = render::render_all(session.diagnostics(), session.sources(), console.style());
    if !text.is_empty() {
        console.message(text.trim_end());
    }
    planned
}
