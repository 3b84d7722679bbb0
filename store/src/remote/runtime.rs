//! From futures to blocking calls.

use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

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
/// Pieces of a body that may wait for its reader. A piece is one TLS record (16 KiB), without TLS up to 400 KiB.
const AHEAD: usize = 32;

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

    /// The body begins to arrive at once, in the runtime's own threads. Polled from the reader's thread, each piece
    /// would cost two switches between the threads.
    pub(super) fn reader(&self, body: Body, stall: Duration) -> BodyReader {
        let (to, pieces) = mpsc::channel(AHEAD);
        self.runtime.spawn(pass_on(body, to));
        BodyReader {
            blocking: self.clone(),
            pieces,
            stall,
            piece: Bytes::new(),
            failed: None,
        }
    }
}

/// Hands on a body's pieces until it ends or nobody wants more.
async fn pass_on(mut body: Body, to: mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let piece = tokio::select! {
            piece = body.next() => piece,
            () = to.closed() => return,
        };
        let Some(piece) = piece else { return };
        let is_last = piece.is_err();
        if to.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// A body as a reader. A body that delivers nothing for the stall time is an error.
pub(super) struct BodyReader {
    blocking: Blocking,
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    stall: Duration,
    piece: Bytes,
    /// Came behind what was handed out last.
    failed: Option<io::Error>,
}

impl BodyReader {
    /// The next piece; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Bytes>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match self.pieces.try_recv() {
            Ok(piece) => return piece.map(Some),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => {}
        }
        let (stall, next) = (self.stall, self.pieces.recv());
        let next = async { tokio::time::timeout(stall, next).await };
        match self.blocking.run(next) {
            Ok(Ok(piece)) => piece.transpose(),
            Ok(Err(_)) => {
                let stalled = Stalled(self.stall);
                Err(io::Error::new(io::ErrorKind::TimedOut, stalled))
            }
            Err(overdue) => Err(io::Error::new(io::ErrorKind::TimedOut, overdue)),
        }
    }
}

impl Read for BodyReader {
    /// Fills as much of the buffer as can be had without waiting: whoever reads pays for each call.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.next()? {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let mut filled = 0;
        while filled < buffer.len() {
            if self.piece.is_empty() {
                match self.pieces.try_recv() {
                    Ok(Ok(piece)) => self.piece = piece,
                    Ok(Err(error)) => {
                        self.failed = Some(error);
                        break;
                    }
                    Err(_) => break,
                }
            }
            let n = (buffer.len() - filled).min(self.piece.len());
            buffer[filled..filled + n].copy_from_slice(&self.piece.split_to(n));
            filled += n;
        }
        Ok(filled)
    }
}
