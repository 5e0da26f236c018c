//! Writes files of rows into the staging folder, one open file per partition. In a bucket an upload is the staged file.

use std::fs::File;
use std::io::Write;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};

use flate2::Compression;
use flate2::write::GzEncoder;
use hashbrown::HashMap;

use super::committable::StagedFile;
use super::partition::partition_folder;
use super::remote::{Ending, Flow, Upload, UploadTarget};
use crate::error::{JobError, JobResult};
use crate::formats::Encoder;
use crate::record::Record;
use crate::sink::SinkWriter;
use crate::storage::{Remote, sync_folder};

/// Bytes that wait in memory per file, at most.
const BUFFER: usize = 64 * 1024;

/// With more partitions than this, all files are closed and begun again.
const MOST_OPEN: usize = 256;

/// The same for files in a bucket: each holds up to a part of 8 MB in memory.
const MOST_UPLOADS: usize = 32;

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
    /// None: the folder is a local one.
    pub remote: Option<RemoteFolder>,
}

/// A folder of a bucket.
#[derive(Clone, Debug)]
pub(super) struct RemoteFolder {
    pub remote: Remote,
    /// The folder of markers, in the bucket.
    pub markers: String,
}

/// Writes the rows of one subtask.
#[derive(Debug)]
pub struct FileWriter<T, E> {
    options: WriterOptions,
    encoder: E,
    /// By partition folder; without partitions one, under the empty name.
    open: HashMap<String, OpenFile>,
    /// Closed since the last checkpoint.
    closed: Vec<Closed>,
    /// The first checkpoint that can hold a file that is begun now.
    checkpoint: u64,
    /// What waits to be sent to a bucket.
    flow: Arc<Flow>,
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

/// A file that is complete.
#[derive(Debug)]
enum Closed {
    /// With its partition folder and size.
    Staged(String, PathBuf, u64),
    Uploading(Ending),
}

#[derive(Debug)]
enum Compressed {
    No(Output),
    Gzip(Box<GzEncoder<Output>>),
}

#[derive(Debug)]
enum Output {
    File(File),
    Upload(Box<Upload>),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Output::File(file) => file.write(bytes),
            Output::Upload(upload) => upload.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Output::File(file) => file.flush(),
            Output::Upload(upload) => upload.flush(),
        }
    }
}

impl<T: Record, E: Encoder<T>> FileWriter<T, E> {
    pub(super) fn new(options: WriterOptions, encoder: E) -> Self {
        FileWriter {
            // A file that is to be smaller than the buffer is looked at when it is that large.
            flush_at: usize::try_from(options.roll_size).unwrap_or(BUFFER).min(BUFFER),
            checkpoint: options.first_checkpoint,
            options,
            encoder,
            open: HashMap::new(),
            closed: Vec::new(),
            flow: Arc::default(),
            next: 0,
            folder: String::new(),
            row: PhantomData,
        }
    }

    #[cold]
    fn begin(&mut self) -> JobResult<()> {
        let most = if self.options.remote.is_some() { MOST_UPLOADS } else { MOST_OPEN };
        if self.open.len() >= most {
            self.close_all()?;
        }
        let name =
            format!(".part-{}-{}-{}.{}", self.options.subtask, self.options.first_checkpoint, self.next, self.options.extension);
        self.next += 1;
        let (path, file) = match &self.options.remote {
            Some(folder) => self.upload(folder, name)?,
            None => {
                let path = self.options.staging.join(name);
                let file = File::create(&path).map_err(|error| cannot_write(&path, &error))?;
                (path, Output::File(file))
            }
        };
        let file = match self.options.gzip {
            true => Compressed::Gzip(Box::new(GzEncoder::new(file, Compression::default()))),
            false => Compressed::No(file),
        };
        let mut buffer = Vec::with_capacity(BUFFER + BUFFER / 4);
        self.encoder.header(&mut buffer);
        self.open.insert(self.folder.clone(), OpenFile { path, file, buffer, written: 0 });
        Ok(())
    }

    /// An object gets its name before anybody knows which checkpoint will hold it: the number of the first that can.
    fn upload(&self, folder: &RemoteFolder, temporary: String) -> JobResult<(PathBuf, Output)> {
        let RemoteFolder { remote, markers } = folder;
        let name = format!("{}{}-{}.{}", self.options.prefix, self.checkpoint, self.next - 1, self.options.extension);
        let key = remote.key(&if self.folder.is_empty() { name } else { format!("{}/{name}", self.folder) });
        // Requests of an attempt that has ended may still be on their way.
        let marker = format!("{}-{:016x}", temporary.trim_start_matches('.'), unique());
        let target = UploadTarget {
            store: remote.store.clone(),
            bucket: remote.bucket().to_owned(),
            key,
            markers: markers.clone(),
            marker,
            roll_size: self.options.roll_size,
        };
        Ok((PathBuf::from(&remote.shown), Output::Upload(Box::new(Upload::start(target, self.flow.clone())?))))
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
        let output = match open.file {
            Compressed::No(output) => output,
            Compressed::Gzip(encoder) => encoder.finish().map_err(failed)?,
        };
        self.closed.push(match output {
            Output::File(file) => {
                file.sync_all().map_err(failed)?;
                let size = file.metadata().map_err(failed)?.len();
                Closed::Staged(folder, open.path, size)
            }
            Output::Upload(upload) => Closed::Uploading(upload.end()),
        });
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
        self.checkpoint = checkpoint + 1;
        let closed = std::mem::take(&mut self.closed);
        if !closed.is_empty() && self.options.remote.is_none() {
            // The files are on disk; after a power cut they must have their names, too.
            sync_folder(&self.options.staging).map_err(|error| cannot_write(&self.options.staging, &error))?;
        }
        let committable = |(number, closed): (usize, Closed)| {
            let (folder, temporary, size) = match closed {
                Closed::Staged(folder, temporary, size) => (folder, temporary, size),
                Closed::Uploading(ending) => return ending.wait(),
            };
            let name = format!("{}{checkpoint}-{number}.{}", self.options.prefix, self.options.extension);
            let target = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let temporary = temporary.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            Ok(StagedFile { temporary, target, size, inputs: Vec::new() }.encode())
        };
        closed.into_iter().enumerate().map(committable).collect()
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.flow.poll_ready(context).map(Ok)
    }
}

/// A number that nobody else has.
fn unique() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

fn cannot_write(path: &std::path::Path, error: &std::io::Error) -> JobError {
    JobError::io(format_args!("cannot write `{}`", path.display()), error)
}
