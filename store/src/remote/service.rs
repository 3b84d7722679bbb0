//! The project's HTTP client as the bucket clients use it.

use super::runtime::Stalled;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use reqwest::header::{IF_MATCH, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

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
        let stall = self.stall;
        Ok(answer.map(|body| HttpResponseBody::new(Watched::new(body, stall))))
    }
}

/// A body that is given up when it delivers nothing for the stall time. Whoever reads it may be inside the bucket
/// client, with no limit of its own: listings, small documents, the texts of errors.
#[derive(Debug)]
struct Watched {
    body: HttpResponseBody,
    stall: Duration,
    /// Runs while the body is waited for.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    const fn new(body: HttpResponseBody, stall: Duration) -> Self {
        Self {
            body,
            stall,
            timer: None,
        }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.timer = None;
            return Poll::Ready(frame);
        }
        let stall = self.stall;
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
        ready!(timer.as_mut().poll(context));
        let error = HttpError::new(HttpErrorKind::Timeout, Stalled(stall));
        Poll::Ready(Some(Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
