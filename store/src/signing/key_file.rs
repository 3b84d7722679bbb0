//! Key files as OpenSSL writes them.

use crate::artifact::{self, ArtifactError};
use crate::fsio::FsError;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The largest key file read in bytes; one of ed25519 has some hundred.
const MAX_BYTES: u64 = 64 * 1024;

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] ArtifactError),
    /// It does not hold the key that is wanted. The message never shows what it holds.
    #[error("`{}` is not an ed25519 {wanted} key in PEM: {problem}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// `private` or `public`.
        wanted: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

impl KeyFileError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::File(error) => error.reason(),
            Self::Refused { .. } => "key-refused",
        }
    }
}

/// The text of a key file, and whether others than its owner may read it.
pub(super) fn read(
    path: &Path,
    wanted: &'static str,
) -> Result<(Zeroizing<String>, bool), KeyFileError> {
    let failed =
        |action: &'static str| move |error| ArtifactError::from(FsError::new(action, path, error));
    let file = artifact::open(path)?;
    let meta = file.metadata().map_err(failed("read"))?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(4096));
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed("read"))?;
    if bytes.len() as u64 > MAX_BYTES {
        let (path, limit) = (path.to_path_buf(), MAX_BYTES);
        return Err(ArtifactError::TooLarge { path, limit }.into());
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| refused(path, wanted, "not text"))?;
    let exposed = meta.is_file() && meta.permissions().mode() & 0o044 != 0;
    Ok((Zeroizing::new(text.to_owned()), exposed))
}

pub(super) fn refused(
    path: &Path,
    wanted: &'static str,
    problem: impl Into<String>,
) -> KeyFileError {
    KeyFileError::Refused {
        path: path.to_path_buf(),
        wanted,
        problem: problem.into(),
    }
}

/// What is wrong with a text that the parser of `wanted` keys refused.
pub(super) fn problem(text: &str, other: &'static str, parser: &dyn std::fmt::Display) -> String {
    let label = text
        .lines()
        .find_map(|line| line.strip_prefix("-----BEGIN ")?.strip_suffix("-----"));
    match label {
        None => "there is no `-----BEGIN`".to_owned(),
        Some(label)
            if label
                .to_ascii_lowercase()
                .ends_with(&format!("{other} key")) =>
        {
            format!("it is a {other} key")
        }
        Some(_) => parser.to_string(),
    }
}
