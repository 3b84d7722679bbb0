//! The project's HTTP client as the bucket clients use it.

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::header::{IF_MATCH, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};
use std::time::Duration;

/// An upload is given up when it is slower than this, in bytes per second: a slow line is no stalled one.
const SLOWEST_UPLOAD: u64 = 32 * 1024;

/// Hands every bucket client the same HTTP client.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) client: reqwest::Client,
    pub(super) stall: Duration,
}

impl HttpConnector for Shared {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait::async_trait]
impl HttpService for Shared {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let conditional = request.method() == Method::PUT
            && [IF_MATCH, IF_NONE_MATCH]
                .iter()
                .any(|name| request.headers().contains_key(name));
        let size = request.body().content_length() as u64;
        let limit = self
            .stall
            .saturating_add(Duration::from_secs(size / SLOWEST_UPLOAD));
        let answer = tokio::time::timeout(limit, self.client.call(request)).await;
        let mut answer =
            answer.map_err(|elapsed| HttpError::new(HttpErrorKind::Timeout, elapsed))??;
        if conditional && answer.status() == StatusCode::CONFLICT {
            // Another write of the key was in flight, and nothing was written. The client above would take this
            // for "there is something already".
            *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        Ok(answer)
    }
}
