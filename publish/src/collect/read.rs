//! One job, read from a folder or a bundle.

use super::content::{Content, Parsed};
use super::job::Origin;
use super::names::Interner;
use fs_err as fs;
use kernrec_store::bundle::{self, BundleError, JobFolder, Part};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads a job folder. Never fails: what cannot be read is part of what the job left.
pub(super) fn read_folder(folder: JobFolder, interner: &Interner) -> Parsed {
    let mut content = Content::new(interner);
    match folder.entries_of(Part::Kernels) {
        Ok(names) => {
            let mut bytes = Vec::new();
            for name in &names {
                read_entry(&folder, name, &mut bytes, &mut content);
            }
        }
        // One entry that is no regular file, say. The others are evidence all the same.
        Err(error) => read_leniently(&folder, &error, &mut content),
    }
    let meta = folder.meta.clone();
    content.finish(meta, |content, whole| Origin::Folder {
        folder,
        content,
        whole,
    })
}

/// Reads a bundle from anything; `path` names it in errors and reports.
pub(crate) fn read_bundle(
    path: PathBuf,
    reader: impl Read,
    interner: &Interner,
) -> Result<Parsed, BundleError> {
    read_with(path, interner, |path, visit| {
        bundle::read(&path.display().to_string(), reader, visit)
    })
}

/// Reads a bundle file.
pub(super) fn read_bundle_file(path: PathBuf, interner: &Interner) -> Result<Parsed, BundleError> {
    read_with(path, interner, bundle::read_file)
}

fn read_with(
    path: PathBuf,
    interner: &Interner,
    read: impl FnOnce(&Path, &mut dyn FnMut(&str, &[u8])) -> Result<bundle::BundleSummary, BundleError>,
) -> Result<Parsed, BundleError> {
    let mut content = Content::new(interner);
    let summary = read(&path, &mut |name, bytes| content.file(name, bytes))?;
    let (digest, size) = (summary.digest, summary.size);
    Ok(content.finish(summary.meta, |content, _| Origin::Bundle {
        path,
        digest,
        size,
        content,
    }))
}

fn read_entry(folder: &JobFolder, name: &str, bytes: &mut Vec<u8>, content: &mut Content<'_>) {
    bytes.clear();
    match folder.read(name, bytes) {
        Ok(()) => content.file(name, bytes),
        Err(error) => content.unreadable(name, &error.to_string()),
    }
}

/// Reads whatever can be read of a folder whose listing was refused, and keeps the refusal.
fn read_leniently(folder: &JobFolder, error: &BundleError, content: &mut Content<'_>) {
    let mut names: Vec<String> = fs::read_dir(&folder.path)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|item| item.file_name().into_string().ok())
        .filter(|name| Part::of(name.as_bytes()) == Some(Part::Kernels))
        .collect();
    names.sort_unstable();
    let mut bytes = Vec::new();
    for name in &names {
        read_entry(folder, name, &mut bytes, content);
    }
    content.unreadable("kern.*.txt", &error.to_string());
}
