//! Writes files of rows into the staging folder, one open file per partition.

use std::fs::File;
use std::io::Write;
use std::marker::PhantomData;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use hashbrown::HashMap;

use super::committable::StagedFile;
use super::partition::partition_folder;
use crate::error::{JobError, JobResult};
use crate::formats::Encoder;
use crate::record::Record;
use crate::sink::SinkWriter;
use crate::storage::sync_folder;

/// Bytes that wait in memory per file, at most.
const BUFFER: usize = 64 * 1024;

/// With more partitions than this, all files are closed and begun again.
const MOST_OPEN: usize = 256;

#[derive(Clone, Debug)]
pub(super) struct WriterOptions {
    pub staging: PathBuf,
    /// What the names of this writer's files begin with: `part-0-`.
    pub prefix: String,
    pub extension: String,
    pub gzip: bool,
    /// Indices of columns.
    pub partition: Vec<usize>,
    pub roll_size: u64,
    pub subtask: u32,
    /// The first checkpoint of this attempt, part of temporary names: what an earlier attempt staged for a checkpoint may
    /// have to be committed once more, and must not be taken for a file of this one.
    pub first_checkpoint: u64,
}

/// Writes the rows of one subtask.
#[derive(Debug)]
pub struct FileWriter<T, E> {
    options: WriterOptions,
    encoder: E,
    /// By partition folder; without partitions one, under the empty name.
    open: HashMap<String, OpenFile>,
    /// Closed since the last checkpoint.
    closed: Vec<(String, PathBuf, u64)>,
    /// The number of the next temporary file.
    next: u64,
    folder: String,
    /// Bytes of a file that wait in memory.
    flush_at: usize,
    row: PhantomData<fn(T)>,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    file: Compressed,
    buffer: Vec<u8>,
    /// Uncompressed bytes that went into the file.
    written: u64,
}

#[derive(Debug)]
enum Compressed {
    No(File),
    Gzip(Box<GzEncoder<File>>),
}

impl<T: Record, E: Encoder<T>> FileWriter<T, E> {
    pub(super) fn new(options: WriterOptions, encoder: E) -> Self {
        FileWriter {
            // A file that is to be smaller than the buffer is looked at when it is that large.
            flush_at: usize::try_from(options.roll_size).unwrap_or(BUFFER).min(BUFFER),
            options,
            encoder,
            open: HashMap::new(),
            closed: Vec::new(),
            next: 0,
            folder: String::new(),
            row: PhantomData,
        }
    }

    #[cold]
    fn begin(&mut self) -> JobResult<()> {
        if self.open.len() >= MOST_OPEN {
            self.close_all()?;
        }
        let name =
            format!(".part-{}-{}-{}.{}", self.options.subtask, self.options.first_checkpoint, self.next, self.options.extension);
        self.next += 1;
        let path = self.options.staging.join(name);
        let file = File::create(&path).map_err(|error| cannot_write(&path, &error))?;
        let file = match self.options.gzip {
            true => Compressed::Gzip(Box::new(GzEncoder::new(file, Compression::default()))),
            false => Compressed::No(file),
        };
        let mut buffer = Vec::with_capacity(BUFFER + BUFFER / 4);
        self.encoder.header(&mut buffer);
        self.open.insert(self.folder.clone(), OpenFile { path, file, buffer, written: 0 });
        Ok(())
    }

    fn close_all(&mut self) -> JobResult<()> {
        for (folder, file) in std::mem::take(&mut self.open) {
            self.close(folder, file)?;
        }
        Ok(())
    }

    fn close(&mut self, folder: String, mut open: OpenFile) -> JobResult<()> {
        open.flush()?;
        let failed = |error: std::io::Error| cannot_write(&open.path, &error);
        let file = match open.file {
            Compressed::No(file) => file,
            Compressed::Gzip(encoder) => encoder.finish().map_err(failed)?,
        };
        file.sync_all().map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        self.closed.push((folder, open.path, size));
        Ok(())
    }
}

impl OpenFile {
    fn flush(&mut self) -> JobResult<()> {
        let result = match &mut self.file {
            Compressed::No(file) => file.write_all(&self.buffer),
            Compressed::Gzip(encoder) => encoder.write_all(&self.buffer),
        };
        result.map_err(|error| cannot_write(&self.path, &error))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl<T: Record, E: Encoder<T>> SinkWriter<T> for FileWriter<T, E> {
    #[inline]
    fn write(&mut self, row: T) -> JobResult<()> {
        if !self.options.partition.is_empty() {
            self.folder.clear();
            partition_folder(&row, &self.options.partition, &mut self.folder);
        }
        let open = match self.open.get_mut(self.folder.as_str()) {
            Some(open) => open,
            None => {
                self.begin()?;
                match self.open.get_mut(self.folder.as_str()) {
                    Some(open) => open,
                    None => return Err(JobError::new("a file that was just opened is gone")),
                }
            }
        };
        self.encoder.encode(&row, &mut open.buffer);
        if open.buffer.len() >= self.flush_at {
            open.flush()?;
            if open.written >= self.options.roll_size
                && let Some((folder, open)) = self.open.remove_entry(self.folder.as_str())
            {
                self.close(folder, open)?;
            }
        }
        Ok(())
    }

    fn prepare_commit(&mut self, checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        self.close_all()?;
        let closed = std::mem::take(&mut self.closed);
        if !closed.is_empty() {
            // The files are on disk; after a power cut they must have their names, too.
            sync_folder(&self.options.staging).map_err(|error| cannot_write(&self.options.staging, &error))?;
        }
        let name = |(number, (folder, temporary, size)): (usize, (String, PathBuf, u64))| {
            let name = format!("{}{checkpoint}-{number}.{}", self.options.prefix, self.options.extension);
            let target = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let temporary = temporary.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            StagedFile { temporary, target, size, inputs: Vec::new() }.encode()
        };
        Ok(closed.into_iter().enumerate().map(name).collect())
    }
}

fn cannot_write(path: &std::path::Path, error: &std::io::Error) -> JobError {
    JobError::io(format_args!("cannot write `{}`", path.display()), error)
}
