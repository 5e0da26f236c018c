//! The loader that reads from disk.

use crate::session::Loader;

/// Larger files are no pipelines.
const LARGEST: u64 = 16 << 20;

/// Reads files.
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
