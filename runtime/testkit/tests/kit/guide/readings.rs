//! A source: readings of devices in a folder, one file per device, 16 bytes per reading.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use millstream::source::fetch::{Emitter, Fetched, FetchingReader, SplitFetcher};
use millstream::source::{ReaderContext, Source, SourceContext, SourceOutput, Split, StaticEnumerator};
use millstream::{JobError, JobResult};

const RECORD: usize = 16;
const RECORDS_AT_ONCE: usize = 256;

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub device: String,
    pub time: i64,
    pub celsius: f64,
}

/// A split: one file, and how many of its readings have been emitted.
#[derive(Clone, Debug)]
pub struct DeviceFile {
    path: PathBuf,
    position: u64,
}

impl Split for DeviceFile {
    fn id(&self) -> String {
        self.path.display().to_string()
    }

    fn encode(&self) -> Vec<u8> {
        [&self.position.to_le_bytes(), self.path.display().to_string().as_bytes()].concat()
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let bad = || JobError::new("the split of a device is damaged");
        let (position, path) = bytes.split_first_chunk::<8>().ok_or_else(bad)?;
        let path = std::str::from_utf8(path).map_err(|_| bad())?;
        Ok(DeviceFile { path: path.into(), position: u64::from_le_bytes(*position) })
    }
}

/// The source: what options would be.
#[derive(Clone, Debug)]
pub struct Readings {
    pub folder: PathBuf,
}

impl Source for Readings {
    type Row = Reading;
    type Split = DeviceFile;
    type Enumerator = StaticEnumerator<DeviceFile>;
    type Reader = FetchingReader<ReadingEmitter>;

    fn enumerator(&self, _context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Self::Enumerator> {
        if let Some(bytes) = restored {
            return StaticEnumerator::restore(bytes);
        }
        let failed = |error: std::io::Error| JobError::io(format_args!("cannot list `{}`", self.folder.display()), &error);
        let mut splits = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            splits.push(DeviceFile { path: entry.map_err(failed)?.path(), position: 0 });
        }
        splits.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(StaticEnumerator::new(splits))
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader> {
        FetchingReader::start(&context.name, ReadingFetcher::default(), ReadingEmitter)
    }

    fn bounded(&self) -> bool {
        true
    }
}

/// The blocking half: reads bytes on a thread of its own.
#[derive(Default)]
struct ReadingFetcher {
    splits: VecDeque<(Arc<str>, DeviceFile, Option<File>)>,
    paused: Vec<String>,
}

/// What it hands over: the bytes of whole readings, and where the next one to be emitted begins.
pub struct Chunk {
    bytes: Vec<u8>,
    next: usize,
}

impl SplitFetcher for ReadingFetcher {
    type Split = DeviceFile;
    type Chunk = Chunk;

    fn add(&mut self, split: DeviceFile) -> JobResult<()> {
        self.splits.push_back((split.id().into(), split, None));
        Ok(())
    }

    fn fetch(&mut self) -> JobResult<Fetched<Chunk>> {
        let paused = |id: &str| self.paused.iter().any(|paused| paused == id);
        let Some(index) = self.splits.iter().position(|(id, ..)| !paused(id)) else {
            return Ok(Fetched::Nothing(std::time::Duration::from_millis(100)));
        };
        let (id, split, file) = &mut self.splits[index];
        let failed = |error: std::io::Error| JobError::io(format_args!("cannot read `{id}`"), &error);
        let file = match file {
            Some(file) => file,
            none => {
                let mut opened = File::open(&split.path).map_err(failed)?;
                opened.seek(SeekFrom::Start(split.position * RECORD as u64)).map_err(failed)?;
                none.insert(opened)
            }
        };
        let mut bytes = Vec::new();
        file.take((RECORD * RECORDS_AT_ONCE) as u64).read_to_end(&mut bytes).map_err(failed)?;
        if !bytes.len().is_multiple_of(RECORD) {
            return Err(JobError::new(format!("`{id}` ends in the middle of a reading")));
        }
        let id = id.clone();
        if bytes.is_empty() {
            self.splits.remove(index);
            return Ok(Fetched::End(id));
        }
        Ok(Fetched::Chunk(id, Chunk { bytes, next: 0 }))
    }

    fn set_paused(&mut self, split: &str, paused: bool) {
        self.paused.retain(|id| id != split);
        if paused {
            self.paused.push(split.to_owned());
        }
    }
}

/// The half on the task: makes rows of the bytes, and moves the split's position along.
pub struct ReadingEmitter;

impl Emitter for ReadingEmitter {
    type Row = Reading;
    type Split = DeviceFile;
    type Chunk = Chunk;
    /// The name of the device.
    type State = String;

    fn begin(&mut self, split: &DeviceFile) -> JobResult<String> {
        Ok(split.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default())
    }

    fn emit(
        &mut self,
        device: &mut String,
        chunk: &mut Chunk,
        split: &mut DeviceFile,
        limit: usize,
        out: &mut impl SourceOutput<Reading>,
    ) -> JobResult<bool> {
        let end = chunk.bytes.len().min(chunk.next + limit * RECORD);
        for record in chunk.bytes[chunk.next..end].chunks_exact(RECORD) {
            let (time, celsius) = record.split_at(8);
            let time = i64::from_le_bytes(time.try_into().unwrap_or_default());
            let celsius = f64::from_le_bytes(celsius.try_into().unwrap_or_default());
            out.emit(Reading { device: device.clone(), time, celsius })?;
            split.position += 1;
        }
        out.bytes_read((end - chunk.next) as u64);
        chunk.next = end;
        Ok(end == chunk.bytes.len())
    }
}
