//! Merges small staged files into one before they are committed, a folder of partitions at a time.
//!
//! In: staged files of completed checkpoints. Out: staged files under new names. Inputs are never changed; a merge that was cut
//! short is made again under a name of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::committable::StagedFile;
use crate::error::{JobError, JobResult};
use crate::notice::notice;
use crate::sink::{CompactPlan, Compactor, Staged};
use crate::storage::sync_folder;

/// When files are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompactOptions {
    /// Files of a folder are merged when they have so many bytes together; a file of that size goes as it is.
    pub size: u64,
    /// However small, they are merged after so many checkpoints.
    pub every: u64,
}

/// The compactor of a file sink.
#[derive(Debug)]
pub(super) struct FileCompactor {
    pub options: CompactOptions,
    pub folder: PathBuf,
    pub staging: PathBuf,
    /// What the names of this run's files begin with: `part-`.
    pub prefix: String,
    pub extension: String,
    pub gzip: bool,
    /// What every file begins with; it stands once in a merged one.
    pub header: Vec<u8>,
    /// The first checkpoint of this attempt, part of temporary names: see the writer's.
    pub first_checkpoint: u64,
    /// The number of the next merged file.
    pub next: AtomicU64,
}

impl Compactor for FileCompactor {
    fn plan(&self, waiting: Vec<Staged>, checkpoint: u64, end: bool) -> JobResult<CompactPlan> {
        let mut plan = CompactPlan::default();
        let mut folders: BTreeMap<String, (u64, Vec<Staged>)> = BTreeMap::new();
        for staged in waiting {
            let file = StagedFile::decode(&staged.committable)?;
            if file.size >= self.options.size {
                plan.pass.push(staged);
                continue;
            }
            let folder = file.target.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            let (size, files) = folders.entry(folder).or_default();
            *size += file.size;
            files.push(staged);
        }
        for (size, files) in folders.into_values() {
            let oldest = files.iter().map(|staged| staged.checkpoint).min().unwrap_or(checkpoint);
            if !end && size < self.options.size && checkpoint.saturating_sub(oldest) + 1 < self.options.every {
                plan.hold.extend(files);
            } else if files.len() == 1 {
                plan.pass.extend(files);
            } else {
                plan.merge.push(files);
            }
        }
        Ok(plan)
    }

    fn merge(&self, request: &[Staged]) -> JobResult<Vec<Vec<u8>>> {
        let mut files = request.iter().map(|staged| StagedFile::decode(&staged.committable)).collect::<JobResult<Vec<_>>>()?;
        let mut results = Vec::new();
        // After a step back to an older checkpoint, a file may have been committed by itself: it stays as it is.
        files.retain(|file| {
            let committed = !self.staging.join(&file.temporary).exists() && self.folder.join(&file.target).exists();
            if committed {
                results.push(file.encode());
            }
            !committed
        });
        // A file with another header has other columns: it cannot be merged.
        let mut alike = Vec::new();
        for file in files {
            if self.header.is_empty() || self.begins_with_header(&file)? {
                alike.push(file);
            } else {
                notice(&format!("warning: `{}` has other columns than the sink has now and is not merged", file.target));
                results.push(file.encode());
            }
        }
        match alike.len() {
            0 => {}
            1 => results.extend(alike.iter().map(StagedFile::encode)),
            _ => results.push(self.merge_files(&alike)?.encode()),
        }
        Ok(results)
    }

    /// Merged files get their names with the checkpoint that they are committed with: a job that is resumed from an older one
    /// knows by it that they have to go.
    fn seal(&self, result: Vec<u8>, checkpoint: u64, number: u64) -> JobResult<Vec<u8>> {
        let file = StagedFile::decode(&result)?;
        if file.inputs.is_empty() {
            return Ok(result);
        }
        let name = format!("{}c-{checkpoint}-{number}.{}", self.prefix, self.extension);
        let target = match file.target.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{name}"),
            None => name,
        };
        Ok(StagedFile { target, ..file }.encode())
    }
}

impl FileCompactor {
    fn merge_files(&self, files: &[StagedFile]) -> JobResult<StagedFile> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".merged-{}-{number}.{}", self.first_checkpoint, self.extension);
        let path = self.staging.join(&temporary);
        let failed = |error: std::io::Error| JobError::io(format_args!("cannot write `{}`", path.display()), &error);
        let mut output = Output::create(&path, self.gzip).map_err(failed)?;
        output.write_all(&self.header).map_err(failed)?;
        for file in files {
            let input = self.staging.join(&file.temporary);
            let mut reader = self.open(&input)?;
            let read = |error: std::io::Error| JobError::io(format_args!("cannot merge `{}`", input.display()), &error);
            reader.read_exact(&mut vec![0; self.header.len()]).map_err(read)?;
            std::io::copy(&mut reader, &mut output).map_err(read)?;
        }
        let size = output.finish().map_err(failed)?;
        // The inputs go when the next checkpoints are complete: until then the result must have its name on disk.
        sync_folder(&self.staging).map_err(failed)?;
        Ok(StagedFile {
            temporary,
            target: files.first().map(|file| file.target.clone()).unwrap_or_default(),
            size,
            inputs: files.iter().map(|file| file.temporary.clone()).collect(),
        })
    }

    fn begins_with_header(&self, file: &StagedFile) -> JobResult<bool> {
        let path = self.staging.join(&file.temporary);
        let mut start = Vec::new();
        let read = self.open(&path)?.take(self.header.len() as u64).read_to_end(&mut start);
        read.map_err(|error| JobError::io(format_args!("cannot read `{}`", path.display()), &error))?;
        Ok(start == self.header)
    }

    fn open(&self, path: &Path) -> JobResult<Box<dyn Read>> {
        let file = File::open(path).map_err(|error| JobError::io(format_args!("cannot read `{}`", path.display()), &error))?;
        let file = BufReader::with_capacity(64 * 1024, file);
        Ok(if self.gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
    }
}

enum Output {
    Plain(BufWriter<File>),
    Gzip(BufWriter<GzEncoder<File>>),
}

impl Output {
    fn create(path: &Path, gzip: bool) -> std::io::Result<Self> {
        let file = File::create(path)?;
        Ok(match gzip {
            true => Output::Gzip(BufWriter::with_capacity(64 * 1024, GzEncoder::new(file, Compression::default()))),
            false => Output::Plain(BufWriter::with_capacity(64 * 1024, file)),
        })
    }

    /// Everything is on disk. The size.
    fn finish(self) -> std::io::Result<u64> {
        let file = match self {
            Output::Plain(writer) => writer.into_inner().map_err(std::io::IntoInnerError::into_error)?,
            Output::Gzip(writer) => writer.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()?,
        };
        file.sync_all()?;
        Ok(file.metadata()?.len())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Output::Plain(writer) => writer.write(bytes),
            Output::Gzip(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Output::Plain(writer) => writer.flush(),
            Output::Gzip(writer) => writer.flush(),
        }
    }
}
