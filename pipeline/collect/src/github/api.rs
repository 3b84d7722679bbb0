//! Requests, and what their failures mean.

use crate::ci::CiError;
use crate::parallel::{Failed, Patience};
use kernrec_store::remote::{HttpOptions, HttpSetupError, client_builder};
use reqwest::header::{ACCEPT, AUTHORIZATION, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use std::io::Write;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The largest answer that is read as JSON, in bytes; a page of 100 jobs is a hundredth of it.
const MAX_JSON: u64 = 32 << 20;
/// For one whole download, however steadily it trickles.
const LONGEST: Duration = Duration::from_mins(30);
/// Pages of 100 that are read of a list.
const MAX_PAGES: usize = 200;

/// Whose API it is, and who asks.
#[derive(Clone)]
pub struct Access {
    /// The API, such as `https://api.github.com`.
    pub url: String,
    /// `owner/name`.
    pub repository: String,
    /// The token, if there is one. It goes to the API and nowhere else.
    pub token: Option<String>,
    /// Whether the API may be on another machine without TLS.
    pub allow_http: bool,
    /// Time limits, and whom to trust.
    pub http: HttpOptions,
}

/// Why the API cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// It is no URL.
    #[error("`{url}` is not the URL of an API: {problem}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The repository's name is none.
    #[error("`{0}` is not a repository, expected `owner/name`")]
    Repository(String),
    /// The run is no number.
    #[error("`{0}` is not the id of a run, expected a number")]
    Run(String),
    /// The HTTP client could not be set up.
    #[error(transparent)]
    Setup(#[from] HttpSetupError),
}

impl AccessError {
    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Url { .. } | Self::Repository(_) | Self::Run(_) => "usage",
            Self::Setup(_) => "ci-unavailable",
        }
    }
}

/// The API of one repository.
pub(super) struct Api {
    access: Access,
    base: String,
    client: Client,
    runtime: Runtime,
    patience: Patience,
}

impl Api {
    pub(super) fn new(access: Access, patience: Patience) -> Result<Self, AccessError> {
        let url = |problem: &str| AccessError::Url {
            url: access.url.clone(),
            problem: problem.to_owned(),
        };
        let parsed: Url = access.url.parse().map_err(|_| url("it does not parse"))?;
        if !may_be_asked(&parsed, access.allow_http) {
            return Err(url("it is plain HTTP to another machine"));
        }
        let part = |text: &str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
            !text.is_empty() && !text.starts_with('.') && text.bytes().all(plain)
        };
        match access.repository.split_once('/') {
            Some((owner, name)) if part(owner) && part(name) => {}
            _ => return Err(AccessError::Repository(access.repository)),
        }
        let client = client_builder(&access.http)?
            .redirect(Policy::none())
            .read_timeout(access.http.stall)
            .timeout(LONGEST)
            .build()
            .map_err(HttpSetupError::Client)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("github-io")
            .enable_all()
            .build()
            .map_err(HttpSetupError::Runtime)?;
        Ok(Self {
            base: format!(
                "{}/repos/{}/actions",
                access.url.trim_end_matches('/'),
                access.repository
            ),
            access,
            client,
            runtime,
            patience,
        })
    }

    /// One document.
    pub(super) fn json<T: DeserializeOwned>(&self, path: &str) -> Result<T, CiError> {
        self.patience
            .tried(|| self.runtime.block_on(self.try_json(path)))
    }

    /// All items of a list; `items` takes them out of a page.
    pub(super) fn all<P: DeserializeOwned, T>(
        &self,
        path: &str,
        items: impl Fn(P) -> Vec<T>,
    ) -> Result<Vec<T>, CiError> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let page = self.json(&format!("{path}{sign}per_page=100&page={page}"))?;
            let found = items(page);
            let is_last = found.len() < 100;
            all.extend(found);
            if is_last {
                return Ok(all);
            }
        }
        Err(CiError::new(
            path,
            format!("the list has more than {MAX_PAGES} pages"),
        ))
    }

    /// The content of something large, into a writer that is emptied before each try.
    pub(super) fn download(
        &self,
        path: &str,
        limit: u64,
        mut into: impl FnMut() -> std::io::Result<std::fs::File>,
    ) -> Result<(), CiError> {
        self.patience.tried(|| {
            let file = into().map_err(|e| Failed::ForGood(CiError::new(path, e.to_string())))?;
            self.runtime.block_on(self.try_download(path, limit, file))
        })
    }

    async fn try_json<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failed<CiError>> {
        let response = self.ask(path).await?;
        let mut bytes = Vec::new();
        read(path, response, MAX_JSON, &mut bytes).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Failed::ForNow(CiError::new(path, format!("the answer: {error}"))))
    }

    async fn try_download(
        &self,
        path: &str,
        limit: u64,
        mut file: std::fs::File,
    ) -> Result<(), Failed<CiError>> {
        let response = self.ask(path).await?;
        let response = if response.status().is_redirection() {
            let elsewhere = self.elsewhere(path, &response)?;
            // Without the token: the place is signed for itself, and may be anybody's.
            let asked = self.client.get(elsewhere).send().await;
            good(path, asked.map_err(|e| unanswered(path, &e))?)?
        } else {
            response
        };
        read(path, response, limit, &mut file).await
    }

    async fn ask(&self, path: &str) -> Result<Response, Failed<CiError>> {
        let mut request = self
            .client
            .get(format!("{}/{path}", self.base))
            .header(ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28");
        if let Some(token) = &self.access.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let response = request.send().await.map_err(|e| unanswered(path, &e))?;
        good(path, response)
    }

    fn elsewhere(&self, path: &str, response: &Response) -> Result<Url, Failed<CiError>> {
        let place = response
            .headers()
            .get(LOCATION)
            .and_then(|place| place.to_str().ok());
        let place = place.and_then(|place| response.url().join(place).ok());
        place
            .filter(|url| may_be_asked(url, self.access.allow_http))
            .ok_or_else(|| {
                let problem = "it was redirected to nowhere, or to plain HTTP of another machine";
                Failed::ForGood(CiError::new(path, problem))
            })
    }
}

/// TLS, or this machine.
fn may_be_asked(url: &Url, allow_http: bool) -> bool {
    let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    url.scheme() == "https" || (url.scheme() == "http" && (is_here || allow_http))
}

fn good(path: &str, response: Response) -> Result<Response, Failed<CiError>> {
    let status = response.status();
    if status.is_success() || status.is_redirection() {
        return Ok(response);
    }
    let error = CiError::new(path, format!("the answer is {status}"));
    let is_limited = status == StatusCode::FORBIDDEN
        && (response.headers().contains_key(RETRY_AFTER)
            || response
                .headers()
                .get("x-ratelimit-remaining")
                .is_some_and(|left| left == "0"));
    let may_pass = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS
        );
    Err(if is_limited || may_pass {
        Failed::ForNow(error)
    } else {
        Failed::ForGood(error)
    })
}

/// Without the URL: that of a signed place is a secret.
fn unanswered(path: &str, error: &reqwest::Error) -> Failed<CiError> {
    let mut problem = String::from("no answer");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        problem = format!("{problem}: {error}");
        cause = error.source();
    }
    Failed::ForNow(CiError::new(path, problem))
}

async fn read(
    path: &str,
    mut response: Response,
    limit: u64,
    into: &mut impl Write,
) -> Result<(), Failed<CiError>> {
    let mut left = limit;
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(()),
            Err(error) => return Err(unanswered(path, &error)),
        };
        left = left.checked_sub(chunk.len() as u64).ok_or_else(|| {
            Failed::ForGood(CiError::new(
                path,
                format!("it has more than {limit} bytes"),
            ))
        })?;
        into.write_all(&chunk)
            .map_err(|e| Failed::ForGood(CiError::new(path, e.to_string())))?;
    }
}
