//! What can go wrong with an answer, and for which requests it does.

use crate::{Answer, Request};

/// What goes wrong.
#[derive(Debug, Clone)]
pub enum Fault {
    /// This status instead of the answer; nothing is carried out.
    Status(u16),
    /// As [`Fault::Status`], with `Retry-After` in seconds.
    RetryAfter(u16, u64),
    /// The request is carried out and answered with this status.
    DoneBut(u16),
    /// The request is carried out, and the connection closed without an answer.
    DoneAndLost,
    /// The connection is closed without an answer; nothing is carried out.
    HangUp,
    /// No answer comes, and the connection stays open until the client closes it.
    Silence,
    /// So many bytes of the body, then the connection is closed; of HTTP/2 only this one stream is reset.
    Cut(usize),
    /// So many bytes of the body, then the connection is closed, with all that is under way on it; HTTP/2 says so with
    /// a `GOAWAY` of an error.
    CutAll(usize),
    /// This answer is the connection's last. HTTP/2 says so before it answers, with a `GOAWAY` of no error.
    Last,
    /// So many bytes of the body, then nothing until the client closes.
    Stall(usize),
    /// The answer waits until so many requests were being answered at once, or half a minute.
    Together(usize),
    /// One byte of the body at a time, each after so many milliseconds.
    Trickle(u64),
    /// The length is said to be so much more than it is.
    Longer(usize),
    /// The length is said to be so much less than it is, and only that much is sent.
    Shorter(usize),
    /// One bit in the middle of the body is another.
    WrongByte,
    /// Another version of the file is named in every answer.
    ChangingETag,
    /// The answer does not say which version it is.
    NoETag,
    /// The whole file, whatever range was asked for.
    NoRanges,
    /// A redirect to this URL.
    Redirect(String),
    /// A redirect to the same path.
    RedirectLoop,
    /// The body is said to be compressed.
    Gzip,
    /// A page that asks for a password, with status 200.
    LoginPage,
}

/// A fault and the requests it happens to.
#[derive(Debug, Clone)]
pub struct Rule {
    fault: Fault,
    method: Option<&'static str>,
    part: String,
    skip: usize,
    times: usize,
}

impl Rule {
    /// Happens to every request.
    pub fn every(fault: Fault) -> Self {
        Self {
            fault,
            method: None,
            part: String::new(),
            skip: 0,
            times: usize::MAX,
        }
    }

    /// Only if the path contains this.
    #[must_use]
    pub fn at(mut self, part: impl Into<String>) -> Self {
        self.part = part.into();
        self
    }

    /// Only if the method is this.
    #[must_use]
    pub fn on(mut self, method: &'static str) -> Self {
        self.method = Some(method);
        self
    }

    /// Not to the first so many of those requests.
    #[must_use]
    pub fn after(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// Only so many times.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// The fault, if it happens to this request.
    pub(crate) fn strike(&mut self, request: &Request) -> Option<Fault> {
        let wanted = self.method.is_none_or(|method| method == request.method);
        if !wanted || !request.path.contains(&self.part) {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        if self.times == 0 {
            return None;
        }
        self.times -= 1;
        Some(self.fault.clone())
    }
}

impl Fault {
    /// Whether the request is kept from the service.
    pub(crate) fn replaces(&self, request: &Request) -> Option<Answer> {
        match self {
            Self::Status(status) => Some(Answer::new(*status, error_body(*status))),
            Self::RetryAfter(status, seconds) => {
                let answer = Answer::new(*status, error_body(*status));
                Some(answer.with("retry-after", seconds.to_string()))
            }
            Self::Redirect(to) => Some(Answer::new(302, "").with("location", to)),
            Self::RedirectLoop => Some(Answer::new(302, "").with("location", &request.path)),
            Self::LoginPage => {
                let page = "<html><title>Log in</title></html>";
                Some(Answer::new(200, page).with("content-type", "text/html; charset=utf-8"))
            }
            _ => None,
        }
    }

    /// The answer as the fault changes it.
    pub(crate) fn spoil(&self, mut answer: Answer, nth: usize) -> Answer {
        match self {
            Self::DoneBut(status) => return Answer::new(*status, error_body(*status)),
            Self::Longer(more) => answer.length = Some(answer.body.len() + more),
            Self::Shorter(less) => {
                let shorter = answer.body.len().saturating_sub(*less);
                answer.body.truncate(shorter);
            }
            Self::WrongByte => {
                let middle = answer.body.len() / 2;
                if let Some(byte) = answer.body.get_mut(middle) {
                    *byte ^= 1;
                }
            }
            Self::ChangingETag => {
                answer.headers.retain(|(name, _)| name != "etag");
                answer = answer.with("etag", format!("\"{nth}\""));
            }
            Self::NoETag => answer.headers.retain(|(name, _)| name != "etag"),
            Self::Gzip => answer = answer.with("content-encoding", "gzip"),
            _ => {}
        }
        answer
    }
}

/// What S3 says of an error.
fn error_body(status: u16) -> String {
    let code = match status {
        409 => "ConditionalRequestConflict",
        501 => "NotImplemented",
        503 => "SlowDown",
        _ => "Said",
    };
    format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>")
}
