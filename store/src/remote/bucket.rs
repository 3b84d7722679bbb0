//! Buckets: S3 and compatible services, Google Cloud Storage, Azure.

use super::cause::{self, Class};
use super::checksum::ChecksumProbe;
use super::pointer::Moves;
use super::runtime::Blocking;
use crate::store::{Capabilities, Listed, PointerRead, PutNew, Stat, Store, Swap, Version};
use crate::{Key, StoreError};
use futures_util::{StreamExt, TryStreamExt};
use kernrec_schemas::Timestamp;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, UpdateVersion,
};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

/// A bucket with a prefix.
pub(super) struct Bucket {
    pub(super) url: String,
    /// Prepended to every key, without slashes at its ends; may be empty.
    pub(super) prefix: String,
    pub(super) blocking: Blocking,
    /// With retries: for what may be done twice.
    pub(super) store: Arc<dyn ObjectStore>,
    /// Without retries: a retry hidden in the client turns the own success of a pointer move into a conflict.
    pub(super) once: Arc<dyn ObjectStore>,
    pub(super) conditional_writes: bool,
    pub(super) moves: Moves,
    pub(super) stall: Duration,
    /// Tries whether the service checks what it receives; `None` where nothing is sent along to check.
    pub(super) checksum: Option<ChecksumProbe>,
}

impl Bucket {
    pub(super) fn path(&self, key: &Key) -> Path {
        if self.prefix.is_empty() {
            Path::from(key.as_str())
        } else {
            Path::from(format!("{}/{key}", self.prefix))
        }
    }

    pub(super) fn error(&self, action: &'static str, key: &Key, error: Error) -> StoreError {
        let (url, text) = (self.url.clone(), key.to_string());
        match error {
            Error::NotFound { ref source, .. } if is_no_bucket(&source.to_string()) => {
                StoreError::NoStore { url }
            }
            Error::NotFound { .. } => StoreError::NotFound {
                url,
                key: key.clone(),
            },
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => StoreError::Denied {
                url,
                key: text,
                action,
                source: error.into(),
            },
            Error::NotImplemented { .. } | Error::NotSupported { .. } => {
                StoreError::Unsupported { url, action }
            }
            other => cause::store_error(&url, key, action, cause::class(&other), other.into()),
        }
    }

    pub(super) fn run<T>(
        &self,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.blocking.run(request).unwrap_or_else(|overdue| {
            Err(Error::Generic {
                store: "bucket",
                source: overdue.into(),
            })
        })
    }

    pub(super) fn put_with(&self, key: &Key, bytes: &[u8], mode: PutMode) -> Result<(), Error> {
        let options = PutOptions {
            mode,
            ..PutOptions::default()
        };
        let payload = PutPayload::from(bytes.to_vec());
        self.run(self.store.put_opts(&self.path(key), payload, options))
            .map(drop)
    }
}

impl Store for Bucket {
    fn url(&self) -> &str {
        &self.url
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            conditional_writes: self.conditional_writes,
        }
    }

    fn put_new(&self, key: &Key, bytes: &[u8]) -> Result<PutNew, StoreError> {
        self.moves.remember(key, bytes);
        let mode = if self.conditional_writes {
            PutMode::Create
        } else if self.stat(key)?.is_some() {
            return Ok(PutNew::Exists);
        } else {
            PutMode::Overwrite
        };
        match self.put_with(key, bytes, mode) {
            Ok(()) => Ok(PutNew::Created),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(PutNew::Exists),
            Err(error) => Err(self.unwritten(key, error)),
        }
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        self.put_with(key, bytes, PutMode::Overwrite)
            .map_err(|error| self.error("write", key, error))
    }

    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        let result = self.run(self.store.get(&self.path(key)));
        let result = result.map_err(|error| self.error("read", key, error))?;
        let body = result.into_stream().map_err(transport).boxed();
        Ok(Box::new(self.blocking.reader(body, self.stall)))
    }

    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        let options = GetOptions {
            range: Some(GetRange::Offset(offset)),
            ..GetOptions::default()
        };
        let result = self.run(self.store.get_opts(&self.path(key), options));
        let result = result.map_err(|error| self.error("read", key, error))?;
        let body = result.into_stream().map_err(transport).boxed();
        Ok(Box::new(self.blocking.reader(body, self.stall)))
    }

    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        match self.run(self.store.head(&self.path(key))) {
            Ok(meta) => Ok(Some(stat_of(&meta))),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.error("look at", key, error)),
        }
    }

    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        let if_none_match = known.and_then(|version| update_version(version).e_tag);
        let options = GetOptions {
            if_none_match,
            ..GetOptions::default()
        };
        let read = async {
            let result = self.store.get_opts(&self.path(key), options).await?;
            let version = version_of(result.meta.e_tag.clone(), result.meta.version.clone());
            let limit = kernrec_schemas::json::MAX_SMALL_BYTES;
            let mut bytes = Vec::new();
            let mut body = result.into_stream();
            while let Some(chunk) = body.try_next().await? {
                bytes.extend_from_slice(&chunk);
                // One byte over is enough for the loader to refuse it.
                if bytes.len() as u64 > limit {
                    break;
                }
            }
            Ok((bytes, version))
        };
        match self.run(read) {
            Ok((bytes, version)) => Ok(PointerRead::Found { bytes, version }),
            Err(Error::NotModified { .. }) => Ok(PointerRead::Unchanged),
            Err(error) => match self.error("read", key, error) {
                StoreError::NotFound { .. } => Ok(PointerRead::Absent),
                error => Err(error),
            },
        }
    }

    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        if self.conditional_writes {
            self.move_pointer(key, expected, bytes)
        } else {
            self.overwrite_pointer(key, expected, bytes)
        }
    }

    fn prepare_swap(&self) -> Result<(), StoreError> {
        if self.conditional_writes {
            self.prove_conditions()
        } else {
            Ok(())
        }
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Listed>, StoreError> {
        let list = self
            .store
            .list(Some(&self.path(prefix)))
            .try_collect::<Vec<_>>();
        let found = self
            .run(list)
            .map_err(|error| self.error("list", prefix, error))?;
        let skip = if self.prefix.is_empty() {
            0
        } else {
            self.prefix.len() + 1
        };
        let mut listed: Vec<Listed> = found
            .iter()
            .filter_map(|meta| {
                let key = Key::new(meta.location.as_ref().get(skip..)?).ok()?;
                Some(Listed {
                    key,
                    stat: stat_of(meta),
                })
            })
            .collect();
        listed.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        Ok(listed)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        match self.run(self.store.delete(&self.path(key))) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.error("remove", key, error)),
        }
    }

    fn refuses_wrong_checksum(&self, key: &Key) -> Result<Option<bool>, StoreError> {
        let Some(probe) = &self.checksum else {
            return Ok(None);
        };
        self.run(probe.refuses(&self.path(key)))
            .map(Some)
            .map_err(|error| self.error("write", key, error))
    }
}

/// Whether the service says that there is no such bucket: its error codes on S3, Azure and Google Cloud Storage.
pub(super) fn is_no_bucket(answer: &str) -> bool {
    [
        "NoSuchBucket",
        "ContainerNotFound",
        "The specified bucket does not exist",
    ]
    .iter()
    .any(|code| answer.contains(code))
}

/// A body that broke, never of a kind that decompression has.
fn transport(error: Error) -> io::Error {
    let kind = match cause::class(&error) {
        Class::TimedOut => io::ErrorKind::TimedOut,
        Class::Passing | Class::Untrusted => io::ErrorKind::ConnectionAborted,
    };
    io::Error::new(kind, error)
}

fn stat_of(meta: &ObjectMeta) -> Stat {
    let modified = Timestamp::from_unix(meta.last_modified.timestamp());
    Stat {
        size: meta.size,
        modified: modified.unwrap_or_else(Timestamp::now),
        md5: meta.e_tag.as_deref().and_then(md5_of),
    }
}

/// The `ETag` of a single S3 upload without KMS encryption is the MD5 of its bytes; no other has this shape.
fn md5_of(e_tag: &str) -> Option<[u8; 16]> {
    let hex = e_tag.strip_prefix('"')?.strip_suffix('"')?;
    if hex.len() != 32 {
        return None;
    }
    let mut md5 = [0; 16];
    for (at, byte) in md5.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(md5)
}

/// `ETag` and service version in one mark. An `ETag` holds no space (RFC 9110, 8.8.3).
pub(super) fn version_of(e_tag: Option<String>, version: Option<String>) -> Version {
    Version::new(format!(
        "{} {}",
        e_tag.unwrap_or_default(),
        version.unwrap_or_default()
    ))
}

pub(super) fn update_version(version: &Version) -> UpdateVersion {
    let present = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let (e_tag, version) = version
        .as_str()
        .split_once(' ')
        .unwrap_or((version.as_str(), ""));
    UpdateVersion {
        e_tag: present(e_tag),
        version: present(version),
    }
}
