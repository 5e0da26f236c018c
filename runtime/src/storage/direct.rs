//! Large files on this machine, written past the page cache where the system can do that.
//!
//! What goes into a checkpoint is read again only after a failure: a copy of it in the page cache costs as much time as it took to encode,
//! and drives out what others need.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use super::{create_durably, sync_folder};
use crate::checkpoint::BLOCK;

/// What is smaller is written as any file.
pub(crate) const LARGE: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// Writes a file, which is durable then, and its folder. It has its name at once: of use where nobody looks for it before something else
/// says that it is there.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_durably(folder)?;
    // What had this name may be open somewhere: it is left as it is.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::create_new(path)?;
    let written = past_the_cache(path, bytes)?;
    file.seek(SeekFrom::Start(written as u64))?;
    file.write_all(&bytes[written..])?;
    file.sync_all()?;
    sync_folder(folder)
}

/// Writes whole blocks; gives how many bytes that were.
#[cfg(target_os = "linux")]
fn past_the_cache(path: &Path, bytes: &[u8]) -> std::io::Result<usize> {
    use std::os::unix::fs::OpenOptionsExt;

    let blocks = bytes.len() / BLOCK * BLOCK;
    if bytes.as_ptr().align_offset(BLOCK) != 0 {
        return Ok(0);
    }
    // Not every file system has this, and some say so only when it is written to.
    let Ok(mut file) = File::options().write(true).custom_flags(libc::O_DIRECT).open(path) else { return Ok(0) };
    match file.write_all(&bytes[..blocks]) {
        Ok(()) => Ok(blocks),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::InvalidInput | std::io::ErrorKind::Unsupported) => Ok(0),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn past_the_cache(_path: &Path, _bytes: &[u8]) -> std::io::Result<usize> {
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::EntryWriter;

    #[test]
    fn files_of_any_length_are_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 17, 300_000] {
            let bytes: Vec<u8> = (0..len + BLOCK).map(|number| (number % 251) as u8).collect();
            let start = bytes.as_ptr().align_offset(BLOCK);
            for start in [start, start.saturating_sub(1)] {
                let path = folder.path().join(format!("new/{len}"));
                // A longer one of this name is there.
                create_durably(path.parent().unwrap()).unwrap();
                std::fs::write(&path, vec![7; len + 1]).unwrap();
                write_durably(&path, &bytes[start..start + len]).unwrap();
                assert!(std::fs::read(&path).unwrap() == bytes[start..start + len], "{len}");
            }
        }
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(write_durably(&folder.path().join("file/in"), b"x").is_err());
    }

    #[test]
    fn large_files_of_checkpoints_begin_where_they_should() {
        let mut writer = EntryWriter::large(None);
        writer
            .piece(["a", "b", "c"], 0, 1, |out| {
                out.extend_from_slice(&[3; 200_000]);
                Ok(())
            })
            .unwrap();
        assert_eq!(writer.finish().bytes.as_ptr().align_offset(BLOCK), 0);
    }
}
