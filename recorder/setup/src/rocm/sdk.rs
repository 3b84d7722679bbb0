//! The ROCProfiler SDK: found, and of a version whose records the recorder knows.

use crate::environment::Environment;
use crate::ffi::probe;
use crate::libraries::LOAD_LIMIT;
use crate::preload;
use crate::python;
use crate::reason::Unavailable;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The only version the recorder works with; what it does with others is to say so and do nothing.
pub(crate) const EXPECTED_SDK: &str = "1.3.2";

/// Names the library or its folder; nothing else is looked at then.
const NAMED: &str = "ROCPROFILER_SDK_LIB";
/// Names the installation.
const INSTALLATION: &str = "ROCM_PATH";

/// Installations without development files have the second only.
const FILES: [&str; 2] = ["librocprofiler-sdk.so", "librocprofiler-sdk.so.1"];

/// Folders of an installation: since release 7.13 it lies in `core` of its root, where packages make links to it from the
/// first place and archives make none.
const IN_INSTALLATION: [&str; 2] = ["lib", "core/lib"];

/// Folders of the wheels, below `site-packages`.
const IN_WHEELS: [&str; 2] = ["_rocm_sdk_core/lib", "_rocm_sdk_devel/lib"];

/// What the loader searches by itself on the usual distributions.
const SYSTEM: [&str; 3] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];

/// The release of an installation, below its root.
const RELEASE: &str = ".info/version";

/// A longer one is no version.
const MAX_RELEASE: usize = 64;

/// The SDK to use.
#[derive(Debug)]
pub(super) struct Sdk {
    pub(super) path: PathBuf,
    pub(super) version: String,
    /// The release of ROCm, where the installation says it.
    pub(super) rocm: Option<String>,
}

pub(super) fn find(environment: &Environment) -> Result<Sdk, Unavailable> {
    let path = chosen(environment).map_or_else(|| search(environment), Ok)?;
    let version = version(&path)?;
    if version != EXPECTED_SDK {
        return Err(Unavailable::SdkVersion {
            path,
            found: version,
            expected: EXPECTED_SDK,
        });
    }
    Ok(Sdk {
        rocm: release(&path),
        path,
        version,
    })
}

/// The copy that the job has chosen for its processes. With another one in them as well they could hang.
fn chosen(environment: &Environment) -> Option<PathBuf> {
    if environment.set(NAMED).is_some() {
        return None;
    }
    let preloaded = environment.set(preload::VARIABLE).unwrap_or_default();
    let preloaded = preloaded
        .as_bytes()
        .split(|byte| matches!(byte, b' ' | b':'))
        .map(OsStr::from_bytes)
        .filter(|entry| {
            let name = Path::new(entry).file_name().unwrap_or_default();
            name.as_bytes().starts_with(FILES[0].as_bytes())
        });
    preloaded
        .chain(environment.set(super::SDK))
        .map(PathBuf::from)
        // What is no path the loader looks for in its own way.
        .find(|path| path.is_absolute() && path.is_file())
}

fn search(environment: &Environment) -> Result<PathBuf, Unavailable> {
    let folders = folders(environment);
    let candidates = folders
        .iter()
        .flat_map(|folder| FILES.iter().map(move |file| folder.join(file)));
    let named = environment
        .set(NAMED)
        .map(|path| environment.absolute(Path::new(path)));
    named
        .into_iter()
        .chain(candidates)
        // The workload's folders are not ours.
        .map(|path| environment.absolute(&path))
        .find(|path| path.is_file())
        .ok_or(Unavailable::SdkMissing { searched: folders })
}

/// Asked in a process of its own: a library that crashes or hangs when it is loaded takes nobody along.
fn version(path: &Path) -> Result<String, Unavailable> {
    let numbers = probe::version(path, c"rocprofiler_get_version", LOAD_LIMIT);
    let numbers = numbers.map_err(|error| Unavailable::SdkNotUsable {
        path: path.to_path_buf(),
        problem: error.to_string(),
    })?;
    Ok(numbers.map(|number| number.to_string()).join("."))
}

fn folders(environment: &Environment) -> Vec<PathBuf> {
    if let Some(named) = environment.set(NAMED) {
        return vec![environment.absolute(Path::new(named))];
    }
    let root = installation(environment);
    let mut folders = IN_INSTALLATION.map(|below| root.join(below)).to_vec();
    if environment.set(INSTALLATION).is_some() {
        return folders;
    }
    if let Some(path) = environment.set("LD_LIBRARY_PATH") {
        folders.extend(std::env::split_paths(path));
    }
    for prefix in python::prefixes(environment) {
        for packages in python::site_packages(&prefix) {
            folders.extend(IN_WHEELS.iter().map(|below| packages.join(below)));
        }
    }
    folders.extend(SYSTEM.iter().map(|path| environment.system(path)));
    folders
}

/// The release of the installation that holds a library; informative.
pub(super) fn release(library: &Path) -> Option<String> {
    // Where it is, or where the links lead that stand in for it.
    let itself = fs_err::canonicalize(library).ok();
    [Some(library.to_path_buf()), itself]
        .into_iter()
        .flatten()
        .find_map(|library| release_in(library.parent()?.parent()?))
}

/// The release of the installation that the environment leads to, whether or not it has an SDK; informative.
pub(crate) fn installed(environment: &Environment) -> Option<String> {
    IN_INSTALLATION
        .iter()
        .find_map(|below| release_in(installation(environment).join(below).parent()?))
}

fn release_in(root: &Path) -> Option<String> {
    let text = fs_err::read_to_string(root.join(RELEASE)).ok()?;
    let release = text.trim();
    let is_version = !release.is_empty()
        && release.len() <= MAX_RELEASE
        && release.chars().all(|c| c.is_ascii_graphic());
    is_version.then(|| release.to_owned())
}

fn installation(environment: &Environment) -> PathBuf {
    match environment.set(INSTALLATION) {
        Some(root) => environment.absolute(Path::new(root)),
        None => environment.system("/opt/rocm"),
    }
}
