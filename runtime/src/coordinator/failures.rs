//! How many checkpoints in a row may fail before the job does.

/// Counts failed checkpoints; one that completes begins the count anew.
///
/// What counts: a checkpoint that took too long, one that cannot be stored, one to which a task has no part. What does not: a
/// checkpoint that is lost because the job fails for another reason, and one that cannot even begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failures {
    tolerated: u32,
    in_a_row: u32,
}

impl Failures {
    pub(super) fn new(tolerated: u32) -> Self {
        Failures { tolerated, in_a_row: 0 }
    }

    pub(super) fn succeeded(&mut self) {
        self.in_a_row = 0;
    }

    /// One more. Err: that is one too many.
    pub(super) fn failed(&mut self) -> Result<(), ()> {
        self.in_a_row += 1;
        if self.in_a_row > self.tolerated { Err(()) } else { Ok(()) }
    }

    /// Whether the last checkpoint has failed.
    pub(super) fn any(&self) -> bool {
        self.in_a_row > 0
    }

    /// `failure 2 in a row, 3 are tolerated`
    pub(super) fn words(&self) -> String {
        match self.tolerated {
            0 => "none is tolerated".to_owned(),
            tolerated => format!("failure {} in a row, {tolerated} are tolerated", self.in_a_row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_begins_the_count_anew() {
        let mut failures = Failures::new(2);
        assert_eq!([failures.failed(), failures.failed()], [Ok(()), Ok(())]);
        failures.succeeded();
        assert_eq!([failures.failed(), failures.failed(), failures.failed()], [Ok(()), Ok(()), Err(())]);
        assert_eq!(Failures::new(0).failed(), Err(()));
    }
}
