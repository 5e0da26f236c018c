//! Files as the editor sees them: what is open, with changes that nobody has saved, before what is on the disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

use lsp_types::{TextDocumentContentChangeEvent, Uri};
use millstream_compiler::disk::Disk;
use millstream_compiler::session::{Library, Loader, normal};
use millstream_compiler::syntax::Remembered;

use super::convert::Lines;

/// A file that is open in the editor.
#[derive(Debug)]
pub struct Document {
    /// As the editor calls it.
    pub uri: Uri,
    pub version: i32,
    pub text: String,
    /// It is a pipeline, which is analysed by itself.
    pub flow: bool,
}

impl Document {
    /// Takes changes, in order.
    pub fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        self.version = version;
        for change in changes {
            match change.range {
                Some(range) => {
                    let lines = Lines::new(&self.text);
                    let (start, end) = (lines.offset(range.start) as usize, lines.offset(range.end) as usize);
                    self.text.replace_range(start.min(end)..start.max(end), &change.text);
                }
                None => self.text = change.text,
            }
        }
    }
}

/// What tells whether a package may have changed: when the manifests and lock files around a folder were written.
type Stamp = Vec<Option<SystemTime>>;

/// Open files by path, then the disk.
#[derive(Debug, Default)]
pub struct Files {
    pub open: BTreeMap<String, Document>,
    /// What `use crate` finds, by folder: cargo takes longer than everything else.
    libraries: RefCell<HashMap<String, (Stamp, Result<Vec<Library>, String>)>>,
    /// A change is in one item or two; the others are not parsed again.
    items: Remembered,
}

impl Loader for Files {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        match self.open.get(&normal(path)) {
            Some(document) => Ok(document.text.clone().into_bytes()),
            None => Disk.load(path),
        }
    }

    fn remembered(&self) -> Option<&Remembered> {
        Some(&self.items)
    }

    fn libraries(&self, file: &str) -> Result<Vec<Library>, String> {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let written = |path: std::path::PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        let stamp: Stamp =
            folder.ancestors().flat_map(|folder| ["Cargo.toml", "Cargo.lock"].map(|name| written(folder.join(name)))).collect();
        let key = folder.to_string_lossy().into_owned();
        let mut known = self.libraries.borrow_mut();
        if let Some((at, libraries)) = known.get(&key)
            && *at == stamp
        {
            return libraries.clone();
        }
        let libraries = Disk.libraries(file);
        known.insert(key, (stamp, libraries.clone()));
        libraries
    }
}
