//! The listener, and the log of what was asked.

use crate::fault::{Fault, Rule};
use crate::{Answer, Certificate, Request};
use crate::{connection, http2};
use rustls::ServerConfig;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a request waits for others, before a test finds out that they do not come.
const PATIENCE: Duration = Duration::from_secs(30);

/// What answers requests when nothing goes wrong.
pub trait Service: Send + Sync + 'static {
    /// Carries out a request.
    fn answer(&self, request: &Request) -> Answer;
}

impl<S: Service> Service for Arc<S> {
    fn answer(&self, request: &Request) -> Answer {
        S::answer(self, request)
    }
}

/// What a server says in the TLS handshake that it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Nothing, and then it is HTTP/1.1.
    Unsaid,
    /// HTTP/1.1 and nothing else.
    Http1,
    /// HTTP/2 and nothing else.
    Http2,
}

/// A request that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// The status it was answered with; 0 when it was not.
    pub status: u16,
    /// Bytes of the body that were to be sent.
    pub bytes: usize,
    /// How many requests were being answered when this one came.
    pub beside: usize,
    /// `HTTP/1.1` or `HTTP/2.0`.
    pub version: String,
    /// Which of the server's connections it came on, counted from 0.
    pub connection: usize,
}

/// A server on a free port of loopback; it stops answering when dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

pub(crate) struct Shared {
    service: Box<dyn Service>,
    state: Mutex<State>,
    changed: Condvar,
    stopped: AtomicBool,
}

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    seen: Vec<Seen>,
    running: usize,
    /// The most that were running at once since the rules were set.
    most: usize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Server {
    /// Answers in plain HTTP.
    pub fn http(service: impl Service) -> Self {
        Self::start(service, None)
    }

    /// Answers over TLS.
    pub fn https(service: impl Service, certificate: &Certificate) -> Self {
        Self::speaking(service, certificate, Protocol::Unsaid)
    }

    /// Answers over TLS in this protocol. A client that does not offer it gets no connection.
    pub fn speaking(service: impl Service, certificate: &Certificate, protocol: Protocol) -> Self {
        Self::start(service, Some(certificate.speaking(protocol)))
    }

    /// `http://127.0.0.1:<port>`, or the same with `https`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// From now on these faults happen, the first that fits.
    pub fn set(&self, rules: impl IntoIterator<Item = Rule>) {
        let mut state = self.shared.state();
        state.rules = rules.into_iter().collect();
        state.most = 0;
    }

    /// What was asked since the last call, in the order it came.
    pub fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.shared.state().seen)
    }

    fn start(service: impl Service, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            service: Box::new(service),
            state: Mutex::default(),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
        });
        let scheme = if tls.is_some() { "https" } else { "http" };
        let accepting = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || accept(&listener, &shared, tls.as_ref()))
        };
        Self {
            address,
            scheme,
            shared,
            accepting: Some(accepting),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The listener waits for a connection, so it gets one.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>, tls: Option<&Arc<ServerConfig>>) {
    for (number, stream) in listener.incoming().enumerate() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        // Small answers must not wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(shared);
        let tls = tls.cloned();
        // Ends with the connection: clients close theirs.
        thread::spawn(move || match tls {
            Some(tls) if http2::is_spoken(&tls) => http2::serve(stream, tls, &shared, number),
            tls => connection::serve(stream, tls, &shared, number),
        });
    }
}

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request; says its number and what goes wrong with it.
    pub(crate) fn begin(&self, request: &Request, connection: usize) -> (usize, Option<Fault>) {
        let mut state = self.state();
        let fault = state.rules.iter_mut().find_map(|rule| rule.strike(request));
        let seen = Seen {
            method: request.method.clone(),
            path: request.path.clone(),
            status: 0,
            bytes: 0,
            beside: state.running,
            version: request.version.clone(),
            connection,
        };
        state.running += 1;
        state.most = state.most.max(state.running);
        self.changed.notify_all();
        state.seen.push(seen);
        (state.seen.len() - 1, fault)
    }

    /// The answer to a request, as the fault has it.
    pub(crate) fn answer(&self, request: &Request, fault: Option<&Fault>, number: usize) -> Answer {
        let mut answer = match fault.and_then(|fault| fault.replaces(request)) {
            Some(answer) => answer,
            None if matches!(fault, Some(Fault::NoRanges)) => {
                let mut request = request.clone();
                request.forget("range");
                self.service.answer(&request)
            }
            None => self.service.answer(request),
        };
        if let Some(fault) = fault {
            answer = fault.spoil(answer, number);
        }
        if request.method == "HEAD" {
            answer.length = Some(answer.body.len());
            answer.body.clear();
        }
        answer
    }

    /// Notes the answer that is about to be sent.
    pub(crate) fn answering(&self, number: usize, answer: &Answer) {
        // The log may have been taken meanwhile.
        if let Some(seen) = self.state().seen.get_mut(number) {
            seen.status = answer.status;
            seen.bytes = answer.body.len();
        }
    }

    /// Waits until so many requests were being answered at once.
    pub(crate) fn wait_for(&self, requests: usize) {
        let few = |state: &mut State| state.most < requests;
        let _ = self.changed.wait_timeout_while(self.state(), PATIENCE, few);
    }

    /// Notes that a request is over.
    pub(crate) fn end(&self) {
        self.state().running -= 1;
    }
}
