//! What operators around another operator hand on to it as it is: all calls without a collector. And stages around a stage of other
//! rows: all calls without a row.

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

/// In `impl Stage<..>` for a type around a stage, by the name of its field.
macro_rules! around_stage {
    ($stage:tt) => {
        fn end_of_batch(&mut self) -> Result<(), crate::error::JobError> {
            self.$stage.end_of_batch()
        }

        fn flush(&mut self) -> Result<(), crate::error::JobError> {
            self.$stage.flush()
        }

        fn poll_ready(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), crate::error::JobError>> {
            self.$stage.poll_ready(context)
        }

        fn poll_flush(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), crate::error::JobError>> {
            self.$stage.poll_flush(context)
        }

        fn poll_background(
            &mut self,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), crate::error::JobError>> {
            self.$stage.poll_background(context)
        }

        fn watermark(&mut self, watermark: crate::time::Watermark) -> Result<(), crate::error::JobError> {
            self.$stage.watermark(watermark)
        }

        fn processing_time(&mut self, now: i64) -> Result<(), crate::error::JobError> {
            self.$stage.processing_time(now)
        }

        fn next_processing_time(&self) -> Option<i64> {
            self.$stage.next_processing_time()
        }

        fn finish(&mut self) -> Result<(), crate::error::JobError> {
            self.$stage.finish()
        }

        fn snapshot(&mut self, snapshot: &mut crate::operator::SnapshotBuilder) -> Result<(), crate::error::JobError> {
            self.$stage.snapshot(snapshot)
        }

        fn restore(&mut self, state: &crate::operator::RestoredState) -> Result<(), crate::error::JobError> {
            self.$stage.restore(state)
        }

        fn checkpoint_complete(&mut self, checkpoint: u64) -> Result<(), crate::error::JobError> {
            self.$stage.checkpoint_complete(checkpoint)
        }

        fn checkpoint_aborted(&mut self, checkpoint: u64) -> Result<(), crate::error::JobError> {
            self.$stage.checkpoint_aborted(checkpoint)
        }

        fn report(&self, reports: &mut Vec<crate::operator::OperatorReport>) {
            self.$stage.report(reports);
        }
    };
}
pub(super) use around_stage;
