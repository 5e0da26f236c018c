//! The chain `leaders`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/leaders")
        .with_block("format", "json", Options::new());
    let sink_leaders_file = cx
        .sink(
            "sink/leaders/file",
            "leaders into file",
            FileSink::<types::Sink, JsonFormat>::from_options(&options)?,
        )?;
    let sink_leaders_select_0 = cx
        .operator(
            "sink/leaders/select/0",
            "leaders: select",
            Project::new(|row: types::Click| Ok(types::Sink { page: row.page })),
            sink_leaders_file,
        )?;
    let to_late_to_sort = cx.forward::<types::Click>(4)?;
    let top_0 = cx
        .operator(
            "leaders/top/0",
            "leaders: top",
            Flatten::new(
                    WindowAggregate::new(
                            Tumbling::new(60_000_000, 0),
                            TopRows::new(
                                Limit::new(1),
                                |row: &types::Click| Ok(row.user.clone()),
                                |row: &types::Click| Ok(row.page.clone()),
                                |row: &types::Click, _rank| row.clone(),
                                |row: &types::Click| Ok(row.at),
                            ),
                        )
                        .with_late(to_late_to_sort),
                )
                .hold_back(60_000_000),
            sink_leaders_select_0,
        )?;
    cx.input::<types::Click, _>(top_0)
}
