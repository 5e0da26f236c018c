//! The chain `payments`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::params::Params;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let params = Params::read(cx.params())?;
    let options = Options::new()
        .with("path", "small")
        .with_block("format", "json", Options::new());
    let sink_small_file = cx
        .sink(
            "sink/small/file",
            "small into file",
            FileSink::<types::Limit, JsonFormat>::from_options(&options)?,
        )?;
    let options = Options::new()
        .with("path", "halves")
        .with_block("format", "json", Options::new());
    let sink_halves_file = cx
        .sink(
            "sink/halves/file",
            "halves into file",
            FileSink::<types::Payment, JsonFormat>::from_options(&options)?,
        )?;
    let options = Options::new()
        .with("path", "asked")
        .with_block("format", "json", Options::new());
    let sink_asked_file = cx
        .sink(
            "sink/asked/file",
            "asked into file",
            FileSink::<types::Asked3, JsonFormat>::from_options(&options)?,
        )?;
    let process_0 = cx
        .operator(
            "halves/process/0",
            "halves: process",
            StatelessProcess::new(
                    crate::items::Halved {
                        least: Convert::convert(0.5f64),
                    },
                    HalvesProcess,
                )
                .with_side(Converted::<_, types::Limit>::new(sink_small_file)),
            sink_halves_file,
        )?;
    let select_0 = cx
        .operator(
            "halves/select/0",
            "halves: select",
            Project::new(|row: types::Payment| Ok(types::Payment {
                amount: row.amount,
                at: row.at,
                card: row.card,
            })),
            process_0,
        )?;
    let where_0 = cx
        .operator(
            "halves/where/0",
            "halves: where",
            Filter::new(|row: &types::Payment| Ok(compare::gt(&row.amount, &1f64))),
            select_0,
        )?;
    let to_above = cx
        .hash::<types::Payment, Str, _>(2, |row: &types::Payment| Ok(row.card.clone()))?;
    let select_1 = cx
        .operator(
            "above/select/1",
            "above: select",
            Project::new(|row: types::Payment| Ok(types::Payment {
                amount: row.amount,
                at: row.at,
                card: row.card,
            })),
            to_above,
        )?;
    let to_lost = cx
        .hash::<types::Payment, Str, _>(0, |row: &types::Payment| Ok(row.card.clone()))?;
    let select_1_2 = cx
        .operator(
            "lost/select/1",
            "lost: select",
            Project::new(|row: types::Payment| Ok(types::Payment {
                amount: row.amount,
                at: row.at,
                card: row.card,
            })),
            to_lost,
        )?;
    let select_0_2 = cx
        .operator(
            "asked/select/0",
            "asked: select",
            Project::new(|row: types::Asked2| Ok(types::Asked3 {
                at: row.at,
                card: row.card,
                bank: row.bank_of_answer_1,
            })),
            sink_asked_file,
        )?;
    let async_1 = cx
        .operator(
            "asked/async/1",
            "asked: async",
            CallAsync::new(
                "bank_of",
                true,
                100,
                {
                    let params = std::sync::Arc::new(params.clone());
                    move |row: types::Asked| {
                        let params = params.clone();
                        async move {
                            let answer = in_time(
                                    30000000,
                                    async {
                                        Ok::<
                                            _,
                                            EvalError,
                                        >(
                                            crate::functions::bank_of(
                                                    functions::concat(
                                                            &[
                                                                params.before.as_str(),
                                                                match row.owner_of_answer_1.as_deref() {
                                                                    Some(v1) => v1,
                                                                    None => "none",
                                                                },
                                                            ],
                                                        )
                                                        .as_str(),
                                                )
                                                .await
                                                .at(
                                                    "bank_of(concat(before, owner_of(card) ?? \"none\"))",
                                                    "in.flow:13:48",
                                                )?,
                                        )
                                    },
                                )
                                .await
                                .at(
                                    "bank_of(concat(before, owner_of(card) ?? \"none\"))",
                                    "in.flow:13:48",
                                );
                            (row, answer)
                        }
                    }
                },
                |row: types::Asked, answer: Str| types::Asked2 {
                    card: row.card,
                    amount: row.amount,
                    at: row.at,
                    owner_of_answer_1: row.owner_of_answer_1,
                    bank_of_answer_1: answer,
                },
            ),
            select_0_2,
        )?;
    let async_0 = cx
        .operator(
            "asked/async/0",
            "asked: async",
            CallAsync::new(
                "owner_of",
                false,
                20,
                |row: types::Payment| async move {
                    let answer = in_time(
                            5000000,
                            async {
                                Ok::<
                                    _,
                                    EvalError,
                                >(
                                    crate::functions::owner_of(row.card.as_str())
                                        .await
                                        .at("owner_of(card)", "in.flow:13:71")?,
                                )
                            },
                        )
                        .await
                        .at("owner_of(card)", "in.flow:13:71");
                    (row, answer)
                },
                |row: types::Payment, answer: Option<Str>| types::Asked {
                    card: row.card,
                    amount: row.amount,
                    at: row.at,
                    owner_of_answer_1: answer,
                },
            ),
            async_1,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Payment| Ok(
            Some(arith::sub(row.at, Duration(5_000_000)).at("at - 5s", "in.flow:8:87")?),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source(
        "payments/source/0",
        "payments",
        source,
        config,
        FanOut::new(async_0, FanOut::new(select_1_2, FanOut::new(select_1, where_0))),
    )
}

/// in.flow:23 process Halved { least: 0.5 } side into small
struct HalvesProcess;

impl Processing for HalvesProcess {
    type Process = crate::items::Halved;
    type In = types::Payment;
    type Out = types::Payment;
    type Key = ();
    #[inline]
    fn key(&self, _row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(())
    }
    #[inline]
    fn time(&self, row: &Self::In) -> Result<Option<Timestamp>, EvalError> {
        Ok(Some(row.at))
    }
    #[inline]
    fn input(
        &self,
        row: Self::In,
    ) -> Result<<Self::Process as Process>::Input, EvalError> {
        Ok(crate::items::Payment {
            card: Convert::convert(row.card),
            amount: Convert::convert(row.amount),
            at: Convert::convert(row.at),
        })
    }
    #[inline]
    fn output(
        &self,
        row: <Self::Process as Process>::Output,
    ) -> Result<Self::Out, EvalError> {
        Ok(Convert::convert(row))
    }
}

/// in.flow:8 source payments: Payment from file { path: "payments.jsonl", format: json } watermark at - 5s
pub fn source(
    _params: &ParamValues,
) -> JobResult<FileSource<types::Payment, JsonFormat>> {
    let options = Options::new()
        .with("path", "payments.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Payment, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
