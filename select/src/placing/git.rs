//! The files of both sides of a diff, from a clone.

use kernrec_attribution::{Side, Sources, Unreadable};
use kernrec_git::{Blobs, Diff, GitError, ObjectId, Repo};

/// The longest content that may be the target of a symbolic link: the longest path.
const MAX_LINK_BYTES: usize = 4096;

/// The files of two commits.
#[derive(Debug)]
pub struct GitSources {
    blobs: Blobs,
    base: ObjectId,
    head: ObjectId,
}

impl GitSources {
    /// The files of both sides of a diff.
    pub fn open(repo: &Repo, diff: &Diff) -> Result<Self, GitError> {
        Ok(Self {
            blobs: Blobs::open(repo)?,
            base: diff.base.clone(),
            head: diff.head.clone(),
        })
    }
}

impl Sources for GitSources {
    fn read(&mut self, side: Side, path: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        let commit = match side {
            Side::Base => &self.base,
            Side::Head => &self.head,
        };
        let content = self.blobs.at(commit, path).map_err(|error| Unreadable {
            problem: error.to_string(),
        })?;
        match content {
            Some(content) if may_be_link(&content) => Err(Unreadable {
                problem: format!("`{path}` may be a symbolic link"),
            }),
            content => Ok(content),
        }
    }
}

/// Whether content may be where a symbolic link leads: git hands out nothing else of one. No source is a single word
/// without a line end.
fn may_be_link(content: &[u8]) -> bool {
    !content.is_empty()
        && content.len() <= MAX_LINK_BYTES
        && !content.iter().any(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::may_be_link;

    #[test]
    fn a_link_is_told_from_a_source() {
        for link in ["../other/a.cu", "a.cuh"] {
            assert!(may_be_link(link.as_bytes()), "{link}");
        }
        for source in ["", "int a;", "#include \"a.h\"\n", "x\n"] {
            assert!(!may_be_link(source.as_bytes()), "{source}");
        }
    }
}
