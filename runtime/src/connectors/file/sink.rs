//! The sink of the connector `file`: its options.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use xxhash_rust::xxh3::xxh3_64;

use super::committer::FileCommitter;
use super::compactor::{CompactOptions, FileCompactor};
use super::remote::{RemoteCommitter, RemoteSuccess};
use super::success::SuccessFile;
use super::writer::{FileWriter, RemoteFolder, WriterOptions};
use crate::error::{JobError, JobResult};
use crate::formats::{Encoder, Format};
use crate::options::Options;
use crate::record::Record;
use crate::sink::{Committer, Compactor, GlobalCommitter, Sink, SinkContext};
use crate::storage::{Remote, local_path, open_remote, scheme_of};

const ROLL_SIZE: u64 = 256 * 1024 * 1024;

/// Checkpoints that rows wait at most to be merged with others.
const COMPACT_EVERY: u64 = 10;

/// Writes rows of type `T` in the format `F` to files in a folder.
#[derive(Clone, Debug)]
pub struct FileSink<T, F> {
    folder: PathBuf,
    /// None: the folder is a local one.
    remote: Option<Remote>,
    gzip: bool,
    /// Indices of columns.
    partition: Vec<usize>,
    roll_size: u64,
    existing: Existing,
    compact: Option<CompactOptions>,
    success_file: bool,
    format: F,
    row: PhantomData<fn(T)>,
}

/// What happens at the start when the folder holds files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Fail,
    Append,
    Replace,
}

impl<T: Record, F: Format> FileSink<T, F> {
    /// See the connector's options.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        let partition = options.columns("partition")?.iter().map(|name| {
            let found = T::COLUMNS.iter().position(|column| column.name == name);
            found.ok_or_else(|| {
                JobError::new(format!("the option `partition` names a column `{name}`, which the rows do not have"))
            })
        });
        let path = options.required_text("path")?;
        let remote = scheme_of(path).is_some().then(|| open_remote(path)).transpose()?;
        let compact = compact(options)?;
        if remote.is_some() && compact.is_some() {
            return Err(JobError::new(format!(
                "files in `{path}` cannot be merged before they are shown: leave `compact` and `compact_every` away, and take fewer \
                 checkpoints or a lower parallelism for larger files"
            )));
        }
        Ok(FileSink {
            folder: PathBuf::from(local_path(path)),
            remote,
            gzip: options.word("compression", &["none", "gzip"])? == "gzip",
            partition: partition.collect::<JobResult<_>>()?,
            roll_size: options.unsigned("roll_size")?.unwrap_or(ROLL_SIZE).max(1),
            existing: match options.word("existing", &["fail", "append", "replace"])? {
                "append" => Existing::Append,
                "replace" => Existing::Replace,
                _ => Existing::Fail,
            },
            compact,
            success_file: options.boolean("success_file")?.unwrap_or(false),
            format: crate::connectors::format_of(options)?,
            row: PhantomData,
        })
    }

    /// Where unfinished files are. Hidden, in the target folder itself: the way to their place is a rename.
    fn staging(&self, context: &SinkContext) -> PathBuf {
        self.folder.join(hidden(context))
    }

    fn extension(&self) -> String {
        let extension = self.format.extension();
        if self.gzip { format!("{extension}.gz") } else { extension.to_owned() }
    }

    /// What the names of this run's files begin with.
    fn prefix(&self, context: &SinkContext) -> String {
        match self.existing {
            // An object that is there must be told from one of another run, or of another sink, by its name alone.
            _ if self.remote.is_some() => format!("part-{}-{:08x}-", context.run, uid_hash(context)),
            // Files of other runs are there: the run keeps the names apart.
            Existing::Append if !context.replace => format!("part-{}-", context.run),
            _ => "part-".to_owned(),
        }
    }
}

/// The folder of a run for what is not finished, or markers of it.
fn hidden(context: &SinkContext) -> String {
    format!(".millstream-{}-{:08x}", context.run, uid_hash(context))
}

/// A directory of checkpoints, as it is written into the folder of a run: relative ones depend on where the process runs.
fn owner(checkpoints: &str) -> String {
    let absolute = match checkpoints.contains("://") {
        true => None,
        false => std::path::absolute(checkpoints).ok().map(|path| path.display().to_string()),
    };
    absolute.unwrap_or_else(|| checkpoints.to_owned())
}

fn uid_hash(context: &SinkContext) -> u64 {
    xxh3_64(context.uid.as_bytes()) & 0xffff_ffff
}

/// `compact: 128MB`, `compact_every: 10`: either asks for it.
fn compact(options: &Options) -> JobResult<Option<CompactOptions>> {
    let (size, every) = (options.unsigned("compact")?, options.unsigned("compact_every")?);
    if every == Some(0) {
        return Err(JobError::new("the option `compact_every` takes a number of checkpoints from 1"));
    }
    Ok((size.is_some() || every.is_some())
        .then(|| CompactOptions { size: size.unwrap_or(u64::MAX), every: every.unwrap_or(COMPACT_EVERY) }))
}

impl<T: Record, F: Format> Sink<T> for FileSink<T, F> {
    type Writer = FileWriter<T, F::Encoder<T>>;

    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer> {
        let options = WriterOptions {
            staging: self.staging(context),
            prefix: format!("{}{}-", self.prefix(context), context.subtask),
            extension: self.extension(),
            gzip: self.gzip,
            partition: self.partition.clone(),
            roll_size: self.roll_size,
            subtask: context.subtask,
            first_checkpoint: context.first_checkpoint,
            remote: self
                .remote
                .as_ref()
                .map(|remote| RemoteFolder { remote: remote.clone(), markers: remote.key(&hidden(context)) }),
        };
        Ok(FileWriter::new(options, self.format.encoder()?))
    }

    fn compactor(&self, context: &SinkContext) -> JobResult<Option<Arc<dyn Compactor>>> {
        let Some(options) = self.compact else { return Ok(None) };
        let mut header = Vec::new();
        Encoder::<T>::header(&mut self.format.encoder()?, &mut header);
        Ok(Some(Arc::new(FileCompactor {
            options,
            folder: self.folder.clone(),
            staging: self.staging(context),
            prefix: self.prefix(context),
            extension: self.extension(),
            gzip: self.gzip,
            header,
            first_checkpoint: context.first_checkpoint,
            next: AtomicU64::new(0),
        })))
    }

    fn committer(&self, context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        let existing = if context.replace { Existing::Replace } else { self.existing };
        if let Some(remote) = &self.remote {
            let markers = remote.key(&hidden(context));
            return Ok(Some(Box::new(RemoteCommitter::new(remote.clone(), markers, self.prefix(context), existing))));
        }
        Ok(Some(Box::new(FileCommitter::new(
            self.folder.clone(),
            self.staging(context),
            self.prefix(context),
            existing,
            context.retained,
            context.checkpoints.as_deref().map(owner).unwrap_or_default(),
        ))))
    }

    fn global_committer(&self, _context: &SinkContext) -> JobResult<Option<Box<dyn GlobalCommitter>>> {
        if let Some(remote) = &self.remote {
            return Ok(self.success_file.then(|| Box::new(RemoteSuccess::new(remote)) as Box<dyn GlobalCommitter>));
        }
        Ok(self.success_file.then(|| Box::new(SuccessFile::new(&self.folder)) as Box<dyn GlobalCommitter>))
    }
}
