//! What this job is given when it starts.

use millstream::codegen::*;

/// The flags of this job.
pub const SPECS: &[ParamSpec] = &[
    ParamSpec {
        name: "lag",
        ty: "duration",
        default: Some("5m"),
        doc: "",
    },
];

/// The values of this run.
#[derive(Clone)]
pub struct Params {
    pub env_recent: Str,
    pub lag: Duration,
}

impl Params {
    /// Reads what the command line and the environment give.
    pub fn read(values: &ParamValues) -> Result<Self, JobError> {
        Ok(Params {
            env_recent: environment("RECENT")?,
            lag: values.get("lag")?,
        })
    }
}
