//! One connection: request after request, until one of the sides has enough.

use crate::fault::Fault;
use crate::server::Shared;
use crate::{Answer, Request};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// What happens to the connection after an answer.
enum Next {
    Another,
    Close,
}

/// Serves a connection to its end. A client that breaks it off is not an error.
pub(crate) fn serve(
    stream: TcpStream,
    config: Option<Arc<ServerConfig>>,
    shared: &Shared,
    number: usize,
) {
    let _ = match config {
        None => requests(Both(stream), shared, number),
        Some(config) => match ServerConnection::new(config) {
            Ok(tls) => requests(StreamOwned::new(tls, stream), shared, number),
            Err(_) => return,
        },
    };
}

/// A socket that is read and written through one handle.
struct Both(TcpStream);

impl Read for Both {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Both {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn requests<S: Read + Write>(stream: S, shared: &Shared, connection: usize) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(request) = Request::read(&mut stream)? {
        let (number, fault) = shared.begin(&request, connection);
        let next = respond(&mut stream, &request, number, fault.as_ref(), shared);
        shared.end();
        match next? {
            Next::Another => {}
            Next::Close => break,
        }
    }
    Ok(())
}

fn respond<S: Read + Write>(
    stream: &mut BufReader<S>,
    request: &Request,
    number: usize,
    fault: Option<&Fault>,
    shared: &Shared,
) -> io::Result<Next> {
    match fault {
        Some(Fault::HangUp) => return Ok(Next::Close),
        Some(Fault::Silence) => return wait_for_the_client(stream),
        Some(Fault::Together(requests)) => shared.wait_for(*requests),
        _ => {}
    }
    let answer = shared.answer(request, fault, number);
    if let Some(Fault::DoneAndLost) = fault {
        return Ok(Next::Close);
    }
    shared.answering(number, &answer);
    send(stream, &answer, fault)
}

fn send<S: Read + Write>(
    stream: &mut BufReader<S>,
    answer: &Answer,
    fault: Option<&Fault>,
) -> io::Result<Next> {
    let body = answer.body.as_slice();
    let out = stream.get_mut();
    match fault {
        Some(Fault::Cut(after) | Fault::CutAll(after)) if *after < body.len() => {
            out.write_all(&answer.head())?;
            out.write_all(&body[..*after])?;
            out.flush()?;
            Ok(Next::Close)
        }
        Some(Fault::Stall(after)) if *after < body.len() => {
            out.write_all(&answer.head())?;
            out.write_all(&body[..*after])?;
            out.flush()?;
            wait_for_the_client(stream)
        }
        Some(Fault::Trickle(milliseconds)) => {
            out.write_all(&answer.head())?;
            for byte in body {
                out.write_all(std::slice::from_ref(byte))?;
                out.flush()?;
                thread::sleep(Duration::from_millis(*milliseconds));
            }
            Ok(Next::Another)
        }
        _ => {
            let mut whole = answer.head();
            whole.extend_from_slice(body);
            out.write_all(&whole)?;
            out.flush()?;
            let promised = answer.length.is_some_and(|length| length > body.len());
            let is_lie = matches!(fault, Some(Fault::Longer(_))) && promised;
            let is_last = is_lie || matches!(fault, Some(Fault::Last));
            Ok(if is_last { Next::Close } else { Next::Another })
        }
    }
}

/// Says nothing more; the client decides how long that lasts.
fn wait_for_the_client<S: Read>(stream: &mut S) -> io::Result<Next> {
    let mut ignored = [0; 64];
    while stream.read(&mut ignored)? > 0 {}
    Ok(Next::Close)
}
