//! What this job is given when it starts.

use millstream::codegen::*;
use crate::types;

/// The flags of this job.
pub const SPECS: &[ParamSpec] = &[
    ParamSpec {
        name: "least",
        ty: "Status",
        default: Some("shipped"),
        doc: "Orders from this state on.",
    },
];

/// The values of this run.
#[derive(Clone)]
pub struct Params {
    pub least: types::Status,
}

impl Params {
    /// Reads what the command line and the environment give.
    pub fn read(values: &ParamValues) -> Result<Self, JobError> {
        Ok(Params {
            least: values.get("least")?,
        })
    }
}
