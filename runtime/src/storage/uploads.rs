//! The uploads of a bucket that were begun and are neither completed nor aborted, page by page. Not everybody may ask for them, and
//! not every server knows them.

use std::time::Duration;

use futures_util::future::BoxFuture;
use object_store::Error;
use object_store::aws::AmazonS3;
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody};
use object_store::path::Path;
use object_store::signer::{SignedUrlOptions, Signer};
use reqwest::{Method, StatusCode};
use serde::Deserialize;

use super::place::{Begun, BegunList};

const STORE: &str = "S3";

/// A request is made at once: its signature need not last.
const VALID: Duration = Duration::from_secs(300);

/// Asks a bucket.
#[derive(Debug)]
pub(super) struct UploadList {
    store: AmazonS3,
    http: HttpClient,
}

impl UploadList {
    pub(super) fn new(store: AmazonS3, http: HttpClient) -> Self {
        UploadList { store, http }
    }

    async fn page(&self, query: Vec<(&str, String)>) -> Result<Page, Error> {
        let options = SignedUrlOptions::new().with_query(query);
        let url = self.store.signed_url_opts(Method::GET, &Path::default(), VALID, &options).await?;
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = url.as_str().parse().map_err(generic)?;
        let response = self.http.execute(request).await.map_err(generic)?;
        let status = response.status();
        let body = response.into_body().bytes().await.map_err(generic)?;
        let text = String::from_utf8_lossy(&body);
        match status {
            StatusCode::OK => quick_xml::de::from_str(&text).map_err(generic),
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => {
                Err(Error::PermissionDenied { path: "?uploads".to_owned(), source: text.into() })
            }
            // Some servers say of what they do not know that it is wrong.
            StatusCode::NOT_IMPLEMENTED | StatusCode::METHOD_NOT_ALLOWED | StatusCode::BAD_REQUEST => {
                Err(Error::NotImplemented { operation: "list uploads".to_owned(), implementer: STORE.to_owned() })
            }
            status => Err(generic(format!("{status}: {text}"))),
        }
    }
}

impl BegunList for UploadList {
    fn begun<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Begun>, Error>> {
        Box::pin(async move {
            let mut begun = Vec::new();
            let mut after = None;
            loop {
                let mut query = vec![("uploads", String::new()), ("prefix", prefix.to_owned())];
                if let Some((key, upload)) = after.take() {
                    query.extend([("key-marker", key), ("upload-id-marker", upload)]);
                }
                let page = self.page(query).await?;
                begun.extend(page.uploads.into_iter().map(|upload| Begun { key: upload.key, upload: upload.upload_id }));
                match (page.is_truncated, page.next_key_marker, page.next_upload_id_marker) {
                    (true, Some(key), upload) if !key.is_empty() => after = Some((key, upload.unwrap_or_default())),
                    _ => return Ok(begun),
                }
            }
        })
    }
}

/// An answer, as far as it matters here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Page {
    #[serde(default, rename = "Upload")]
    uploads: Vec<Upload>,
    #[serde(default)]
    is_truncated: bool,
    next_key_marker: Option<String>,
    next_upload_id_marker: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Upload {
    key: String,
    upload_id: String,
}

fn generic(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Generic { store: STORE, source: error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
            <ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
                <Bucket>b</Bucket><NextKeyMarker>out/b &amp; c</NextKeyMarker><NextUploadIdMarker>2</NextUploadIdMarker>
                <IsTruncated>true</IsTruncated>
                <Upload><Key>out/a</Key><UploadId>1</UploadId><Initiator><ID>x</ID></Initiator></Upload>
                <Upload><UploadId>2</UploadId><Key>out/b &amp; c</Key></Upload>
            </ListMultipartUploadsResult>"#;
        let page: Page = quick_xml::de::from_str(text).unwrap();
        let found: Vec<_> = page.uploads.iter().map(|upload| (upload.key.as_str(), upload.upload_id.as_str())).collect();
        assert_eq!(found, [("out/a", "1"), ("out/b & c", "2")]);
        assert!(page.is_truncated);
        assert_eq!(page.next_key_marker.as_deref(), Some("out/b & c"));
        let none: Page =
            quick_xml::de::from_str("<ListMultipartUploadsResult><Bucket>b</Bucket></ListMultipartUploadsResult>").unwrap();
        assert!(none.uploads.is_empty() && !none.is_truncated);
    }
}
