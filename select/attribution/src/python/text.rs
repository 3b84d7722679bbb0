//! Whether a file can be compared at all.

use std::fmt;

/// The longest text that is read, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Why a whole Python file counts as changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PythonWhy {
    /// It is new, gone or renamed.
    NotOnBothSides,
    /// One side cannot be read.
    UnreadableSide,
    /// It has more than 4 MiB, or nests so that it would take more than its share of memory.
    TooLarge,
    /// No UTF-8, another encoding declared, a NUL, a lone carriage return, or a name of a definition that is not ASCII:
    /// the interpreter reads it otherwise than it is written.
    OddText,
    /// The grammar cannot read one side.
    SyntaxError,
    /// Both sides have the same text: something else about the file changed, its mode for example.
    SameText,
}

impl PythonWhy {
    /// Every cause.
    pub const ALL: [Self; 6] = [
        Self::NotOnBothSides,
        Self::UnreadableSide,
        Self::TooLarge,
        Self::OddText,
        Self::SyntaxError,
        Self::SameText,
    ];

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotOnBothSides => "not-on-both-sides",
            Self::UnreadableSide => "unreadable-side",
            Self::TooLarge => "too-large",
            Self::OddText => "odd-text",
            Self::SyntaxError => "syntax-error",
            Self::SameText => "same-text",
        }
    }
}

impl fmt::Display for PythonWhy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The text as the interpreter reads it, without a byte order mark.
pub(super) fn readable(bytes: &[u8]) -> Result<&str, PythonWhy> {
    if bytes.len() > MAX_BYTES {
        return Err(PythonWhy::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| PythonWhy::OddText)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let has_lone_return = text
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'\r' && pair[1] != b'\n')
        || text.ends_with('\r');
    if text.contains('\0') || has_lone_return || declares_another_encoding(text) {
        return Err(PythonWhy::OddText);
    }
    Ok(text)
}

/// A comment in the first two lines with `coding` in it: PEP 263.
fn declares_another_encoding(text: &str) -> bool {
    let lines = text.lines().take(2);
    let mut declared = lines.filter_map(|line| {
        let comment = line.trim_start().strip_prefix('#')?;
        let mut named = comment.split("coding").skip(1).filter_map(|after| {
            let named = after.strip_prefix([':', '='])?.trim_start();
            let end = named.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
            Some(&named[..end.unwrap_or(named.len())])
        });
        Some(named.find(|name| !name.is_empty())?.to_ascii_lowercase())
    });
    declared.any(|name| {
        !matches!(
            name.replace('_', "-").as_str(),
            "" | "utf-8" | "utf8" | "ascii" | "us-ascii"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, PythonWhy, readable};

    #[test]
    fn an_encoding_is_declared_in_the_first_two_lines() {
        for plain in [
            "x = 1\n",
            "# -*- coding: utf-8 -*-\n",
            "#!/usr/bin/python\n# vim: set fileencoding=UTF_8 :\n",
            "\u{feff}x = 1\n",
            "# about coding\n",
            "x = 1\r\ny = 2\r\n",
            "\n\n# coding: latin-1\n",
        ] {
            assert!(readable(plain.as_bytes()).is_ok(), "{plain:?}");
        }
        for odd in [
            "# -*- coding: latin-1 -*-\n",
            "\n#coding=cp1252\n",
            "# the coding of this file, coding: latin-1\n",
            "x = 1\ry = 2\n",
            "x = 1\r",
            "x = '\0'\n",
        ] {
            assert_eq!(readable(odd.as_bytes()), Err(PythonWhy::OddText), "{odd:?}");
        }
        assert_eq!(readable(b"x = '\xff'\n"), Err(PythonWhy::OddText));
        let long = vec![b'\n'; MAX_BYTES + 1];
        assert_eq!(readable(&long), Err(PythonWhy::TooLarge));
    }
}
