//! The file as a whole: every line's meaning, and what they amount to.

use super::header::FunctionHeader;
use crate::recording::ProcessState;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

/// A function that was entered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function<'a> {
    /// The file it is in, as the interpreter spelled it.
    pub file: Cow<'a, str>,
    /// Its qualified name: `Class.method`, `outer.<locals>.inner`, `<module>`.
    pub qualname: Cow<'a, str>,
    /// The line it starts at, from 1; 0 where the compiler knew none.
    pub line: u32,
}

/// One process's recording.
#[derive(Debug)]
pub struct FunctionRecording<'a> {
    /// The first header.
    pub header: Option<FunctionHeader>,
    /// The folders or files of the watched packages; a folder ends in `/`.
    pub roots: Vec<String>,
    /// The folder of the checkout's tests.
    pub tests: Vec<String>,
    /// The third-party packages that were entered.
    pub packages: BTreeSet<String>,
    /// Distinct functions in the order they were first entered.
    pub functions: Vec<Function<'a>>,
    /// `#` lines of no known kind, which a newer recorder may write.
    pub unknown: Vec<String>,
    /// Lines that no recorder writes.
    pub malformed_lines: u64,
    /// Functions in none of the places the recording names.
    pub outside_lines: u64,
    /// Fewer functions are there than were counted.
    pub lost_lines: bool,
    /// The first `#error` line, or the counters that count errors, for people.
    pub first_error: Option<String>,
    /// Whether the process ended by itself.
    pub clean_exit: bool,
    /// What the recording is worth.
    pub state: ProcessState,
}

impl<'a> FunctionRecording<'a> {
    /// Reads a whole file. Never fails: see the module's documentation.
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut reader = Reader::default();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            reader.line(&rest[..end]);
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            // A line without its end is a torn write.
            reader.malformed_lines += 1;
            reader.line(rest);
        }
        reader.finish(bytes.is_empty())
    }
}

#[derive(Default)]
struct Reader<'a> {
    header: Option<FunctionHeader>,
    headers: u32,
    lines_before_header: bool,
    roots: Vec<String>,
    tests: Vec<String>,
    packages: BTreeSet<String>,
    functions: Vec<Function<'a>>,
    seen: HashSet<Function<'a>, foldhash::fast::RandomState>,
    function_lines: u64,
    counted: u64,
    unknown: Vec<String>,
    malformed_lines: u64,
    first_error: Option<String>,
    ends: u32,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a [u8]) {
        if line.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(line);
        if matches!(text, Cow::Owned(_)) || text.contains('\r') {
            self.malformed_lines += 1;
        }
        if line[0] == b'#' {
            self.comment(&text);
        } else {
            self.lines_before_header |= self.headers == 0;
            match function(text) {
                Some(function) => self.function(function),
                None => self.malformed_lines += 1,
            }
        }
    }

    fn function(&mut self, function: Function<'a>) {
        self.function_lines += 1;
        if self.seen.insert(function.clone()) {
            self.functions.push(function);
        }
    }

    fn comment(&mut self, line: &str) {
        let mut fields = line.split('\t');
        match (fields.next().unwrap_or_default(), fields) {
            ("#start", fields) => {
                self.headers = self.headers.saturating_add(1);
                let header = FunctionHeader::parse(fields);
                self.header.get_or_insert(header);
            }
            ("#root", mut fields) => match fields.next() {
                Some(place) if !place.is_empty() => self.roots.push(place.to_owned()),
                _ => self.malformed_lines += 1,
            },
            ("#tests", mut fields) => match (fields.next(), fields.next()) {
                (Some(place), None) if !place.is_empty() => self.tests.push(place.to_owned()),
                _ => self.malformed_lines += 1,
            },
            ("#pkg", mut fields) => match (fields.next(), fields.next()) {
                (Some(name), None) if !name.is_empty() => {
                    self.packages.insert(name.to_owned());
                }
                _ => self.malformed_lines += 1,
            },
            ("#stat", fields) => self.counters(line, fields),
            ("#end", fields) => {
                self.ends = self.ends.saturating_add(1);
                self.counters(line, fields);
            }
            (tag, _) if tag.starts_with("#error") => self.error(line),
            (tag, _) if tag.starts_with("#start") => self.malformed_lines += 1,
            _ => self.unknown.push(line.to_owned()),
        }
    }

    fn counters<'l>(&mut self, line: &str, fields: impl Iterator<Item = &'l str>) {
        let (mut root, mut tests, mut errors) = (None, Some(0), None);
        for field in fields {
            match field.split_once('=') {
                Some(("root", number)) => root = number.parse::<u64>().ok(),
                Some(("tests", number)) => tests = number.parse::<u64>().ok(),
                Some(("errors", number)) => errors = number.parse::<u64>().ok(),
                _ => {}
            }
        }
        let (Some(root), Some(tests), Some(errors)) = (root, tests, errors) else {
            self.malformed_lines += 1;
            return;
        };
        self.counted = self.counted.max(root.saturating_add(tests));
        if errors > 0 {
            self.error(line);
        }
    }

    fn error(&mut self, line: &str) {
        if self.first_error.is_none() {
            self.first_error = Some(line.chars().take(200).collect());
        }
    }

    fn finish(mut self, empty: bool) -> FunctionRecording<'a> {
        let header_root = self.header.as_ref().and_then(|header| header.field("root"));
        if self.roots.is_empty()
            && let Some(root) = header_root
        {
            self.roots.push(root.to_owned());
        }
        let lost_lines = self.function_lines < self.counted;
        let outside = self
            .functions
            .iter()
            .filter(|function| !self.is_inside(&function.file));
        FunctionRecording {
            outside_lines: outside.count() as u64,
            state: self.state(empty, lost_lines),
            header: self.header,
            roots: self.roots,
            tests: self.tests,
            packages: self.packages,
            functions: self.functions,
            unknown: self.unknown,
            malformed_lines: self.malformed_lines,
            lost_lines,
            first_error: self.first_error,
            clean_exit: self.ends > 0,
        }
    }

    fn is_inside(&self, file: &str) -> bool {
        self.roots.iter().chain(&self.tests).any(|place| {
            file.strip_prefix(place.as_str()).is_some_and(|rest| {
                place.ends_with('/') || rest.is_empty() || rest.starts_with('/')
            })
        })
    }

    /// The worst that is true of the file.
    fn state(&self, empty: bool, lost_lines: bool) -> ProcessState {
        if empty {
            return ProcessState::Empty;
        }
        if self.headers > 1 {
            return ProcessState::DuplicateHeader;
        }
        if self.lines_before_header || self.header.as_ref().is_none_or(|header| header.malformed) {
            return ProcessState::BadHeader;
        }
        if self.first_error.is_some() {
            return ProcessState::Error;
        }
        if lost_lines {
            return ProcessState::Dropped;
        }
        if self.malformed_lines > 0 {
            return ProcessState::BrokenLine;
        }
        match self.ends {
            0 => ProcessState::NoFooter,
            1 => ProcessState::Clean,
            _ => ProcessState::BadFooter,
        }
    }
}

/// `file<tab>qualname<tab>line`.
fn function(line: Cow<'_, str>) -> Option<Function<'_>> {
    match line {
        Cow::Borrowed(line) => {
            let (file, qualname, line) = parts(line)?;
            let (file, qualname) = (file.into(), qualname.into());
            Some(Function {
                file,
                qualname,
                line,
            })
        }
        Cow::Owned(line) => {
            let (file, qualname, line) = parts(&line)?;
            let (file, qualname) = (file.to_owned().into(), qualname.to_owned().into());
            Some(Function {
                file,
                qualname,
                line,
            })
        }
    }
}

fn parts(line: &str) -> Option<(&str, &str, u32)> {
    let mut fields = line.split('\t');
    let (file, qualname, number) = (fields.next()?, fields.next()?, fields.next()?);
    if fields.next().is_some() || file.is_empty() || qualname.is_empty() {
        return None;
    }
    Some((file, qualname, number.parse().ok()?))
}
