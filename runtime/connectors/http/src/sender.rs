//! Makes the requests: one POST per batch, on a thread for blocking work.

use std::fmt;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use millstream_runtime::error::JobError;
use millstream_runtime::sink::batching::{BatchSender, Entry, SendOutcome, Sending};
use ureq::Agent;

use crate::answer::{Answer, outcome};
use crate::client::{agent, is_wrong, without_secrets};

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
        HttpSender {
            // A redirected POST would become a GET or lose its body.
            agent: agent(timeout, 0),
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
        match is_wrong(error) {
            true => SendOutcome::Failed(JobError::new(reason)),
            false => SendOutcome::Retry { entries: None, reason, after: None },
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
