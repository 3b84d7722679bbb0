//! A body that is asked for again from where it was cut.

use super::runtime::BodyReader;
use super::web::{Ask, Web};
use crate::{Key, StoreError};
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
    /// Bytes that come again and were handed out before.
    skip: u64,
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
            skip: 0,
            resumes: 0,
        }
    }

    /// Asks for the bytes from `at` on; an answer about another version of the file is no continuation.
    fn resume(&mut self, cut: io::Error) -> io::Result<()> {
        self.resumes += 1;
        if self.resumes > RESUMES || !self.is_resumable() {
            return Err(cut);
        }
        let ask = Ask {
            from: self.at,
            ..Ask::default()
        };
        let answer = self.web.answer(&self.key, &ask).map_err(failed)?;
        let answer = self.web.content(&self.key, answer).map_err(failed)?;
        if e_tag(&answer) != self.e_tag {
            return Err(cut);
        }
        match answer.status() {
            StatusCode::PARTIAL_CONTENT if starts_at(&answer, self.at) => {}
            // A server without ranges starts over.
            StatusCode::OK => self.skip = self.at,
            _ => return Err(cut),
        }
        self.reader = reader(&self.web, answer);
        Ok(())
    }

    /// Pieces of two versions must not be taken for one: either the server names the version, or the digest in
    /// the key would tell.
    fn is_resumable(&self) -> bool {
        let is_digest_in = |prefix| self.key.as_str().starts_with(prefix);
        self.e_tag.is_some() || is_digest_in("objects/") || is_digest_in("bundles/")
    }
}

impl Read for Resuming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let cut = match self.reader.read(buffer) {
                Ok(0) if self.skip > 0 => io::ErrorKind::ConnectionAborted.into(),
                Ok(0) if self.length.is_some_and(|length| self.at < length) => {
                    io::Error::new(io::ErrorKind::ConnectionAborted, "the body ended early")
                }
                Ok(n) if self.skip > 0 => {
                    let skipped = self.skip.min(n as u64);
                    self.skip -= skipped;
                    let rest = usize::try_from(skipped).unwrap_or(n)..n;
                    if rest.is_empty() {
                        continue;
                    }
                    let n = rest.len();
                    buffer.copy_within(rest, 0);
                    self.at += n as u64;
                    return Ok(n);
                }
                Ok(n) => {
                    self.at += n as u64;
                    return Ok(n);
                }
                // A server that trickles would trickle again.
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(error),
                Err(error) => io::Error::new(io::ErrorKind::ConnectionAborted, error),
            };
            self.skip = 0;
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

/// A request for the rest that failed, as the reader's error. Never of a kind that decompression has.
fn failed(error: StoreError) -> io::Error {
    let kind = match error {
        StoreError::TimedOut { .. } => io::ErrorKind::TimedOut,
        _ => io::ErrorKind::ConnectionAborted,
    };
    io::Error::new(kind, error)
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
