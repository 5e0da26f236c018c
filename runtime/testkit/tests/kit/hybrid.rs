//! The hybrid source: a history of files, then what has come since.

use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use millstream::source::hybrid::{Hybrid, HybridSource, NoStages, Switch, Then};
use millstream::{JobResult, Options};
use millstream_testkit::files::Line;
use millstream_testkit::{SourceClaims, SourceContext, source_suite};

use super::file_source::Folder;

type Files = FileSource<Line, JsonFormat>;
type Make = Box<dyn Fn(&Switch<()>) -> JobResult<Files> + Send + Sync>;

pub struct TwoStages(Folder);

impl TwoStages {
    fn stage(&self, name: &str) -> Make {
        let path = self.0.path(&format!("{name}*.jsonl")).display().to_string();
        Box::new(move |_| FileSource::from_options(&Options::new().with("path", path.clone())))
    }
}

impl SourceContext for TwoStages {
    type Source = HybridSource<Then<Then<NoStages<Line, ()>, Files, Make>, Files, Make>>;
    const NAME: &'static str = "hybrid";
    const CLAIMS: SourceClaims = SourceClaims::BOUNDED;

    fn open() -> JobResult<Self> {
        let stages = TwoStages(Folder::open()?);
        // A stage without any file would be a mistake.
        for stage in ["history", "live"] {
            stages.0.append_to(&format!("{stage}.jsonl"), 0, 0)?;
        }
        Ok(stages)
    }

    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        let mut lines = self.0.append_to(&format!("history {split}.jsonl"), split, rows / 2)?;
        lines.extend(self.0.append_to(&format!("live {split}.jsonl"), split, rows - rows / 2)?);
        Ok(lines)
    }

    fn source(&self, _bounded: bool) -> JobResult<Self::Source> {
        let hybrid = Hybrid::of::<Line, ()>().stage("history", self.stage("history")).stage("live", self.stage("live"));
        Ok(hybrid.bounded())
    }
}

source_suite!(TwoStages);
