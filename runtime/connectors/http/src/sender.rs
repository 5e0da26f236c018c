//! Makes the requests: one POST per batch, on a thread for blocking work.

use std::fmt;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use millstream_runtime::error::JobError;
use millstream_runtime::sink::batching::{BatchSender, Entry, SendOutcome, Sending};
use ureq::Agent;

use crate::answer::{Answer, outcome};

/// Of the body of an answer so much is read: enough for a message, and for most answers all, so that the connection stays.
const BODY: u64 = 16 * 1024;

/// Posts batches to one address.
#[derive(Clone)]
pub(crate) struct HttpSender {
    agent: Agent,
    url: Arc<str>,
    /// Without what may be secret.
    shown: Arc<str>,
    authorization: Option<Arc<str>>,
}

impl fmt::Debug for HttpSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSender").field("url", &self.shown).finish_non_exhaustive()
    }
}

impl HttpSender {
    pub(crate) fn new(url: &str, authorization: Option<&str>, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(timeout))
            // A redirected POST would become a GET or lose its body.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("millstream/", env!("CARGO_PKG_VERSION")))
            .build();
        HttpSender {
            agent: config.new_agent(),
            url: url.into(),
            shown: without_secrets(url).into(),
            authorization: authorization.map(Arc::from),
        }
    }

    fn post(&self, batch: &[Entry]) -> SendOutcome {
        let mut body = Vec::with_capacity(batch.iter().map(|entry| entry.bytes().len()).sum());
        batch.iter().for_each(|entry| body.extend_from_slice(entry.bytes()));
        let mut request = self.agent.post(&*self.url).header("Content-Type", "application/x-ndjson");
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", &**authorization);
        }
        match request.send(&body[..]) {
            Ok(mut response) => {
                let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
                let (retry_after, location) = (header("retry-after"), header("location"));
                let status = response.status();
                let mut text = Vec::new();
                // The status says it all: of a body that breaks off, what has come is shown.
                let _ = response.body_mut().as_reader().take(BODY).read_to_end(&mut text);
                let text = String::from_utf8_lossy(&text).into_owned();
                let reason = status.canonical_reason().unwrap_or_default();
                outcome(&self.shown, &Answer { status: status.as_u16(), reason, retry_after, location, text })
            }
            Err(error) => self.failed(&error),
        }
    }

    /// The request was not answered.
    fn failed(&self, error: &ureq::Error) -> SendOutcome {
        let reason = format!("POST {}: {error}", self.shown);
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
                SendOutcome::Failed(JobError::new(reason))
            }
            _ => SendOutcome::Retry { entries: None, reason, after: None },
        }
    }
}

impl BatchSender for HttpSender {
    fn send(&self, batch: Arc<[Entry]>) -> Sending {
        let sender = self.clone();
        Box::pin(async move {
            let posted = tokio::task::spawn_blocking(move || sender.post(&batch)).await;
            posted.unwrap_or_else(|error| SendOutcome::Failed(JobError::transient(format!("a request panicked: {error}"))))
        })
    }
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
