//! Requests and answers of HTTP/1.1, as far as the tests need them.

use std::io::{self, BufRead};

/// A request, its body included.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `PUT`, …
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// What follows the question mark; empty without one.
    pub query: String,
    /// `HTTP/1.1` or `HTTP/2.0`.
    pub version: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// A header's value; names in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// As if a header had not been sent.
    pub(crate) fn forget(&mut self, name: &str) {
        self.headers.retain(|(known, _)| known != name);
    }

    /// Reads one; `None` when the client closed the connection instead.
    pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default();
        let version = words.next().unwrap_or_default().to_owned();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (path, query) = (path.to_owned(), query.to_owned());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut request = Self {
            method,
            path,
            query,
            version,
            headers,
            body: Vec::new(),
        };
        let length = request.header("content-length");
        let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        request.body = vec![0; length];
        from.read_exact(&mut request.body)?;
        Ok(Some(request))
    }
}

/// An answer before it is sent.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, but for the length.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// What the length is said to be, when that is not the length of the body: `HEAD`, or a lie.
    pub length: Option<usize>,
}

impl Answer {
    /// An answer without headers.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            length: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// What the length is said to be; nothing is said of an answer that cannot have a body.
    pub(crate) fn told_length(&self) -> Option<usize> {
        let has_body = self.status != 304 && self.status != 204;
        has_body.then(|| self.length.unwrap_or(self.body.len()))
    }

    /// The status line and the headers.
    pub(crate) fn head(&self) -> Vec<u8> {
        use std::fmt::Write;
        let mut head = format!("HTTP/1.1 {} Said\r\n", self.status);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if let Some(length) = self.told_length() {
            let _ = write!(head, "content-length: {length}\r\n");
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

/// The version of some bytes as S3 names it: their MD5, quoted.
pub(crate) fn e_tag(bytes: &[u8]) -> String {
    use md5::{Digest, Md5};
    use std::fmt::Write;
    let mut tag = String::from("\"");
    for byte in Md5::digest(bytes) {
        let _ = write!(tag, "{byte:02x}");
    }
    tag + "\""
}

/// The MD5 of some bytes in base64, as `Content-MD5` has it.
pub(crate) fn md5_base64(bytes: &[u8]) -> String {
    use md5::{Digest, Md5};
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in Md5::digest(bytes).chunks(3) {
        let bits = three
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for digit in 0..4 {
            let is_padding = digit > three.len();
            let index = (bits >> (18 - 6 * digit)) as usize & 63;
            text.push(if is_padding {
                '='
            } else {
                char::from(DIGITS[index])
            });
        }
    }
    text
}

/// The part of a body that was asked for: everything, or what stands from an offset on.
pub(crate) fn ranged(request: &Request, e_tag: &str, body: Vec<u8>) -> Answer {
    let from = request.header("range").and_then(|range| {
        range
            .strip_prefix("bytes=")?
            .split('-')
            .next()?
            .parse()
            .ok()
    });
    let total = body.len();
    let answer = match from {
        None => Answer::new(200, body),
        Some(from) if from >= total => Answer::new(416, "nothing there"),
        Some(from) => {
            let range = format!("bytes {from}-{}/{total}", total - 1);
            Answer::new(206, &body[from..]).with("content-range", range)
        }
    };
    answer.with("etag", e_tag)
}
