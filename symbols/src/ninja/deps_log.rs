//! `.ninja_deps`: what the compiler read for each output.
//!
//! The signature `# ninjadeps\n` and a 32-bit version, then records of a 32-bit size word whose top
//! bit tells dependency records from paths. A path record ends with the complement of its number;
//! a dependency record is an output's number, the output's modification time when it was recorded
//! (version 3: 32 bits of seconds, version 4: 64 bits of nanoseconds) and its inputs' numbers. A
//! later record of an output replaces an earlier one.

use crate::build::BuildError;
use crate::input::{Fault, Reason, Span};
use std::collections::HashMap;
use std::path::Path;

const SIGNATURE: &[u8] = b"# ninjadeps\n";
const DEPS_FLAG: u32 = 1 << 31;
/// Ninja's own limit of a record.
const MAX_RECORD: u64 = (1 << 19) - 1;

/// The dependency log of one build folder.
#[derive(Debug, Default)]
pub(crate) struct DepsLog {
    paths: Vec<String>,
    numbers: HashMap<String, u32>,
    records: HashMap<u32, Record>,
}

#[derive(Debug)]
struct Record {
    time: RecordedTime,
    inputs: Vec<u32>,
}

/// When an output was last written, as the log recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordedTime {
    /// Version 3.
    Seconds(u32),
    /// Version 4.
    Nanoseconds(u64),
}

impl RecordedTime {
    /// Whether an output modified at `nanoseconds` is the one that was recorded, as ninja decides it.
    pub(crate) fn covers(self, nanoseconds: i128) -> bool {
        match self {
            Self::Seconds(recorded) => {
                recorded != 0 && nanoseconds.div_euclid(1_000_000_000) <= i128::from(recorded)
            }
            Self::Nanoseconds(recorded) => recorded != 0 && nanoseconds <= i128::from(recorded),
        }
    }
}

impl DepsLog {
    pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Self, BuildError> {
        Self::parse(Span::new(bytes, 0)).map_err(|fault| BuildError::content(path, fault))
    }

    /// The inputs recorded for `output`, and when.
    pub(crate) fn inputs(&self, output: &str) -> Option<(RecordedTime, Vec<&str>)> {
        let record = self.records.get(self.numbers.get(output)?)?;
        let paths = record
            .inputs
            .iter()
            .map(|&input| self.paths[input as usize].as_str());
        Some((record.time, paths.collect()))
    }

    pub(crate) fn parse(log: Span<'_>) -> Result<Self, Fault> {
        let signature = SIGNATURE.len() as u64;
        if !log.bytes().starts_with(SIGNATURE) {
            return Err(Fault::malformed(
                0,
                "the signature of a ninja dependency log",
            ));
        }
        let version = log.u32(signature, "a dependency log's version")?;
        if !matches!(version, 3 | 4) {
            let expected = format!("a dependency log of version 3 or 4, found {version}");
            return Err(Fault::new(Reason::Unsupported, signature, expected));
        }
        let mut found = Self::default();
        let mut at = signature + 4;
        while at < log.len() {
            let word = log.u32(at, "a record's size")?;
            let size = u64::from(word & !DEPS_FLAG);
            if size > MAX_RECORD || size % 4 != 0 || size < 8 {
                let expected =
                    format!("a record of 8 to {MAX_RECORD} bytes, by fours, found {size}");
                return Err(Fault::malformed(at, expected));
            }
            let record = log.slice(at + 4, size, "a whole record")?;
            if word & DEPS_FLAG == 0 {
                found.add_path(record)?;
            } else {
                found.add_deps(record, version)?;
            }
            at += 4 + size;
        }
        Ok(found)
    }

    fn add_path(&mut self, record: Span<'_>) -> Result<(), Fault> {
        let end = record.len() - 4;
        let number = u32::try_from(self.paths.len())
            .map_err(|_| Fault::new(Reason::TooLarge, record.offset(0), "fewer paths"))?;
        if record.u32(end, "a path's checksum")? != !number {
            let expected = format!("the checksum of path number {number}");
            return Err(Fault::malformed(record.offset(end), expected));
        }
        let mut path = record.slice(0, end, "a path")?.bytes();
        // Up to three NULs of padding.
        for _ in 0..3 {
            path = path.strip_suffix(b"\0").unwrap_or(path);
        }
        let path = std::str::from_utf8(path)
            .ok()
            .filter(|path| !path.is_empty() && !path.contains('\0'))
            .ok_or_else(|| Fault::malformed(record.offset(0), "a path in UTF-8"))?;
        if self.numbers.insert(path.to_owned(), number).is_some() {
            return Err(Fault::malformed(record.offset(0), "each path once"));
        }
        self.paths.push(path.to_owned());
        Ok(())
    }

    fn add_deps(&mut self, record: Span<'_>, version: u32) -> Result<(), Fault> {
        let what = "a dependency record";
        let output = self.number(record, 0)?;
        let (time, start) = if version == 3 {
            (RecordedTime::Seconds(record.u32(4, what)?), 8)
        } else {
            (RecordedTime::Nanoseconds(record.u64(4, what)?), 12)
        };
        let mut inputs = Vec::new();
        let mut at = start;
        while at < record.len() {
            inputs.push(self.number(record, at)?);
            at += 4;
        }
        self.records.insert(output, Record { time, inputs });
        Ok(())
    }

    /// The number at `at`, of a path that was listed before.
    fn number(&self, record: Span<'_>, at: u64) -> Result<u32, Fault> {
        let number = record.u32(at, "a path's number")?;
        if (number as usize) < self.paths.len() {
            return Ok(number);
        }
        let expected = format!(
            "the number of one of {} paths, found {number}",
            self.paths.len()
        );
        Err(Fault::malformed(record.offset(at), expected))
    }
}
