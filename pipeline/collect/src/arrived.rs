//! Whether a file that was downloaded is the one that was uploaded.

use kernrec_store::bundle::MAX_BUNDLE_BYTES;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::Path;

/// What the CI system says of a file.
#[derive(Debug, Default)]
pub(crate) struct Expected<'a> {
    pub(crate) size: Option<u64>,
    pub(crate) sha256: Option<&'a str>,
}

/// Refuses what nothing of ours is as large as.
pub(crate) fn check_size(size: Option<u64>) -> Result<(), String> {
    match size {
        Some(size) if size > MAX_BUNDLE_BYTES => {
            Err(format!("it has {size} bytes, more than {MAX_BUNDLE_BYTES}"))
        }
        _ => Ok(()),
    }
}

/// A regular file of this size and digest, as far as either is known.
pub(crate) fn check(path: &Path, expected: &Expected<'_>) -> Result<(), String> {
    let shown = |error: io::Error| error.to_string();
    let meta = fs_err::symlink_metadata(path).map_err(shown)?;
    if !meta.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if let Some(size) = expected.size
        && meta.len() != size
    {
        return Err(format!("it has {} bytes, expected {size}", meta.len()));
    }
    let Some(expected) = expected.sha256 else {
        return Ok(());
    };
    let mut hasher = Sha256::new();
    let mut file = fs_err::File::open(path).map_err(shown)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(shown)? {
            0 => break,
            n => hasher.update(&buffer[..n]),
        }
    }
    let mut found = String::new();
    for byte in hasher.finalize() {
        let _ = write!(found, "{byte:02x}");
    }
    if found == expected {
        return Ok(());
    }
    Err(format!("its SHA-256 is {found}, expected {expected}"))
}
