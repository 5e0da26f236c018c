//! What the sink and the lookup share: the client, what its failures and a service's refusals mean, and addresses in messages.

use std::time::Duration;

use ureq::Agent;

/// Makes requests, each of which is given up after `timeout`. `redirects`: so many are followed; without any they are answers.
pub(crate) fn agent(timeout: Duration, redirects: u32) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(timeout))
        .max_redirects(redirects)
        .max_redirects_will_error(redirects > 0)
        .user_agent(concat!("millstream/", env!("CARGO_PKG_VERSION")))
        .build();
    config.new_agent()
}

/// Whether a request that was not answered would fail again: it was never a good one.
pub(crate) fn is_wrong(error: &ureq::Error) -> bool {
    matches!(error, ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl)
}

/// Whether a service that answers with this status may take the same request later.
pub(crate) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// Whether something like `https://example.com` is there.
pub(crate) fn is_address(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| url.len() > scheme.len() && url.starts_with(scheme))
}

/// An address without user, password and query, whether or not it is a good one.
pub(crate) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_no_secrets() {
        assert_eq!(without_secrets("https://me:secret@host:1/rows/a?token=x#y"), "https://host:1/rows/a");
        assert_eq!(without_secrets("http://host"), "http://host");
        assert_eq!(without_secrets("me:secret@host/rows?token=x"), "host/rows");
        assert_eq!(without_secrets("/rows?token=x"), "/rows");
    }
}
