//! Buckets of S3 and of servers that speak like it. Credentials and the server come from the environment: the standard variables
//! `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, and what containers and
//! virtual machines of AWS provide.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{HttpConnector, ReqwestConnector};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};

pub use super::copy::copy_checkpoints;
use super::place::{BegunList, Objects};
use super::root_cause;
use super::uploads::UploadList;
use crate::error::{JobError, JobResult};

/// What stands in for the environment.
static SETTINGS: OnceLock<Vec<(String, String)>> = OnceLock::new();

/// Sets what would be taken from the environment, for programs that have it from elsewhere: names such as `AWS_ENDPOINT_URL`. Only
/// the first call counts; before the first job.
pub fn use_settings(variables: Vec<(String, String)>) {
    let _ = SETTINGS.set(variables);
}

/// Opens a bucket; nothing is asked of it yet.
pub(super) fn open(bucket: &str, shown: &str) -> JobResult<(Arc<dyn Objects>, Arc<dyn BegunList>)> {
    // If another one is installed, that will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let variables = SETTINGS.get().cloned().unwrap_or_else(|| std::env::vars_os().filter_map(utf8).collect());
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        // Together about a minute: then the job's own way with failures begins.
        .with_retry(RetryConfig {
            backoff: BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(10), base: 2.0 },
            max_retries: 8,
            retry_timeout: Duration::from_secs(60),
        });
    let mut options = ClientOptions::new().with_timeout(Duration::from_secs(60)).with_connect_timeout(Duration::from_secs(5));
    for (name, value) in variables {
        let name = name.to_ascii_lowercase();
        if !name.starts_with("aws_") {
            continue;
        }
        if matches!(name.as_str(), "aws_endpoint" | "aws_endpoint_url" | "aws_endpoint_url_s3") && value.starts_with("http://") {
            // Whoever writes `http` means it.
            options = options.with_allow_http(true);
        }
        // The bucket is named in the text.
        if let Ok(key) = name.parse::<AmazonS3ConfigKey>()
            && !matches!(key, AmazonS3ConfigKey::Bucket | AmazonS3ConfigKey::Client(_))
        {
            builder = builder.with_config(key, value);
        }
    }
    let failed = |error: object_store::Error| JobError::new(format!("cannot use `{shown}`: {}", root_cause(&error)));
    let http = ReqwestConnector::default().connect(&options).map_err(failed)?;
    let store = builder.with_client_options(options).build().map_err(failed)?;
    Ok((Arc::new(store.clone()), Arc::new(UploadList::new(store, http))))
}

fn utf8((name, value): (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}
