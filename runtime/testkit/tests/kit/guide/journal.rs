//! A sink: rows as lines of one file, every row once, whatever happens.
//!
//! The lines of a checkpoint are followed by a line `# end of CHECKPOINT by SUBTASK`. Lines without such an end do not count.

use std::fmt::Display;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use millstream::sink::{CommitRequest, Committer, Sink, SinkContext, SinkStart, SinkWriter};
use millstream::{JobError, JobResult};

/// The sink: what options would be.
#[derive(Clone, Debug)]
pub struct Journal {
    pub path: PathBuf,
}

impl<T: Display + Send> Sink<T> for Journal {
    type Writer = JournalWriter;

    fn writer(&self, _context: &SinkContext) -> JobResult<JournalWriter> {
        Ok(JournalWriter::default())
    }

    fn committer(&self, _context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        Ok(Some(Box::new(JournalCommitter { path: self.path.clone() })))
    }
}

/// Collects the lines of a checkpoint. They travel in the committable: good for little data. Much data is staged outside, and the
/// committable says where.
#[derive(Debug, Default)]
pub struct JournalWriter {
    lines: String,
}

impl<T: Display + Send> SinkWriter<T> for JournalWriter {
    fn write(&mut self, row: T) -> JobResult<()> {
        self.lines.push_str(&row.to_string());
        self.lines.push('\n');
        Ok(())
    }

    fn prepare_commit(&mut self, _checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        let lines = std::mem::take(&mut self.lines);
        Ok(if lines.is_empty() { Vec::new() } else { vec![lines.into_bytes()] })
    }
}

struct JournalCommitter {
    path: PathBuf,
}

/// The checkpoint and subtask of a block, and where it ends.
type Block = (u64, u32, usize);

/// The complete blocks of a journal.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let end = line.strip_suffix('\n').and_then(|line| line.strip_prefix("# end of ")?.split_once(" by "));
        if let Some((checkpoint, subtask)) = end
            && let (Ok(checkpoint), Ok(subtask)) = (checkpoint.parse(), subtask.parse())
        {
            found.push((checkpoint, subtask, at));
        }
    }
    found
}

impl JournalCommitter {
    fn failed(&self, error: &std::io::Error) -> JobError {
        JobError::io(format_args!("cannot write the journal `{}`", self.path.display()), error)
    }

    fn text(&self) -> JobResult<String> {
        match std::fs::read_to_string(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            read => read.map_err(|error| self.failed(&error)),
        }
    }

    /// Cuts off everything behind the last block that `keep` wants.
    fn cut(&self, keep: impl Fn(u64) -> bool) -> JobResult<()> {
        let text = self.text()?;
        let end = blocks(&text).into_iter().filter(|(checkpoint, ..)| keep(*checkpoint)).map(|(.., end)| end).max();
        let end = end.unwrap_or(0) as u64;
        if end < text.len() as u64 {
            let cut = File::options().write(true).open(&self.path).and_then(|file| file.set_len(end));
            cut.map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }
}

impl Committer for JournalCommitter {
    fn start(&mut self, start: &SinkStart) -> JobResult<()> {
        if *start == SinkStart::Fresh && !self.text()?.is_empty() {
            return Err(JobError::new(format!("the journal `{}` is not empty; give it another name", self.path.display())));
        }
        // A process that died while it wrote may have left half a block.
        self.cut(|_| true)
    }

    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()> {
        let known = blocks(&self.text()?);
        let mut text = Vec::new();
        for request in requests {
            let (checkpoint, subtask) = (request.checkpoint(), request.subtask());
            if known.iter().any(|(c, s, _)| (*c, *s) == (checkpoint, subtask)) {
                request.already_committed();
                continue;
            }
            text.extend_from_slice(request.committable());
            text.extend_from_slice(format!("# end of {checkpoint} by {subtask}\n").as_bytes());
        }
        let file = File::options().create(true).append(true).open(&self.path);
        let written = file.and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()));
        written.map_err(|error| self.failed(&error))
    }

    fn discard_unknown(&mut self, start: &SinkStart, _waiting: &[Vec<u8>]) -> JobResult<()> {
        match start {
            SinkStart::Fresh => Ok(()),
            // Later ones were committed by a run that went further: their rows come again.
            SinkStart::Resumed { checkpoint } => self.cut(|block| block <= *checkpoint),
        }
    }
}
