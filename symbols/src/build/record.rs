//! Reading a record whole, within a bound.

use super::BuildError;
use crate::input::{Fault, Reason};
use std::io::Read as _;
use std::path::Path;

/// Above the records of the largest builds (Chromium's `build.ninja` and logs are below 300 MiB).
const MAX_RECORD: u64 = 1 << 30;

/// The bytes of the record at `path`.
pub(crate) fn read_record(path: &Path) -> Result<Vec<u8>, BuildError> {
    let file = fs_err::File::open(path).map_err(|error| BuildError::read(path, error))?;
    let mut bytes = Vec::new();
    file.take(MAX_RECORD + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| BuildError::read(path, error))?;
    if bytes.len() as u64 > MAX_RECORD {
        let fault = Fault::new(
            Reason::TooLarge,
            MAX_RECORD,
            format!("at most {MAX_RECORD} bytes"),
        );
        return Err(BuildError::content(path, fault));
    }
    Ok(bytes)
}
