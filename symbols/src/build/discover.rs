//! The walk over a build root: build folders and object files.

use super::error::BuildError;
use crate::input::{Fault, Reason};
use std::path::{Path, PathBuf};

/// Files that make a folder a build folder.
const RECORDS: [&str; 3] = ["build.ninja", ".ninja_deps", "compile_commands.json"];
/// A Make build by `CMake` has both of these.
const MAKE: [&str; 2] = ["Makefile", "CMakeCache.txt"];
/// Far above any build: stops a walk that was pointed at the wrong folder.
const MAX_FILES: u64 = 10_000_000;

/// What lies below a build root, sorted.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) objects: Vec<PathBuf>,
}

/// Walks `root`; symlinked folders are not entered.
pub(crate) fn discover(root: &Path) -> Result<Found, BuildError> {
    let mut found = Found::default();
    let mut pending = vec![root.to_owned()];
    let mut files = 0_u64;
    while let Some(folder) = pending.pop() {
        let entries =
            fs_err::read_dir(&folder).map_err(|error| BuildError::read(&folder, error))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| BuildError::read(&folder, error))?;
            let kind = entry
                .file_type()
                .map_err(|error| BuildError::read(&entry.path(), error))?;
            files += 1;
            if files > MAX_FILES {
                let fault = Fault::new(Reason::TooLarge, 0, format!("at most {MAX_FILES} files"));
                return Err(BuildError::content(root, fault));
            }
            let path = entry.path();
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                let fault = Fault::malformed(0, "file names in UTF-8");
                return Err(BuildError::content(&path, fault));
            };
            if kind.is_dir() {
                if name != ".git" {
                    pending.push(path);
                }
                continue;
            }
            if path
                .extension()
                .is_some_and(|suffix| suffix == "o" || suffix == "obj")
            {
                found.objects.push(path);
            }
            names.push(name);
        }
        let has = |wanted: &&str| names.iter().any(|name| name == wanted);
        if RECORDS.iter().any(has) || MAKE.iter().all(has) {
            found.folders.push(folder);
        }
    }
    found.folders.sort();
    found.objects.sort();
    Ok(found)
}
