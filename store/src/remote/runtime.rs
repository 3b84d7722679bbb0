//! From futures to blocking calls.

use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_core::Stream;
use tokio::runtime::{Builder, Runtime};

/// A body that arrives in pieces.
pub(super) type Body = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// One runtime per store, with threads of its own: bodies go on arriving while the callers decompress, and no
/// caller's progress depends on another one's.
#[derive(Debug, Clone)]
pub(super) struct Blocking {
    runtime: Arc<Runtime>,
    /// When everything that is under way is given up.
    deadline: Option<Instant>,
}

/// The deadline passed. What was under way may have had its effect all the same.
#[derive(Debug, thiserror::Error)]
#[error("the time allowed for the whole command is over")]
pub(super) struct Overdue;

/// Nothing came for the stall time.
#[derive(Debug, thiserror::Error)]
#[error("the body delivered nothing for {0:?}")]
pub(super) struct Stalled(pub(super) Duration);

/// So little came that it would take for ever.
#[derive(Debug, thiserror::Error)]
#[error("the body came slower than {0} bytes per second")]
pub(super) struct TooSlow(pub(super) u32);

/// Threads that decrypt and move bytes: one for each half of a pair.
const WORKERS: usize = 2;

impl Blocking {
    pub(super) fn new(deadline: Option<Instant>) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("store-io")
            .enable_all()
            .build()?;
        Ok(Self {
            runtime: Arc::new(runtime),
            deadline,
        })
    }

    /// Runs a future to its end, but not beyond the deadline.
    pub(super) fn run<T>(&self, future: impl Future<Output = T>) -> Result<T, Overdue> {
        let Some(deadline) = self.deadline else {
            return Ok(self.runtime.block_on(future));
        };
        // The timer must be made inside the runtime.
        self.runtime
            .block_on(async { tokio::time::timeout_at(deadline.into(), future).await })
            .map_err(|_| Overdue)
    }

    /// Waits, but not beyond the deadline.
    pub(super) fn wait(&self, time: Duration) {
        // The next request finds out that the deadline has passed.
        let _ = self.run(async { tokio::time::sleep(time).await });
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
            let stall = self.stall;
            let next = async { tokio::time::timeout(stall, next).await };
            match self.blocking.run(next) {
                Ok(Ok(Some(chunk))) => self.chunk = chunk?,
                Ok(Ok(None)) => return Ok(0),
                Ok(Err(_)) => {
                    let stalled = Stalled(self.stall);
                    return Err(io::Error::new(io::ErrorKind::TimedOut, stalled));
                }
                Err(overdue) => return Err(io::Error::new(io::ErrorKind::TimedOut, overdue)),
            }
        }
        let n = buffer.len().min(self.chunk.len());
        buffer[..n].copy_from_slice(&self.chunk.split_to(n));
        Ok(n)
    }
}
