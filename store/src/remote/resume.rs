//! A body that is asked for again from where it was cut.

use super::runtime::BodyReader;
use super::web::{Ask, Web};
use crate::Key;
use futures_util::{StreamExt, TryStreamExt};
use reqwest::header::{CONTENT_RANGE, ETAG};
use reqwest::{Response, StatusCode};
use std::io::{self, Read};

/// How often one body is resumed.
const RESUMES: u32 = 5;

/// Reads a body; when the connection breaks, asks for the rest.
pub(super) struct Resuming {
    web: Web,
    key: Key,
    reader: BodyReader,
    e_tag: Option<String>,
    /// The whole length, when the server told it.
    length: Option<u64>,
    at: u64,
    resumes: u32,
}

impl Resuming {
    pub(super) fn new(web: Web, key: Key, answer: Response) -> Self {
        let (e_tag, length) = (e_tag(&answer), answer.content_length());
        let reader = reader(&web, answer);
        Self {
            web,
            key,
            reader,
            e_tag,
            length,
            at: 0,
            resumes: 0,
        }
    }

    /// Asks for the bytes from `at` on; an answer about another version of the file is no continuation.
    fn resume(&mut self, cut: io::Error) -> io::Result<()> {
        self.resumes += 1;
        if self.resumes > RESUMES {
            return Err(cut);
        }
        let ask = Ask {
            from: self.at,
            ..Ask::default()
        };
        let answer = self.web.answer(&self.key, &ask).map_err(io::Error::other)?;
        let answer = self
            .web
            .content(&self.key, answer)
            .map_err(io::Error::other)?;
        let continues = match answer.status() {
            StatusCode::PARTIAL_CONTENT => starts_at(&answer, self.at),
            _ => self.at == 0,
        };
        if !continues || e_tag(&answer) != self.e_tag {
            return Err(cut);
        }
        self.reader = reader(&self.web, answer);
        Ok(())
    }
}

impl Read for Resuming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let cut = match self.reader.read(buffer) {
                Ok(0) if self.length.is_some_and(|length| self.at < length) => {
                    io::Error::new(io::ErrorKind::ConnectionAborted, "the body ended early")
                }
                Ok(n) => {
                    self.at += n as u64;
                    return Ok(n);
                }
                // A server that trickles would trickle again.
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(error),
                Err(error) => io::Error::new(io::ErrorKind::ConnectionAborted, error),
            };
            self.resume(cut)?;
        }
    }
}

/// The body of an answer that begins at this byte; `None` when it begins elsewhere.
pub(super) fn rest(web: &Web, answer: Response, at: u64) -> Option<BodyReader> {
    let begins = match answer.status() {
        StatusCode::PARTIAL_CONTENT => starts_at(&answer, at),
        _ => at == 0,
    };
    begins.then(|| reader(web, answer))
}

fn reader(web: &Web, answer: Response) -> BodyReader {
    let body = answer.bytes_stream().map_err(transport).boxed();
    web.0.blocking.reader(body, web.0.stall)
}

fn transport(error: reqwest::Error) -> io::Error {
    let kind = if error.is_timeout() {
        io::ErrorKind::TimedOut
    } else {
        io::ErrorKind::ConnectionAborted
    };
    io::Error::new(kind, error.without_url())
}

fn e_tag(answer: &Response) -> Option<String> {
    answer
        .headers()
        .get(ETAG)
        .and_then(|tag| tag.to_str().ok())
        .map(str::to_owned)
}

fn starts_at(answer: &Response, at: u64) -> bool {
    let range = answer
        .headers()
        .get(CONTENT_RANGE)
        .and_then(|range| range.to_str().ok());
    range
        .and_then(|range| range.strip_prefix("bytes "))
        .is_some_and(|range| {
            range
                .split_once('-')
                .is_some_and(|(start, _)| start.parse() == Ok(at))
        })
}
