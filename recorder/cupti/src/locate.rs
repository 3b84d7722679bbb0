//! Which CUPTI to bind.
//!
//! A copy that is mapped already is the only choice: two of them in one process collide. Only where none
//! is mapped do we load one, the one that belongs to the CUDA runtime in use.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What the process has mapped, as far as the choice depends on it.
#[derive(Debug, Default)]
pub(crate) struct Mapped {
    /// Every `libcupti.so*`.
    pub(crate) cupti: Vec<PathBuf>,
    /// The CUDA runtime, `libcudart.so*`.
    pub(crate) cudart: Option<PathBuf>,
    /// The driver, `libcuda.so*`.
    pub(crate) driver: Option<PathBuf>,
    /// Something other than CUPTI itself is linked against CUPTI.
    pub(crate) has_client: bool,
}

/// The first driver release that CUDA 13's CUPTI works with.
const FIRST_CUDA_13_DRIVER: u32 = 580;

/// The files to try, best first, where no CUPTI is mapped. A name without a folder is left to the
/// loader's search path.
pub(crate) fn candidates(mapped: &Mapped, explicit: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = explicit.map(Path::to_owned).into_iter().collect();
    let major = cuda_major(mapped);
    let name = format!("libcupti.so.{major}");
    if let Some(folder) = mapped.cudart.as_deref().and_then(Path::parent) {
        found.extend(beside_runtime(folder, &name));
    }
    for root in ["/usr/local/cuda", &format!("/usr/local/cuda-{major}")] {
        found.extend(in_toolkit(Path::new(root), &name));
    }
    found.push(PathBuf::from(name));
    found
}

/// The CUDA major version of the process: its runtime's, else the newest its driver supports.
fn cuda_major(mapped: &Mapped) -> u32 {
    let of_runtime = mapped
        .cudart
        .as_deref()
        .and_then(|path| version_after(path, b"libcudart.so."));
    match of_runtime {
        Some(major) => major,
        None if driver_release(mapped) < FIRST_CUDA_13_DRIVER => 12,
        None => 13,
    }
}

/// The driver's release, from the real name of its library (`libcuda.so.580.159.04`); where that does
/// not show it, the newest.
fn driver_release(mapped: &Mapped) -> u32 {
    mapped
        .driver
        .as_deref()
        .and_then(|path| path.canonicalize().ok())
        .and_then(|path| version_after(&path, b"libcuda.so."))
        .filter(|release| *release > 1)
        .unwrap_or(u32::MAX)
}

fn version_after(path: &Path, prefix: &[u8]) -> Option<u32> {
    let version = path.file_name()?.as_bytes().strip_prefix(prefix)?;
    let digits = version.split(|byte| *byte == b'.').next()?;
    OsStr::from_bytes(digits).to_str()?.parse().ok()
}

/// Places relative to the runtime's folder: the wheels of CUDA 13 (one folder for all), of CUDA 12 (one
/// for each), and a toolkit.
fn beside_runtime(folder: &Path, name: &str) -> Vec<PathBuf> {
    [
        "",
        "../../cuda_cupti/lib",
        "../extras/CUPTI/lib64",
        "../../../extras/CUPTI/lib64",
    ]
    .into_iter()
    .map(|relative| folder.join(relative).join(name))
    .filter(|path| path.is_file())
    .collect()
}

fn in_toolkit(root: &Path, name: &str) -> Vec<PathBuf> {
    ["extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib"]
        .into_iter()
        .map(|relative| root.join(relative).join(name))
        .filter(|path| path.is_file())
        .collect()
}
