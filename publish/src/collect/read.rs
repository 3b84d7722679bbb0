//! One job, read from a folder or a bundle.

use super::content::{Content, Parsed, ParsedJob};
use super::job::Origin;
use super::names::Interners;
use fs_err as fs;
use kernrec_store::bundle::{self, BundleError, JobFolder, Part};
use std::io::Read;
use std::path::Path;

/// Reads a job folder. Never fails: what cannot be read is part of what the job left.
pub(super) fn read_folder(folder: &JobFolder, interners: &Interners) -> ParsedJob {
    let half = |part| read_half(folder, part, interners);
    ParsedJob {
        kernels: half(Part::Kernels),
        python: half(Part::Python),
    }
}

/// What one recorder left; `None` when that is nothing.
fn read_half(folder: &JobFolder, part: Part, interners: &Interners) -> Option<Parsed> {
    let mut content = Content::new(part, interners);
    match folder.entries_of(part) {
        Ok(names) => {
            let mut bytes = Vec::new();
            for name in &names {
                read_entry(folder, name, &mut bytes, &mut content);
            }
        }
        // One entry that is no regular file, say. The others are evidence all the same.
        Err(error) => read_leniently(folder, part, &error, &mut content),
    }
    content.finish(folder.meta.clone(), |content, whole| Origin::Folder {
        folder: folder.clone(),
        content,
        whole,
    })
}

/// Reads a bundle from anything; `path` names it in errors and reports.
pub(crate) fn read_bundle(
    path: &Path,
    reader: impl Read,
    interners: &Interners,
) -> Result<ParsedJob, BundleError> {
    read_with(path, interners, |path, visit| {
        bundle::read(&path.display().to_string(), reader, visit)
    })
}

/// Reads a bundle file.
pub(super) fn read_bundle_file(
    path: &Path,
    interners: &Interners,
) -> Result<ParsedJob, BundleError> {
    read_with(path, interners, bundle::read_file)
}

fn read_with(
    path: &Path,
    interners: &Interners,
    read: impl FnOnce(&Path, &mut dyn FnMut(&str, &[u8])) -> Result<bundle::BundleSummary, BundleError>,
) -> Result<ParsedJob, BundleError> {
    let mut halves = [Part::Kernels, Part::Python].map(|part| Content::new(part, interners));
    let summary = read(path, &mut |name, bytes| {
        for half in &mut halves {
            half.file(name, bytes);
        }
    })?;
    let (digest, size) = (summary.digest, summary.size);
    let [kernels, python] = halves.map(|half| {
        half.finish(summary.meta.clone(), |content, _| Origin::Bundle {
            path: path.to_path_buf(),
            digest,
            size,
            content,
        })
    });
    Ok(ParsedJob { kernels, python })
}

fn read_entry(folder: &JobFolder, name: &str, bytes: &mut Vec<u8>, content: &mut Content<'_>) {
    bytes.clear();
    match folder.read(name, bytes) {
        Ok(()) => content.file(name, bytes),
        Err(error) => content.unreadable(name, &error.to_string()),
    }
}

/// Reads whatever can be read of a folder whose listing was refused, and keeps the refusal.
fn read_leniently(folder: &JobFolder, part: Part, error: &BundleError, content: &mut Content<'_>) {
    let mut names: Vec<String> = fs::read_dir(&folder.path)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|item| item.file_name().into_string().ok())
        .filter(|name| Part::of(name.as_bytes()) == Some(part))
        .collect();
    names.sort_unstable();
    let mut bytes = Vec::new();
    for name in &names {
        read_entry(folder, name, &mut bytes, content);
    }
    let recordings = match part {
        Part::Kernels => "kern.*.txt",
        Part::Python => "fn.*.txt",
    };
    content.unreadable(recordings, &error.to_string());
}
