//! The file of expected digests: one line a file, and one a section below it, so that a difference can be placed.
//!
//! ```text
//! # any comment
//! NAME b3:<64 hex> sha256:<64 hex>
//!   SECTION b3:<64 hex>
//! ```

use super::elf::{Digests, Image};
use kernrec_schemas::Digest;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a build should be.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) files: BTreeMap<String, Known>,
}

/// What a file should be.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) digests: Digests,
    pub(super) sections: BTreeMap<String, Digest>,
}

impl Known {
    /// Another build's file.
    pub(super) fn of(image: &Image) -> Self {
        Self {
            digests: image.digests.clone(),
            sections: image.sections.clone(),
        }
    }
}

impl Expected {
    /// Reads the text; the error names the line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        let mut last: Option<String> = None;
        for (number, line) in text.lines().enumerate() {
            let bad = || format!("line {} is neither a file nor a section", number + 1);
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                [name, blake3, sha256] => {
                    let digests = Digests {
                        blake3: blake3.parse().map_err(|_| bad())?,
                        sha256: sha256.strip_prefix("sha256:").ok_or_else(bad)?.to_owned(),
                    };
                    let known = Known {
                        digests,
                        sections: BTreeMap::new(),
                    };
                    if files.insert(name.to_owned(), known).is_some() {
                        return Err(format!("line {}: `{name}` stands there twice", number + 1));
                    }
                    last = Some(name.to_owned());
                }
                [section, digest] => {
                    let known = last.as_ref().and_then(|name| files.get_mut(name));
                    let digest = digest.parse().map_err(|_| bad())?;
                    known
                        .ok_or_else(bad)?
                        .sections
                        .insert(section.to_owned(), digest);
                }
                _ => return Err(bad()),
            }
        }
        if files.is_empty() {
            return Err("it names no file".to_owned());
        }
        Ok(Self { files })
    }
}

/// The text of these files; `command` made them.
pub(super) fn render(files: &BTreeMap<&String, &Image>, command: &str) -> String {
    let mut text = format!(
        "# What the injection libraries are to the byte; see docs/recording.md. Written by\n#   {command}\n"
    );
    for (name, image) in files {
        let Digests { blake3, sha256 } = &image.digests;
        let _ = writeln!(text, "\n{name} {blake3} sha256:{sha256}");
        for (section, digest) in &image.sections {
            let _ = writeln!(text, "  {section} {digest}");
        }
    }
    text
}
