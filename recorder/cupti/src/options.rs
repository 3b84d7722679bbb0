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
    /// `KERNREC_FORCE_EVERY`: every how many periods unfinished records are taken out too; 0, the
    /// default, never. CUPTI advises against it while kernels run.
    pub(crate) force_every: u64,
    /// `KERNREC_CUPTI_PATH`: the CUPTI to load where the process has none mapped.
    pub(crate) cupti_path: Option<PathBuf>,
}

impl Options {
    /// `None` when `KERNREC_DIR` is not set: recording was not asked for.
    pub(crate) fn from_environment() -> Option<Self> {
        let folder = set("KERNREC_DIR").map(PathBuf::from)?;
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let flush_ms = number("KERNREC_FLUSH_MS", MAX_FLUSH_MS).unwrap_or(DEFAULT_FLUSH_MS);
        Some(Self {
            folder,
            flush_period: (flush_ms > 0).then(|| Duration::from_millis(flush_ms)),
            force_every: number("KERNREC_FORCE_EVERY", u64::MAX).unwrap_or(0),
            cupti_path: set("KERNREC_CUPTI_PATH").map(PathBuf::from),
        })
    }
}

fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// A number up to `limit`; anything else counts as not set.
fn number(name: &str, limit: u64) -> Option<u64> {
    let value: u64 = set(name)?.to_str()?.trim().parse().ok()?;
    (value <= limit).then_some(value)
}
