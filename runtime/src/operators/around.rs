//! What operators around another operator hand on to it as it is: all calls without a collector.

/// In `impl Operator<$input>` for a type whose field `operator` is the inner one.
macro_rules! around_operator {
    ($input:ty) => {
        fn open(&mut self, context: &crate::operator::OperatorContext) {
            self.operator.open(context);
        }

        fn next_processing_time(&self) -> Option<i64> {
            self.operator.next_processing_time()
        }

        fn snapshot(&mut self, snapshot: &mut crate::operator::OperatorSnapshot) -> Result<(), crate::error::JobError> {
            self.operator.snapshot(snapshot)
        }

        fn restore(&mut self, state: &crate::operator::RestoredOperator) -> Result<(), crate::error::JobError> {
            self.operator.restore(state)
        }

        fn late(&self) -> Option<&dyn crate::operator::Stage<$input>> {
            self.operator.late()
        }

        fn late_mut(&mut self) -> Option<&mut dyn crate::operator::Stage<$input>> {
            self.operator.late_mut()
        }

        fn report(&self, report: &mut crate::operator::OperatorReport) {
            self.operator.report(report);
        }
    };
}
pub(super) use around_operator;
