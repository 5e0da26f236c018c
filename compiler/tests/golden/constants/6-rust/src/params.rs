//! What this job is given when it starts.

use millstream::codegen::*;

/// The flags of this job.
pub const SPECS: &[ParamSpec] = &[
    ParamSpec {
        name: "since",
        ty: "timestamp",
        default: Some("2026-01-01T00:00:00Z"),
        doc: "",
    },
];

/// The values of this run.
#[derive(Clone)]
pub struct Params {
    pub since: Timestamp,
}

impl Params {
    /// Reads what the command line and the environment give.
    pub fn read(values: &ParamValues) -> Result<Self, JobError> {
        Ok(Params {
            since: values.get("since")?,
        })
    }
}
