//! What this job is given when it starts.

use millstream::codegen::*;

/// The flags of this job.
pub const SPECS: &[ParamSpec] = &[
    ParamSpec {
        name: "before",
        ty: "string",
        default: Some("bank "),
        doc: "",
    },
];

/// The values of this run.
#[derive(Clone)]
pub struct Params {
    pub before: Str,
}

impl Params {
    /// Reads what the command line and the environment give.
    pub fn read(values: &ParamValues) -> Result<Self, JobError> {
        Ok(Params {
            before: values.get("before")?,
        })
    }
}
