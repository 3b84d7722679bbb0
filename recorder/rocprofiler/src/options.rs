//! The environment variables the recorder reads.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The longest accepted flush period, one hour.
const MAX_FLUSH_MS: u64 = 3_600_000;
const DEFAULT_FLUSH_MS: u64 = 1_000;

/// What the environment asks for.
#[derive(Debug)]
pub(crate) struct Options {
    /// `KERNREC_DIR`, made absolute: the workload may change its directory later.
    pub(crate) folder: PathBuf,
    /// `KERNREC_FLUSH_MS`; `None` for 0, which turns the periodic flush off.
    pub(crate) flush_period: Option<Duration>,
}

impl Options {
    /// `None` when `KERNREC_DIR` is not set: recording was not asked for.
    pub(crate) fn from_environment() -> Option<Self> {
        let folder = set("KERNREC_DIR").map(PathBuf::from)?;
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let flush_ms = flush_ms().unwrap_or(DEFAULT_FLUSH_MS);
        Some(Self {
            folder,
            flush_period: (flush_ms > 0).then(|| Duration::from_millis(flush_ms)),
        })
    }
}

fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Anything but a number within the limit counts as not set.
fn flush_ms() -> Option<u64> {
    let value: u64 = set("KERNREC_FLUSH_MS")?.to_str()?.trim().parse().ok()?;
    (value <= MAX_FLUSH_MS).then_some(value)
}
