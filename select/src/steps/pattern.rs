//! Which files a step, or everything, is about: prefixes and globs.
//!
//! A pattern may match more than its author meant, and then a step is proposed that need not be; it must never match
//! less. So a plain text is a prefix whatever follows it, and in a glob `*` crosses folders. Patterns that exclude
//! are read the other way round.

use crate::change::ChangedPath;
use globset::{GlobBuilder, GlobMatcher};

/// Files that are meant, and files that are not although a pattern matches them.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    include: Vec<Include>,
    exclude: Vec<Exclude>,
}

#[derive(Debug)]
enum Include {
    Everything,
    Prefix(String),
    /// A glob, and the text as it stands: `pages/[id].ts` may be the name of a file.
    Glob(String, GlobMatcher),
}

#[derive(Debug)]
enum Exclude {
    /// A file, or with a slash at its end all below a folder.
    Path(String),
    Glob(GlobMatcher),
}

/// A pattern that says nothing certain.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatternError {
    #[error("`{pattern}` is no glob: {source}")]
    Glob {
        pattern: String,
        source: globset::Error,
    },
    #[error(
        "`{pattern}` is filled in later, negated, of odd components or no text, so what it matches is not known"
    )]
    Unknown { pattern: String },
}

impl Patterns {
    /// Adds files that are meant.
    pub(crate) fn include(&mut self, pattern: &str) -> Result<(), PatternError> {
        let parts = alternatives(pattern);
        // The name of a file may have a comma in it.
        let whole = (parts.len() > 1).then_some(pattern);
        for part in parts.into_iter().chain(whole) {
            let plain = plain(part)?;
            self.include.push(if plain.is_empty() {
                Include::Everything
            } else if is_glob(plain) {
                // Paths of folders are compared without a slash at their end.
                let folder = plain.trim_end_matches('/');
                Include::Glob(plain.to_owned(), glob(folder, false)?)
            } else {
                Include::Prefix(plain.to_owned())
            });
        }
        Ok(())
    }

    /// Adds files that are not meant.
    pub(crate) fn exclude(&mut self, pattern: &str) -> Result<(), PatternError> {
        let plain = plain(pattern)?;
        self.exclude.push(if is_glob(plain) {
            Exclude::Glob(glob(plain, true)?)
        } else {
            Exclude::Path(plain.to_owned())
        });
        Ok(())
    }

    /// Whether nothing is meant.
    pub(crate) fn is_empty(&self) -> bool {
        self.include.is_empty()
    }

    /// How many patterns there are.
    pub(crate) fn len(&self) -> usize {
        self.include.len() + self.exclude.len()
    }

    /// Whether a changed file may be meant. One that is not exact may be any, and so may one that is not named from
    /// the source root.
    pub(crate) fn matches(&self, path: &ChangedPath) -> bool {
        if !path.is_exact() || path.as_str().starts_with('/') {
            return !self.is_empty();
        }
        let path = path.as_str();
        self.include.iter().any(|include| include.matches(path))
            && !self.exclude.iter().any(|exclude| exclude.matches(path))
    }
}

impl Include {
    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Prefix(prefix) => path.starts_with(prefix.as_str()),
            // A glob of a folder means what is in it.
            Self::Glob(text, glob) => {
                path.starts_with(text.as_str())
                    || glob.is_match(path)
                    || parents(path).any(|path| glob.is_match(path))
            }
        }
    }
}

impl Exclude {
    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Path(folder) if folder.ends_with('/') => path.starts_with(folder.as_str()),
            Self::Path(file) => path == file,
            Self::Glob(glob) => glob.is_match(path),
        }
    }
}

/// The folders that a path lies in.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

/// The parts between commas that are in no braces or brackets: Buildkite's globs mean any of them.
fn alternatives(pattern: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut is_escaped) = (0, 0_usize, false);
    for (at, character) in pattern.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&pattern[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&pattern[start..]);
    parts
}

fn plain(pattern: &str) -> Result<&str, PatternError> {
    let mut plain = pattern.trim();
    while let Some(rest) = plain.strip_prefix("./").or_else(|| plain.strip_prefix('/')) {
        plain = rest;
    }
    let plain = if plain == "." { "" } else { plain };
    if pattern.starts_with('!')
        || plain.starts_with('!')
        || pattern.contains('$')
        || pattern.contains("{{")
        || is_no_path(plain)
    {
        return Err(PatternError::Unknown {
            pattern: pattern.chars().take(200).collect(),
        });
    }
    Ok(plain)
}

/// Whether a text can be no path of git's: it has components that git's have not, or stands for a truth value, a
/// number or nothing.
fn is_no_path(plain: &str) -> bool {
    let components = plain.strip_suffix('/').unwrap_or(plain).split('/');
    let is_odd = |part: &str| matches!(part, "" | "." | "..");
    let is_value = ["true", "false", "yes", "no", "on", "off", "null", "~"]
        .iter()
        .any(|value| plain.eq_ignore_ascii_case(value));
    (!plain.is_empty() && components.clone().any(is_odd))
        || is_value
        || plain.parse::<f64>().is_ok()
}

fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

fn glob(pattern: &str, literal_separator: bool) -> Result<GlobMatcher, PatternError> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(literal_separator)
        .backslash_escape(true)
        // `a{,.txt}` means `a` too; of what is left out, doubt leaves less out.
        .empty_alternates(!literal_separator)
        .build();
    match glob {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(source) => Err(PatternError::Glob {
            pattern: pattern.chars().take(200).collect(),
            source,
        }),
    }
}
