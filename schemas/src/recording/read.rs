//! One pass over a recording's bytes.

use super::footer::{self, Footer, FooterLine};
use super::header::{self, Header, HeaderKind};
use super::{ProcessState, fields};
use crate::id::{Backend, KernelName};
use std::borrow::Cow;
use std::collections::HashSet;

/// What one recording says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording<'a> {
    /// The first header, when there is one.
    pub header: Option<Header>,
    /// Distinct kernel names, in the order first seen. Bytes that are not UTF-8 are replaced.
    pub names: Vec<Cow<'a, str>>,
    /// Records lost: the larger of the sum of the `# dropped=` lines and the footer's total.
    pub dropped: u64,
    /// The last footer that could be read.
    pub footer: Option<Footer>,
    /// ROCm: the process began GPU work.
    pub gpu_active: bool,
    /// The first `# error` line, malformed number, or footer that counts errors, for people.
    pub first_error: Option<String>,
    /// What the recording is worth.
    pub state: ProcessState,
}

impl<'a> Recording<'a> {
    /// Reads a whole file. Never fails: see the module's documentation.
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut reader = Reader::default();
        // Real names have some 100 bytes; a file of short ones grows the tables as it goes.
        let expected = (bytes.len() / 64).min(1024);
        reader.seen.reserve(expected);
        reader.names.reserve(expected);
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            reader.line(&rest[..end]);
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            // A line without its end is a torn write: even a footer's last number may be cut short.
            reader.broken = true;
            reader.line(rest);
        }
        reader.finish(bytes.is_empty())
    }

    /// The backend the recording is of; `None` when no header says, or two headers disagree.
    pub fn backend(&self) -> Option<Backend> {
        self.header.as_ref().and_then(|header| header.backend)
    }
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one file, each set once"
)]
struct Reader<'a> {
    header: Option<Header>,
    headers: u32,
    names_before_header: bool,
    seen: HashSet<Cow<'a, str>, foldhash::fast::RandomState>,
    names: Vec<Cow<'a, str>>,
    dropped_lines: u64,
    footer: Option<Footer>,
    footers: u32,
    footer_incomplete: bool,
    footer_is_last: bool,
    sdk_version: bool,
    gpu_active: bool,
    first_error: Option<String>,
    /// A line that a recorder does not write; its names count, the file's silence does not.
    broken: bool,
    /// A `#` line that is none of the known ones: harmless, except that nothing is idle beside it.
    unknown_comment: bool,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a [u8]) {
        if line.is_empty() {
            return;
        }
        self.footer_is_last = false;
        if line[0] == b'#' {
            self.broken |= line.contains(&b'\r');
            self.comment(&String::from_utf8_lossy(line));
        } else {
            self.name(line);
        }
    }

    fn name(&mut self, line: &'a [u8]) {
        // No name holds a control character or a byte that is not UTF-8: the file was damaged, and the true
        // name may be one of a changed file. What can be read of it still counts as seen.
        // Folded rather than searched: without an early exit it runs on many bytes at once.
        self.broken |= line.iter().fold(false, |any, b| any | b.is_ascii_control());
        // Nor does one begin or end with a space, and with it the name joins no map.
        self.broken |= line.first() == Some(&b' ') || line.last() == Some(&b' ');
        let line = memchr::memchr(b'\r', line).map_or(line, |end| &line[..end]);
        self.names_before_header |= self.headers == 0;
        let name = if let Ok(name) = std::str::from_utf8(line) {
            Cow::Borrowed(name)
        } else {
            self.broken = true;
            String::from_utf8_lossy(line)
        };
        if !KernelName::is_valid(&name) {
            self.broken = true;
        } else if self.seen.insert(name.clone()) {
            self.names.push(name);
        }
    }

    fn comment(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix(header::MAGIC) {
            self.header_line(Header::parse(rest));
        } else if let Some(rest) = footer::rest_of(line) {
            self.footer_line(line, rest);
        } else if line.starts_with("# error") {
            self.error(line);
        } else if let Some(lost) = line.strip_prefix("# dropped=") {
            match fields::number(lost) {
                Some(lost) => self.dropped_lines = self.dropped_lines.saturating_add(lost),
                None => self.error(line),
            }
        } else if line.starts_with("# sdk_version=") {
            self.sdk_version_line(line);
        } else if line.starts_with("# gpu_active") {
            self.gpu_active = true;
        } else if line.starts_with("# kernrec") {
            // A header of another version, or one cut short: certainly not metadata to skip.
            self.broken = true;
        } else {
            self.unknown_comment = true;
        }
    }

    fn header_line(&mut self, header: Header) {
        self.headers = self.headers.saturating_add(1);
        match &mut self.header {
            None => self.header = Some(header),
            Some(first) if first.backend != header.backend => first.backend = None,
            Some(_) => {}
        }
    }

    fn sdk_version_line(&mut self, line: &str) {
        let fields = fields::Fields::parse(&line["# ".len()..]);
        let mut versions = fields
            .iter()
            .filter(|(key, _)| key.ends_with("sdk_version"));
        if fields.repeats_a_key() || versions.any(|(_, version)| fields::number(version).is_none())
        {
            return self.error(line);
        }
        self.sdk_version = true;
    }

    fn footer_line(&mut self, line: &str, rest: &str) {
        self.footers = self.footers.saturating_add(1);
        self.footer_is_last = true;
        match FooterLine::parse(rest) {
            FooterLine::Read(footer) => {
                if footer.errors.unwrap_or(0) > 0 || footer.unresolved.unwrap_or(0) > 0 {
                    self.error(line);
                }
                self.footer = Some(footer);
            }
            FooterLine::Incomplete => self.footer_incomplete = true,
            FooterLine::Malformed => self.error(line),
        }
    }

    fn error(&mut self, line: &str) {
        if self.first_error.is_none() {
            self.first_error = Some(line.trim_start_matches("# ").chars().take(200).collect());
        }
    }

    fn finish(self, empty: bool) -> Recording<'a> {
        let dropped = self
            .dropped_lines
            .max(self.footer.map_or(0, |footer| footer.dropped));
        Recording {
            state: self.state(empty, dropped),
            header: self.header,
            names: self.names,
            dropped,
            footer: self.footer,
            gpu_active: self.gpu_active,
            first_error: self.first_error,
        }
    }

    /// The worst that is true of the file.
    fn state(&self, empty: bool, dropped: u64) -> ProcessState {
        let kind = self.header.as_ref().map(|header| header.kind);
        if empty {
            return ProcessState::Empty;
        }
        if self.headers > 1 {
            return ProcessState::DuplicateHeader;
        }
        if self.names_before_header || matches!(kind, None | Some(HeaderKind::Bad)) {
            return ProcessState::BadHeader;
        }
        if self.first_error.is_some() {
            return ProcessState::Error;
        }
        if dropped > 0 {
            return ProcessState::Dropped;
        }
        if self.broken {
            return ProcessState::BrokenLine;
        }
        if self.footers == 0 {
            return if self.is_idle() {
                ProcessState::Idle
            } else {
                ProcessState::NoFooter
            };
        }
        self.footer_state(kind == Some(HeaderKind::Legacy))
    }

    fn footer_state(&self, legacy_header: bool) -> ProcessState {
        let distinct = self.names.len() as u64;
        let footer = match self.footer {
            Some(footer) if self.footers == 1 && self.footer_is_last && !self.footer_incomplete => {
                footer
            }
            _ => return ProcessState::BadFooter,
        };
        if footer.unique != distinct || footer.records < distinct {
            return ProcessState::BadFooter;
        }
        match (footer.errors, footer.unresolved) {
            (Some(_), Some(_)) if !legacy_header => ProcessState::Clean,
            (Some(_), None) | (None, Some(_)) => ProcessState::BadFooter,
            _ => ProcessState::Legacy,
        }
    }

    /// The ROCm idle rule; every other condition was excluded by [`Reader::state`] before.
    ///
    /// A proof of absence, so stricter than the rest: any line beyond header and SDK version that this
    /// reader does not know may be a newer recorder's word for GPU work.
    fn is_idle(&self) -> bool {
        let rocm = self.header.as_ref().is_some_and(|header| {
            header.kind == HeaderKind::Valid
                && header.backend == Some(Backend::Rocm)
                && !header.forked
        });
        rocm && self.sdk_version
            && !self.gpu_active
            && !self.unknown_comment
            && self.names.is_empty()
    }
}
