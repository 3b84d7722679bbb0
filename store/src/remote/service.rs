//! The project's HTTP client as the bucket clients use it.

use super::runtime::{Stalled, TooSlow};
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
use tokio::time::{Instant, Sleep};

/// An upload is given up when it is slower than this, in bytes per second: a slow line is no stalled one.
const SLOWEST_UPLOAD: u64 = 32 * 1024;
/// An answer is given up when it comes slower than this beyond the stall time, in bytes per second: a server that gives a
/// byte now and then never stalls.
const SLOWEST_ANSWER: u32 = 4 * 1024;

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

/// A body that is given up when it delivers nothing for the stall time, or next to nothing for longer. Whoever reads it may be inside the bucket
/// client, with no limit of its own: listings, small documents, the texts of errors.
#[derive(Debug)]
struct Watched {
    body: HttpResponseBody,
    stall: Duration,
    received: u64,
    /// Time in which the body was waited for; what its reader takes for itself does not count.
    waited: Duration,
    /// Runs while the body is waited for, since when.
    timer: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Watched {
    const fn new(body: HttpResponseBody, stall: Duration) -> Self {
        Self {
            body,
            stall,
            received: 0,
            waited: Duration::ZERO,
            timer: None,
        }
    }

    /// How long the next piece may take.
    fn patience(&self) -> Duration {
        let received = u32::try_from(self.received).unwrap_or(u32::MAX);
        let earned = Duration::from_secs(1) * received / SLOWEST_ANSWER;
        let left = (self.stall + earned).saturating_sub(self.waited);
        left.min(self.stall)
    }

    fn given_up(&self) -> HttpError {
        let after = self.patience();
        if after == self.stall {
            HttpError::new(HttpErrorKind::Timeout, Stalled(after))
        } else {
            HttpError::new(HttpErrorKind::Timeout, TooSlow(SLOWEST_ANSWER))
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
            if let Some((since, _)) = self.timer.take() {
                self.waited += since.elapsed();
            }
            if let Some(data) = frame
                .as_ref()
                .and_then(|frame| frame.as_ref().ok()?.data_ref())
            {
                self.received += data.len() as u64;
            }
            return Poll::Ready(frame);
        }
        let patience = self.patience();
        let (_, timer) = self
            .timer
            .get_or_insert_with(|| (Instant::now(), Box::pin(tokio::time::sleep(patience))));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Some(Err(self.given_up())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
