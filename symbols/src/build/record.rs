//! Reading a record whole, within a bound.

use super::BuildError;
use crate::input::{Fault, Reason};
use std::io::{self, Read as _};
use std::path::Path;

/// Above the records of the largest builds (Chromium's `build.ninja` and logs are below 300 MiB).
const MAX_RECORD: u64 = 1 << 30;

/// The bytes of the record at `path`.
pub(crate) fn read_record(path: &Path) -> Result<Vec<u8>, BuildError> {
    let read_error = |error| BuildError::read(path, error);
    // Before it is opened: a FIFO that nobody writes to would be waited for.
    let metadata = fs_err::metadata(path).map_err(read_error)?;
    if !metadata.is_file() {
        return Err(read_error(io::Error::other("it is not a regular file")));
    }
    let too_large = || {
        let expected = format!("at most {MAX_RECORD} bytes");
        BuildError::content(path, Fault::new(Reason::TooLarge, MAX_RECORD, expected))
    };
    if metadata.len() > MAX_RECORD {
        return Err(too_large());
    }
    let file = fs_err::File::open(path).map_err(read_error)?;
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(MAX_RECORD + 1)
        .read_to_end(&mut bytes)
        .map_err(read_error)?;
    if bytes.len() as u64 > MAX_RECORD {
        return Err(too_large());
    }
    Ok(bytes)
}
