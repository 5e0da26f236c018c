//! Objects as files, with the list of uploads that the files do not give.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};
use s3s_fs::FileSystem;

/// Uploads in one answer: few, so that there are several pages.
const PAGE: usize = 3;

/// The store of the server.
#[derive(Debug)]
pub(crate) struct Store {
    files: FileSystem,
    root: PathBuf,
    /// By key and upload: the bucket. All that were ever begun.
    begun: Mutex<BTreeMap<(String, String), String>>,
}

impl Store {
    pub(crate) fn open(root: &Path) -> std::io::Result<Self> {
        let files = FileSystem::new(root).map_err(|error| std::io::Error::other(format!("{error:?}")))?;
        Ok(Store { files, root: root.to_owned(), begun: Mutex::default() })
    }

    fn list(&self, asked: &ListMultipartUploadsInput) -> ListMultipartUploadsOutput {
        let prefix = asked.prefix.as_deref().unwrap_or_default();
        let after = (asked.key_marker.clone().unwrap_or_default(), asked.upload_id_marker.clone().unwrap_or_default());
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let found = begun.iter().filter(|((key, upload), bucket)| {
            **bucket == asked.bucket && key.starts_with(prefix) && self.root.join(format!(".upload-{upload}.json")).exists()
        });
        let mut rest = found.map(|(name, _)| name).filter(|name| **name > after);
        let page: Vec<&(String, String)> = rest.by_ref().take(PAGE).collect();
        let more = rest.next().is_some();
        let last = page.last().filter(|_| more);
        ListMultipartUploadsOutput {
            bucket: Some(asked.bucket.clone()),
            is_truncated: Some(more),
            next_key_marker: last.map(|(key, _)| key.clone()),
            next_upload_id_marker: last.map(|(_, upload)| upload.clone()),
            uploads: Some(
                page.into_iter()
                    .map(|(key, upload)| MultipartUpload {
                        key: Some(key.clone()),
                        upload_id: Some(upload.clone()),
                        ..MultipartUpload::default()
                    })
                    .collect(),
            ),
            ..ListMultipartUploadsOutput::default()
        }
    }
}

macro_rules! store {
    ($($name:ident($input:ident) -> $output:ident;)*) => {
        #[async_trait::async_trait]
        impl S3 for Store {
            $(async fn $name(&self, request: S3Request<$input>) -> S3Result<S3Response<$output>> {
                self.files.$name(request).await
            })*

            async fn create_multipart_upload(
                &self,
                request: S3Request<CreateMultipartUploadInput>,
            ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
                let (bucket, key) = (request.input.bucket.clone(), request.input.key.clone());
                let begun = self.files.create_multipart_upload(request).await?;
                if let Some(upload) = &begun.output.upload_id {
                    self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert((key, upload.clone()), bucket);
                }
                Ok(begun)
            }

            async fn list_multipart_uploads(
                &self,
                request: S3Request<ListMultipartUploadsInput>,
            ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
                Ok(S3Response::new(self.list(&request.input)))
            }
        }
    };
}

store! {
    head_bucket(HeadBucketInput) -> HeadBucketOutput;
    get_object(GetObjectInput) -> GetObjectOutput;
    head_object(HeadObjectInput) -> HeadObjectOutput;
    put_object(PutObjectInput) -> PutObjectOutput;
    copy_object(CopyObjectInput) -> CopyObjectOutput;
    delete_object(DeleteObjectInput) -> DeleteObjectOutput;
    delete_objects(DeleteObjectsInput) -> DeleteObjectsOutput;
    list_objects_v2(ListObjectsV2Input) -> ListObjectsV2Output;
    upload_part(UploadPartInput) -> UploadPartOutput;
    complete_multipart_upload(CompleteMultipartUploadInput) -> CompleteMultipartUploadOutput;
    abort_multipart_upload(AbortMultipartUploadInput) -> AbortMultipartUploadOutput;
}
