//! What this job is given when it starts.

use millstream::codegen::*;

/// The flags of this job.
pub const SPECS: &[ParamSpec] = &[
    ParamSpec {
        name: "url",
        ty: "string",
        default: Some("https://example.com/rows"),
        doc: "",
    },
];

/// The values of this run.
#[derive(Clone)]
pub struct Params {
    pub url: Str,
    pub env_token: Str,
}

impl Params {
    /// Reads what the command line and the environment give.
    pub fn read(values: &ParamValues) -> Result<Self, JobError> {
        Ok(Params {
            url: values.get("url")?,
            env_token: environment("TOKEN")?,
        })
    }
}
