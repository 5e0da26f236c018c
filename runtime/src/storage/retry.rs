//! Requests to a store that are tried again when their failure may pass.
//!
//! In: a request that can be made any number of times. Out: its result, or the last failure. What a second attempt cannot cure
//! (no such object, no permission, a full disk) comes back at once.

use std::error::Error as _;
use std::io::ErrorKind;
use std::time::Duration;

use object_store::Error;

use crate::seam::Instant;

/// Attempts, the first one included.
const ATTEMPTS: u32 = 5;

/// What has taken so long is not tried again: the client of a store behind a network tries many times by itself before it says
/// no. But not everything: not requests that must be made once, and not when an answer breaks off.
const PATIENCE: Duration = Duration::from_secs(10);

/// The wait after the first failure; it doubles. Together about a second.
const PAUSE: Duration = if cfg!(test) { Duration::from_millis(1) } else { Duration::from_millis(70) };

/// What is to be done where the environment has no credentials.
const NO_CREDENTIALS: &str = " (there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)";

/// Makes a request until it succeeds, fails for good, or has failed too often.
pub(crate) async fn retried<T, F>(mut request: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut pause = PAUSE;
    let began = Instant::now();
    for _ in 1..ATTEMPTS {
        match request().await {
            Err(error) if may_pass(&error) && began.elapsed() < PATIENCE => tokio::time::sleep(pause).await,
            done => return done,
        }
        pause *= 2;
    }
    request().await
}

/// Whether the same request may succeed a moment later.
pub(crate) fn may_pass(error: &Error) -> bool {
    if !matches!(error, Error::Generic { .. } | Error::JoinError { .. }) {
        return false;
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return !matches!(
                io.kind(),
                ErrorKind::StorageFull
                    | ErrorKind::QuotaExceeded
                    | ErrorKind::FileTooLarge
                    | ErrorKind::ReadOnlyFilesystem
                    | ErrorKind::PermissionDenied
                    | ErrorKind::IsADirectory
                    | ErrorKind::NotADirectory
                    | ErrorKind::InvalidFilename
                    | ErrorKind::Unsupported
            );
        }
        cause = error.source();
    }
    true
}

/// Whether a store has answered, and would say the same again: there is no such bucket, or it is not for us. Anything else, and no
/// answer, may pass.
pub(crate) fn is_answer(error: &Error) -> bool {
    match error {
        Error::Generic { .. } | Error::JoinError { .. } => {
            let cause = root_cause(error);
            // The client has no other form for what it makes of an answer.
            let status = cause.split_once("status code: ").and_then(|(_, status)| status.get(..3)?.parse::<u16>().ok());
            let refused = status.is_some_and(|status| (400..500).contains(&status) && ![408, 429].contains(&status));
            refused || cause.starts_with("Received redirect") || cause.ends_with(NO_CREDENTIALS)
        }
        _ => true,
    }
}

/// The innermost cause of a store's error: the operating system's words, or the service's.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    let mut all = cause.to_string();
    while let Some(source) = cause.source() {
        cause = source;
        all.push_str(&cause.to_string());
    }
    let mut text = cause.to_string();
    // What is asked for credentials where the environment has none.
    if all.contains("169.254.169.254") {
        text.push_str(NO_CREDENTIALS);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(kind: ErrorKind) -> Error {
        Error::Generic { store: "test", source: Box::new(std::io::Error::from(kind)) }
    }

    /// How often a request is made that fails so many times.
    async fn attempts(failures: u32, kind: ErrorKind) -> (u32, bool) {
        let mut made = 0;
        let result = retried(|| {
            made += 1;
            let fails = made <= failures;
            async move { if fails { Err(io(kind)) } else { Ok(()) } }
        })
        .await;
        (made, result.is_ok())
    }

    #[tokio::test]
    async fn what_may_pass_is_tried_again() {
        assert_eq!(attempts(2, ErrorKind::TimedOut).await, (3, true));
        assert_eq!(attempts(4, ErrorKind::Other).await, (5, true), "such as EIO");
        assert_eq!(attempts(9, ErrorKind::Interrupted).await, (5, false));
    }

    #[test]
    fn an_answer_is_told_from_none() {
        let generic = |text: &str| Error::Generic { store: "test", source: text.into() };
        let status = |status: &str| generic(&format!("Server returned non-2xx status code: {status}: <Error/>"));
        assert!(is_answer(&status("404 Not Found")) && is_answer(&status("403 Forbidden")));
        assert!(is_answer(&Error::NotFound { path: "x".into(), source: "x".into() }));
        assert!(is_answer(&generic("error sending request for http://169.254.169.254/latest")), "no credentials");
        for passing in [status("503 Slow Down"), status("429 Too Many Requests"), io(ErrorKind::ConnectionRefused)] {
            assert!(!is_answer(&passing), "{passing}");
        }
    }

    #[tokio::test]
    async fn what_stays_as_it_is_comes_back_at_once() {
        assert_eq!(attempts(1, ErrorKind::StorageFull).await, (1, false));
        assert_eq!(attempts(1, ErrorKind::PermissionDenied).await, (1, false));
        assert_eq!(attempts(1, ErrorKind::Unsupported).await, (1, false), "such as hard links");
    }
}
