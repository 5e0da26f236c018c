//! Checkpoints in a bucket, for the commands that look into them: copied to a local folder by a small program that is built like
//! a pipeline, so that this command needs no client of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use millstream_compiler::codegen::GeneratedCrate;
use millstream_compiler::driver::Profile;
use millstream_runtime::checkpoint::{MANIFEST, any_number_of};

use crate::building;
use crate::console::Console;

const MAIN: &str = "//! Copies checkpoints from a bucket.\n\nfn main() -> std::process::ExitCode {\n    \
                    millstream::storage::s3::copy_checkpoints(std::env::args().skip(1))\n}\n";

/// Local copies of checkpoints; they go with it.
pub struct Copied {
    folder: PathBuf,
    place: String,
}

impl Copied {
    /// Copies the manifests of a directory, or of a checkpoint's, and the data of the one that is meant. The reason if it cannot.
    pub fn of(place: &str, console: &Console) -> Result<Self, String> {
        let files = BTreeMap::from([(PathBuf::from("src/main.rs"), MAIN.to_owned())]);
        let generated = GeneratedCrate {
            package: "s3-checkpoints".to_owned(),
            files,
            features: BTreeSet::from(["s3"]),
            rust: BTreeMap::new(),
            crates: BTreeMap::new(),
        };
        let built = building::build(&generated, place, Profile::Flow, console).map_err(|error| error.to_string())?;
        let folder = std::env::temp_dir().join(format!("millstream-checkpoints-{}", std::process::id()));
        let copied = Copied { folder, place: place.trim_end_matches('/').to_owned() };
        let status = Command::new(&built.binary).arg(place).arg(&copied.folder).status();
        match status {
            Ok(status) if status.success() => Ok(copied),
            // It has said why.
            Ok(_) => Err(format!("cannot read `{place}`")),
            Err(error) => Err(format!("cannot run {}: {error}", built.binary.display())),
        }
    }

    /// Where the copy of the place is.
    pub fn path(&self) -> PathBuf {
        match self.name() {
            Some(name) => self.folder.join(name),
            None => self.folder.clone(),
        }
    }

    /// Text for people: with the place instead of the folder.
    pub fn named(&self, text: &str) -> String {
        let directory = match self.name() {
            Some(name) => self.place.trim_end_matches(name).trim_end_matches('/'),
            None => &self.place,
        };
        text.replace(&self.folder.display().to_string(), directory)
    }

    /// Of the checkpoint or savepoint, where the place is one. One that was moved may be called anything: then its copy tells.
    fn name(&self) -> Option<&str> {
        let is_one = |name: &&str| any_number_of(name).is_some() || self.folder.join(name).join(MANIFEST).is_file();
        self.place.rsplit('/').next().filter(is_one)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether a path is a place in a bucket.
pub fn is_remote(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with("s3://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_copy_names_the_bucket() {
        let folder = std::env::temp_dir().join(format!("millstream-copied-{}", std::process::id()));
        let copied = |place: &str| Copied { folder: folder.clone(), place: place.to_owned() };
        let inside = folder.join("checkpoint-000002");
        let text = format!("{} is damaged", inside.display());
        let directory = copied("s3://jobs/orders");
        assert_eq!(directory.path(), folder);
        assert_eq!(directory.named(&text), "s3://jobs/orders/checkpoint-000002 is damaged");
        let one = copied("s3://jobs/orders/checkpoint-000002");
        assert_eq!(one.path(), inside);
        assert_eq!(one.named(&text), "s3://jobs/orders/checkpoint-000002 is damaged");
    }
}
