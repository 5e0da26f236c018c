//! What an answer means: rows taken, try again, or never.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millstream_runtime::error::JobError;
use millstream_runtime::sink::batching::SendOutcome;

use crate::client::{may_pass, without_secrets};

/// However long a service asks to be left alone, after so long it is asked again.
const LONGEST: Duration = Duration::from_secs(600);

/// An answer of the service.
pub(crate) struct Answer<'a> {
    pub status: u16,
    pub reason: &'a str,
    pub retry_after: Option<String>,
    pub location: Option<String>,
    pub text: String,
}

/// What it means for the rows that were sent.
pub(crate) fn outcome(url: &str, answer: &Answer<'_>) -> SendOutcome {
    let shown = || format!("POST {url}: {} {}{}", answer.status, answer.reason, first_bytes(&answer.text));
    match answer.status {
        200..=299 => SendOutcome::Sent,
        status if may_pass(status) => {
            let after = answer.retry_after.as_deref().and_then(|text| retry_after(text, SystemTime::now()));
            SendOutcome::Retry { entries: None, reason: shown(), after }
        }
        300..=399 => {
            let to = answer.location.as_deref().map_or_else(|| "another place".to_owned(), without_secrets);
            SendOutcome::Failed(JobError::new(format!(
                "{}\n  rows are not sent on to `{to}`: give the sink that address",
                shown()
            )))
        }
        _ => SendOutcome::Failed(JobError::new(shown())),
    }
}

/// The start of an answer's body, on one line.
pub(crate) fn first_bytes(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = line.chars().take(200).collect();
    match (shown.is_empty(), shown.len() < line.len()) {
        (true, _) => String::new(),
        (_, true) => format!(": {shown}.."),
        (_, false) => format!(": {shown}"),
    }
}

/// The header Retry-After: seconds, or a date.
pub(crate) fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds).min(LONGEST));
    }
    let at = UNIX_EPOCH + Duration::from_secs(http_date(text)?);
    Some(at.duration_since(now).unwrap_or_default().min(LONGEST))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` as seconds since the epoch.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut parts = text.split_once(", ")?.1.strip_suffix(" GMT")?.split(' ');
    let day: i64 = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let month = i64::try_from(MONTHS.iter().position(|month| *month == name)?).ok()? + 1;
    let year: i64 = parts.next()?.parse().ok()?;
    let mut clock = parts.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // Days since the epoch, with years that begin in March.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468;
    u64::try_from(days * 86_400 + hour * 3600 + minute * 60 + second).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, text: &str) -> SendOutcome {
        let reason = "Because";
        outcome(
            "http://x",
            &Answer { status, reason, retry_after: Some("7".into()), location: Some("/b?token=x".into()), text: text.into() },
        )
    }

    #[test]
    fn statuses_are_told_apart() {
        assert_eq!(answer(204, ""), SendOutcome::Sent);
        for status in [408, 429, 500, 503] {
            let SendOutcome::Retry { entries: None, reason, after } = answer(status, "wait\n a bit") else { panic!("{status}") };
            assert_eq!(reason, format!("POST http://x: {status} Because: wait a bit"));
            assert_eq!(after, Some(Duration::from_secs(7)));
        }
        for status in [400, 401, 404, 413, 422] {
            let SendOutcome::Failed(error) = answer(status, &"x".repeat(300)) else { panic!("{status}") };
            assert_eq!(error.message(), format!("POST http://x: {status} Because: {}..", "x".repeat(200)));
        }
        let SendOutcome::Failed(error) = answer(301, "") else { panic!() };
        assert!(error.message().ends_with("rows are not sent on to `/b`: give the sink that address"), "{error}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:30 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("86400", now), Some(LONGEST));
        assert_eq!(retry_after("soon", now), None);
    }
}
