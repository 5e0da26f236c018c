//! What a writer counts beyond the rows it was given.

/// Counters of a writer since it was opened. The meaning is that of FLIP-33: sends are counted when they are made, so those
/// that fail and are made again count twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterMetrics {
    /// Rows sent.
    pub records_sent: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Rows whose sending failed.
    pub send_errors: u64,
    /// How long the last request took that succeeded, in microseconds.
    pub last_send_micros: u64,
    /// Rows that wait to be sent or for an answer.
    pub pending: u64,
}
