//! Puts the files into a folder.

use crate::files::{EXTENSION, Layout};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The recorder could not be put into a folder.
#[derive(Debug, Error)]
#[error("write the Python recorder to `{}`", path.display())]
pub struct WriteError {
    /// The file or folder that refused.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Writes the extension module and the files into a folder, which is made if need be. What was written before a
/// failure stays.
pub fn write(folder: &Path, layout: Layout, extension: &Path) -> Result<(), WriteError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        |source| WriteError { path, source }
    };
    for (path, text) in layout.files() {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent).map_err(fail(parent))?;
        }
        fs_err::write(&path, text).map_err(fail(&path))?;
        let target = folder.join(EXTENSION);
        if !target.exists() {
            fs_err::copy(extension, &target).map_err(fail(&target))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_lists_what_was_written() {
        for layout in [Layout::SitePackages, Layout::Path] {
            let folder = tempfile::tempdir().unwrap();
            let extension = folder.path().join("extension");
            fs_err::write(&extension, "library").unwrap();
            let target = folder.path().join("target");
            write(&target, layout, &extension).unwrap();
            let record = target.join("kernrec_python-0.1.0.dist-info/RECORD");
            let record = fs_err::read_to_string(record).unwrap();
            let mut listed: Vec<_> = record
                .lines()
                .map(|line| target.join(line.trim_end_matches(',')))
                .collect();
            listed.sort();
            let mut written = Vec::new();
            collect(&target, &mut written);
            written.retain(|path| !path.ends_with("sitecustomize.py"));
            written.sort();
            assert_eq!(written, listed);
        }
    }

    #[test]
    fn the_installation_has_the_version_of_this_crate() {
        let files = Layout::Path.files();
        let metadata = files.iter().find(|(path, _)| path.ends_with("/METADATA"));
        let version = concat!("Version: ", env!("CARGO_PKG_VERSION"), "\n");
        let (path, text) = metadata.unwrap();
        assert!(text.contains(version), "{text}");
        assert!(
            path.contains(concat!("-", env!("CARGO_PKG_VERSION"), ".")),
            "{path}"
        );
    }

    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else {
                files.push(path);
            }
        }
    }
}
