//! Which files two commits differ in.
//!
//! Renames are not looked for: one is a file that went and a file that came, so both names are in the list whatever
//! git would call them. Which lines changed is a question to [`changed_lines`](crate::changed_lines), asked of the
//! files that matter only: git would have to print the whole text of a change of 50,000 files.

use crate::program::{message, run};
use crate::{DiffRange, GitError, ObjectId, Repo};
use std::fmt;

/// A change between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The commit that the change starts from: for `A...B` where B left A.
    pub base: ObjectId,
    /// The commit that it leads to.
    pub head: ObjectId,
    /// The files, sorted by path, each once.
    pub files: Vec<FileChange>,
}

/// One file of a change. At least one side is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileChange {
    /// Relative to the root of the repository; bytes, as git keeps them.
    pub path: Vec<u8>,
    /// What it was; `None` for a file that came.
    pub old: Option<Entry>,
    /// What it is; `None` for a file that went.
    pub new: Option<Entry>,
}

/// What stands at a path in one commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Its content; of a submodule, the commit.
    pub id: BlobId,
}

/// Kinds of entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file that is not executable.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link; its content is where it leads.
    Link,
    /// A commit of another repository: anything below the path may have changed.
    Submodule,
}

/// The name of an object, in git's hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(Box<str>);

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const ACTION: &str = "diff-tree";

impl Repo {
    /// The change that a range names.
    pub fn diff(&self, range: &DiffRange) -> Result<Diff, GitError> {
        let first = self.resolve(&range.first)?;
        let head = self.resolve(&range.second)?;
        let base = if range.since_merge_base {
            self.merge_base(&first, &head)?
        } else {
            first
        };
        let files = self.changed_files(&base, &head)?;
        Ok(Diff { base, head, files })
    }

    /// The files that two commits differ in, sorted by path, each once.
    pub fn changed_files(
        &self,
        old: &ObjectId,
        new: &ObjectId,
    ) -> Result<Vec<FileChange>, GitError> {
        // The user's settings and the repository's may hide submodules, or files outside this folder.
        const ARGUMENTS: [&str; 9] = [
            ACTION,
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--ignore-submodules=none",
            "--no-relative",
            "--end-of-options",
        ];
        let (old, new) = (old.to_string(), new.to_string());
        let mut arguments = ARGUMENTS.to_vec();
        arguments.extend([old.as_str(), new.as_str(), "--"]);
        let output = run(self.dir(), &arguments, "")?;
        if !output.status.success() {
            return Err(self.failed(ACTION, message(&output)));
        }
        let mut files = parse(&output.stdout)
            .ok_or_else(|| self.failed(ACTION, "its output has not the expected form".into()))?;
        files.sort_unstable();
        Ok(files)
    }

    /// Where two histories parted. Of several such commits any will do: a change since one of them holds all that
    /// the second side did.
    fn merge_base(&self, first: &ObjectId, second: &ObjectId) -> Result<ObjectId, GitError> {
        const ACTION: &str = "merge-base";
        let (one, other) = (first.to_string(), second.to_string());
        let output = run(self.dir(), &[ACTION, &one, &other], "")?;
        let text = String::from_utf8_lossy(&output.stdout);
        match output.status.code() {
            Some(0) => ObjectId::new(text.trim())
                .ok_or_else(|| self.failed(ACTION, "it named no commit".into())),
            Some(1) if self.is_shallow()? => Err(GitError::Shallow {
                repository: self.dir().to_path_buf(),
                first: one,
                second: other,
            }),
            Some(1) => Err(GitError::Unrelated {
                repository: self.dir().to_path_buf(),
                first: one,
                second: other,
            }),
            _ => Err(self.failed(ACTION, message(&output))),
        }
    }
}

/// Reads `:<mode> <mode> <object> <object> <status> NUL <path> NUL`, any number of times.
fn parse(output: &[u8]) -> Option<Vec<FileChange>> {
    let mut files = Vec::new();
    let mut fields = output.split(|&byte| byte == 0);
    loop {
        let head = fields.next()?;
        if head.is_empty() {
            return fields.next().is_none().then_some(files);
        }
        let path = fields.next().filter(|path| !path.is_empty())?.to_vec();
        let mut words = std::str::from_utf8(head)
            .ok()?
            .strip_prefix(':')?
            .split(' ');
        let (old_mode, new_mode) = (words.next()?, words.next()?);
        let (old_id, new_id) = (words.next()?, words.next()?);
        let (old, new) = (entry(old_mode, old_id).ok()?, entry(new_mode, new_id).ok()?);
        if old.is_none() && new.is_none() {
            return None;
        }
        files.push(FileChange { path, old, new });
    }
}

/// A field of git's output that says nothing known.
struct Unknown;

/// An entry by its mode; `None` for "not there". Unknown modes are refused: nothing says what they mean.
fn entry(mode: &str, id: &str) -> Result<Option<Entry>, Unknown> {
    let kind = match mode {
        "000000" => return Ok(None),
        // 100664 stands in very old histories.
        "100644" | "100664" => EntryKind::File,
        "100755" => EntryKind::Executable,
        "120000" => EntryKind::Link,
        "160000" => EntryKind::Submodule,
        _ => return Err(Unknown),
    };
    let is_hex = |byte: u8| byte.is_ascii_hexdigit();
    if !matches!(id.len(), 40 | 64) || !id.bytes().all(is_hex) {
        return Err(Unknown);
    }
    Ok(Some(Entry {
        kind,
        id: BlobId(id.into()),
    }))
}
