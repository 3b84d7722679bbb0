//! One connection of HTTP/2: requests side by side, each with a stream of its own.

use crate::fault::Fault;
use crate::server::Shared;
use crate::{Answer, Request};
use bytes::Bytes;
use h2::server::{SendResponse, handshake};
use h2::{Ping, PingPong, Reason, SendStream};
use rustls::ServerConfig;
use std::future;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, mpsc};
use tokio_rustls::TlsAcceptor;

/// Its name in a TLS handshake, RFC 9113 section 3.2.
pub(crate) const HTTP2: &[u8] = b"h2";

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Whether this is the TLS of a server that speaks HTTP/2.
pub(crate) fn is_spoken(config: &ServerConfig) -> bool {
    config.alpn_protocols.iter().any(|name| name == HTTP2)
}

/// Serves a connection to its end. A client that breaks it off is not an error.
pub(crate) fn serve(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    shared: &Arc<Shared>,
    number: usize,
) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let _ = runtime.block_on(requests(stream, config, Arc::clone(shared), number));
    // Somebody may still be waiting for other requests.
    runtime.shutdown_background();
}

/// What one request's fault does to the whole connection.
enum Order {
    /// No further requests; those that are there are answered.
    Finish,
    /// All that is under way is given up, and it is said.
    GiveUp,
    /// The same without a word.
    HangUp,
}

/// What each request of a connection needs.
#[derive(Clone)]
struct Connection {
    shared: Arc<Shared>,
    number: usize,
    orders: mpsc::UnboundedSender<Order>,
    pings: Arc<Mutex<PingPong>>,
}

async fn requests(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    shared: Arc<Shared>,
    number: usize,
) -> Result<(), Error> {
    stream.set_nonblocking(true)?;
    let stream = tokio::net::TcpStream::from_std(stream)?;
    let stream = TlsAcceptor::from(config).accept(stream).await?;
    // A client that offers nothing is let in by the handshake.
    if stream.get_ref().1.alpn_protocol() != Some(HTTP2) {
        return Err("the client did not offer HTTP/2".into());
    }
    let mut frames = handshake(stream).await?;
    let (orders, mut ordered) = mpsc::unbounded_channel();
    let pings = frames.ping_pong().ok_or("no pings")?;
    let connection = Connection {
        shared,
        number,
        orders,
        pings: Arc::new(Mutex::new(pings)),
    };
    loop {
        tokio::select! {
            accepted = frames.accept() => {
                let Some(accepted) = accepted else { return Ok(()) };
                let (request, respond) = accepted?;
                tokio::spawn(connection.clone().respond(request, respond));
            }
            Some(order) = ordered.recv() => match order {
                Order::Finish => frames.graceful_shutdown(),
                Order::GiveUp => frames.abrupt_shutdown(Reason::INTERNAL_ERROR),
                Order::HangUp => return Ok(()),
            },
        }
    }
}

/// A request that is being answered, until its connection ends too.
struct Running(Arc<Shared>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Connection {
    async fn respond(
        self,
        request: http::Request<h2::RecvStream>,
        respond: SendResponse<Bytes>,
    ) -> Result<(), Error> {
        let request = read(request).await?;
        let (number, fault) = self.shared.begin(&request, self.number);
        let _running = Running(Arc::clone(&self.shared));
        match fault {
            Some(Fault::HangUp) => return Ok(self.orders.send(Order::HangUp)?),
            Some(Fault::Silence) => return future::pending().await,
            Some(Fault::Last) => {
                self.orders.send(Order::Finish)?;
                self.settle().await?;
            }
            _ => {}
        }
        let (shared, asked) = (Arc::clone(&self.shared), fault.clone());
        // Both may wait, and the other streams of this thread go on meanwhile.
        let answer = tokio::task::spawn_blocking(move || {
            if let Some(Fault::Together(requests)) = asked {
                shared.wait_for(requests);
            }
            shared.answer(&request, asked.as_ref(), number)
        });
        let answer = answer.await?;
        if let Some(Fault::DoneAndLost) = fault {
            return Ok(self.orders.send(Order::HangUp)?);
        }
        self.shared.answering(number, &answer);
        self.send(respond, &answer, fault.as_ref()).await
    }

    async fn send(
        &self,
        mut respond: SendResponse<Bytes>,
        answer: &Answer,
        fault: Option<&Fault>,
    ) -> Result<(), Error> {
        let mut out = respond.send_response(head(answer)?, answer.body.is_empty())?;
        let body = Bytes::copy_from_slice(&answer.body);
        match fault {
            _ if body.is_empty() => {}
            Some(Fault::Cut(after)) if *after < body.len() => {
                self.begin(&mut out, body.slice(..*after)).await?;
                out.send_reset(Reason::INTERNAL_ERROR);
            }
            Some(Fault::CutAll(after)) if *after < body.len() => {
                self.begin(&mut out, body.slice(..*after)).await?;
                self.orders.send(Order::GiveUp)?;
            }
            Some(Fault::Stall(after)) if *after < body.len() => {
                self.begin(&mut out, body.slice(..*after)).await?;
                return future::pending().await;
            }
            Some(Fault::Trickle(milliseconds)) => {
                for at in 0..body.len() {
                    out.send_data(body.slice(at..=at), at + 1 == body.len())?;
                    tokio::time::sleep(Duration::from_millis(*milliseconds)).await;
                }
            }
            _ => out.send_data(body, true)?,
        }
        Ok(())
    }

    /// Sends the start of a body, and returns when the client has it.
    async fn begin(&self, out: &mut SendStream<Bytes>, start: Bytes) -> Result<(), Error> {
        out.send_data(start, false)?;
        self.settle().await
    }

    /// Returns when the client has what was sent before. Frames of a stream that is reset are not sent any more, and a
    /// ping overtakes them once.
    async fn settle(&self) -> Result<(), Error> {
        let mut pings = self.pings.lock().await;
        for _ in 0..2 {
            pings.ping(Ping::opaque()).await?;
        }
        Ok(())
    }
}

async fn read(request: http::Request<h2::RecvStream>) -> Result<Request, Error> {
    let (parts, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece?;
        stream.flow_control().release_capacity(piece.len())?;
        body.extend_from_slice(&piece);
    }
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.as_str().to_owned(), value.into_owned())
    };
    Ok(Request {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        version: format!("{:?}", parts.version),
        headers: parts.headers.iter().map(header).collect(),
        body,
    })
}

fn head(answer: &Answer) -> Result<http::Response<()>, Error> {
    let mut head = http::Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        head = head.header(name, value);
    }
    if let Some(length) = answer.told_length() {
        head = head.header(http::header::CONTENT_LENGTH, length);
    }
    Ok(head.body(())?)
}
