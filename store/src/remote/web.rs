//! The read-only store behind a web server: what hundreds of jobs fetch from, without credentials.

use super::cause::{self, Class};
use super::resume::{self, Resuming};
use super::retry::Retry;
use super::runtime::Blocking;
use crate::store::{Capabilities, Listed, PointerRead, PutNew, Stat, Store, Swap, Version};
use crate::{Key, StoreError};
use kernrec_schemas::Timestamp;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RANGE,
};
use reqwest::{Method, Response, StatusCode};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// A URL prefix.
#[derive(Clone)]
pub(super) struct Web(pub(super) Arc<Inner>);

pub(super) struct Inner {
    /// The prefix as the user named it.
    pub(super) url: String,
    /// The prefix, ending in a slash.
    pub(super) base: reqwest::Url,
    pub(super) blocking: Blocking,
    pub(super) client: reqwest::Client,
    pub(super) stall: Duration,
    pub(super) retry: Retry,
}

/// What is asked beside the key.
#[derive(Debug, Clone, Default)]
pub(super) struct Ask {
    pub(super) head: bool,
    pub(super) from: u64,
    pub(super) if_none_match: Option<String>,
}

impl Web {
    /// One request, tried again where that can help. An answer of any status but 5xx and 429.
    pub(super) fn answer(&self, key: &Key, ask: &Ask) -> Result<Response, StoreError> {
        self.0
            .blocking
            .run(self.ask(key, ask))
            .unwrap_or_else(|overdue| Err(self.error(key, Class::TimedOut, overdue.to_string())))
    }

    async fn ask(&self, key: &Key, ask: &Ask) -> Result<Response, StoreError> {
        let mut tries = self.0.retry.start();
        loop {
            let (error, after) = match self.send(key, ask).await {
                Ok(answer) if !is_passing(answer.status()) => return Ok(answer),
                Ok(answer) => {
                    let after = super::retry::retry_after(answer.headers());
                    (
                        self.unavailable(key, format!("answered {}", answer.status())),
                        after,
                    )
                }
                Err(error) => match self.failed(key, error) {
                    error @ (StoreError::WrongAnswer { .. } | StoreError::Untrusted { .. }) => {
                        return Err(error);
                    }
                    error => (error, None),
                },
            };
            match tries.next(after) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error),
            }
        }
    }

    async fn send(&self, key: &Key, ask: &Ask) -> Result<Response, reqwest::Error> {
        let method = if ask.head { Method::HEAD } else { Method::GET };
        // A key is made of URL-safe segments, so joining cannot leave the prefix.
        let url = format!("{}{key}", self.0.base);
        let mut request = self
            .0
            .client
            .request(method, url)
            .header(ACCEPT_ENCODING, "identity");
        if ask.from > 0 {
            request = request.header(RANGE, format!("bytes={}-", ask.from));
        }
        if let Some(e_tag) = &ask.if_none_match {
            request = request.header(IF_NONE_MATCH, e_tag);
        }
        request.send().await
    }

    /// An answer with content that is what was asked for: not an error, a login page or re-encoded.
    pub(super) fn content(&self, key: &Key, answer: Response) -> Result<Response, StoreError> {
        let status = answer.status();
        if matches!(
            status,
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::FORBIDDEN
        ) {
            // Without permission to list, S3 answers 403 for what does not exist.
            return Err(StoreError::NotFound {
                url: self.0.url.clone(),
                key: key.clone(),
            });
        }
        if status == StatusCode::UNAUTHORIZED {
            return Err(StoreError::Denied {
                url: self.0.url.clone(),
                key: key.to_string(),
                action: "read",
                source: format!("answered {status}").into(),
            });
        }
        if !matches!(status, StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
            return Err(self.wrong(key, format!("answered {status}")));
        }
        let header = |name| {
            answer
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        if let Some(kind) = header(CONTENT_TYPE).filter(|kind| kind.starts_with("text/html")) {
            return Err(self.wrong(
                key,
                format!("answered with a page ({kind}), not with the file"),
            ));
        }
        let encoding = header(CONTENT_ENCODING).filter(|encoding| *encoding != "identity");
        // Uploads of `.gz` files are often labelled so; their bytes are still the file's.
        if let Some(encoding) = encoding.filter(|_| key.as_str().strip_suffix(".gz").is_none()) {
            let text = format!("answered in the encoding `{encoding}`, which was not asked for");
            return Err(self.wrong(key, text));
        }
        Ok(answer)
    }

    fn unavailable(&self, key: &Key, problem: String) -> StoreError {
        self.error(key, Class::Passing, problem)
    }

    fn error(&self, key: &Key, class: Class, problem: String) -> StoreError {
        cause::store_error(&self.0.url, key, "read", class, problem.into())
    }

    fn wrong(&self, key: &Key, problem: String) -> StoreError {
        StoreError::WrongAnswer {
            url: self.0.url.clone(),
            key: key.to_string(),
            action: "read",
            problem,
        }
    }

    /// A transport error, told down to its cause: "connection refused" stands at the end of the chain.
    fn failed(&self, key: &Key, error: reqwest::Error) -> StoreError {
        let error = error.without_url();
        let text = cause::text(&error);
        if error.is_redirect() {
            return self.wrong(key, text);
        }
        self.error(key, cause::class(&error), text)
    }

    fn read_only<T>(&self, action: &'static str) -> Result<T, StoreError> {
        Err(StoreError::Unsupported {
            url: self.0.url.clone(),
            action,
        })
    }
}

/// Answers that may be different a moment later.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

impl Store for Web {
    fn url(&self) -> &str {
        &self.0.url
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            conditional_writes: false,
        }
    }

    fn put_new(&self, _: &Key, _: &[u8]) -> Result<PutNew, StoreError> {
        self.read_only("be written: it is read over HTTP")
    }

    fn put(&self, _: &Key, _: &[u8]) -> Result<(), StoreError> {
        self.read_only("be written: it is read over HTTP")
    }

    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        let answer = self.answer(key, &Ask::default())?;
        let answer = self.content(key, answer)?;
        Ok(Box::new(Resuming::new(self.clone(), key.clone(), answer)))
    }

    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        let ask = Ask {
            from: offset,
            ..Ask::default()
        };
        let answer = self.content(key, self.answer(key, &ask)?)?;
        match resume::rest(self, answer, offset) {
            Some(rest) => Ok(Box::new(rest)),
            None => self.read_only("be read from the middle of an object"),
        }
    }

    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        let ask = Ask {
            head: true,
            ..Ask::default()
        };
        let answer = self.answer(key, &ask)?;
        match self.content(key, answer) {
            Ok(answer) => {
                let length = answer.headers().get(CONTENT_LENGTH);
                let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
                let size = length.ok_or_else(|| self.wrong(key, "told no size".to_owned()))?;
                Ok(Some(Stat {
                    size,
                    modified: Timestamp::now(),
                    md5: None,
                }))
            }
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        let if_none_match = known.map(|version| version.as_str().to_owned());
        let ask = Ask {
            if_none_match,
            ..Ask::default()
        };
        let answer = self.answer(key, &ask)?;
        if answer.status() == StatusCode::NOT_MODIFIED && known.is_some() {
            return Ok(PointerRead::Unchanged);
        }
        let answer = match self.content(key, answer) {
            Ok(answer) => answer,
            Err(StoreError::NotFound { .. }) => return Ok(PointerRead::Absent),
            Err(error) => return Err(error),
        };
        let e_tag = answer
            .headers()
            .get(ETAG)
            .and_then(|tag| tag.to_str().ok())
            .map(str::to_owned);
        let mut bytes = Vec::new();
        let limit = kernrec_schemas::json::MAX_SMALL_BYTES + 1;
        Resuming::new(self.clone(), key.clone(), answer)
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(|error| self.error(key, cause::class(&error), cause::text(&error)))?;
        // Without an ETag no conditional request is possible; the digest still tells versions apart.
        let mark = e_tag.unwrap_or_else(|| kernrec_schemas::Digest::of(&bytes).to_string());
        let version = Version::new(mark);
        if known == Some(&version) {
            return Ok(PointerRead::Unchanged);
        }
        Ok(PointerRead::Found { bytes, version })
    }

    fn swap_pointer(&self, _: &Key, _: Option<&Version>, _: &[u8]) -> Result<Swap, StoreError> {
        self.read_only("be written: it is read over HTTP")
    }

    fn list(&self, _: &Key) -> Result<Vec<Listed>, StoreError> {
        self.read_only("be listed: it is read over HTTP")
    }

    fn delete(&self, _: &Key) -> Result<(), StoreError> {
        self.read_only("be written: it is read over HTTP")
    }
}
