//! `.ninja_log`: which outputs ninja made in this folder.
//!
//! A version line, then one line per command: start, end, modification time, output, hash, tab-separated.

use crate::build::BuildError;
use crate::input::{Fault, Reason};
use std::collections::HashSet;
use std::path::Path;

const SIGNATURE: &str = "# ninja log v";
/// The versions whose fourth field is the output.
const VERSIONS: std::ops::RangeInclusive<u32> = 4..=7;

/// The build log of one build folder.
#[derive(Debug, Default)]
pub(crate) struct BuildLog {
    outputs: HashSet<String>,
}

impl BuildLog {
    pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Self, BuildError> {
        Self::parse(bytes).map_err(|fault| BuildError::content(path, fault))
    }

    /// Whether a command that makes `output` has finished here.
    pub(crate) fn made(&self, output: &str) -> bool {
        self.outputs.contains(output)
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Fault::malformed(error.valid_up_to() as u64, "a log in UTF-8"))?;
        let mut lines = text.split_inclusive('\n');
        let head = lines.next().unwrap_or_default();
        let version = head
            .strip_prefix(SIGNATURE)
            .and_then(|rest| rest.trim_end().parse().ok());
        match version {
            Some(version) if VERSIONS.contains(&version) => {}
            _ => {
                let expected = "the head of a ninja log of version 4 to 7";
                return Err(Fault::new(Reason::Unsupported, 0, expected));
            }
        }
        let mut outputs = HashSet::new();
        let mut at = head.len() as u64;
        for line in lines {
            let fields: Vec<&str> = line.trim_end_matches('\n').split('\t').collect();
            match fields.as_slice() {
                [_, _, _, output, _] => {
                    outputs.insert((*output).to_owned());
                }
                // Ninja writes another version line when it is upgraded in place.
                _ if line.starts_with('#') => {}
                _ => return Err(Fault::malformed(at, "five fields, separated by tabs")),
            }
            at += line.len() as u64;
        }
        Ok(Self { outputs })
    }
}
