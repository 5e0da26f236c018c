//! The chain `orders`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::params::Params;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let params = Params::read(cx.params())?;
    let to_counts = cx
        .hash::<
            types::Counts,
            (types::Status, bool),
            _,
        >(0, |row: &types::Counts| Ok((row.status, row.known)))?;
    let select_0 = cx
        .operator(
            "counts/select/0",
            "counts: select",
            Project::new(|row: types::Order| Ok(types::Counts {
                code: match row.status {
                    types::Status::Open => 0i64,
                    types::Status::Shipped => 1i64,
                    types::Status::InTransit => 2i64,
                    _ => 3i64,
                },
                known: match row.before {
                    None => false,
                    _ => true,
                },
                status: row.status,
            })),
            to_counts,
        )?;
    let where_0 = cx
        .operator(
            "counts/where/0",
            "counts: where",
            Filter::new({
                let params = params.clone();
                move |row: &types::Order| Ok(
                    row.status >= params.least && row.status != types::Status::Lost
                        && match row.before {
                            Some(v1) => {
                                contains_or_null(
                                    v1,
                                    &[Some(types::Status::Open), Some(types::Status::Lost)],
                                )
                            }
                            None => None,
                        } == Some(false),
                )
            }),
            select_0,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: None::<fn(&types::Order) -> Result<Option<Timestamp>, EvalError>>,
        on_error: ErrorPolicy::Fail,
    };
    cx.source("orders/source/0", "orders", source, config, where_0)
}

/// in.flow:15 source orders: Order from file { path: "orders.json", format: json }
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Order, JsonFormat>> {
    let options = Options::new()
        .with("path", "orders.json")
        .with_block("format", "json", Options::new());
    FileSource::<types::Order, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
