//! From futures to blocking calls.

use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use tokio::runtime::{Builder, Runtime};

/// A body that arrives in pieces.
pub(super) type Body = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// One runtime per store. Current-thread: whichever caller blocks drives the I/O of all.
#[derive(Debug, Clone)]
pub(super) struct Blocking(Arc<Runtime>);

impl Blocking {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(
            Builder::new_current_thread().enable_all().build()?,
        )))
    }

    pub(super) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }

    pub(super) fn reader(&self, body: Body, stall: Duration) -> BodyReader {
        BodyReader {
            blocking: self.clone(),
            body,
            stall,
            chunk: Bytes::new(),
        }
    }
}

/// A body as a reader. A body that delivers nothing for the stall time is an error.
pub(super) struct BodyReader {
    blocking: Blocking,
    body: Body,
    stall: Duration,
    chunk: Bytes,
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            let body = &mut self.body;
            let next = std::future::poll_fn(|context| body.as_mut().poll_next(context));
            // The timer must be made inside the runtime.
            let stall = self.stall;
            let next = self
                .blocking
                .run(async { tokio::time::timeout(stall, next).await });
            match next {
                Ok(Some(chunk)) => self.chunk = chunk?,
                Ok(None) => return Ok(0),
                Err(_) => {
                    let text = format!("the body delivered nothing for {:?}", self.stall);
                    return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                }
            }
        }
        let n = buffer.len().min(self.chunk.len());
        buffer[..n].copy_from_slice(&self.chunk.split_to(n));
        Ok(n)
    }
}
