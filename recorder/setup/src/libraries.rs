//! Libraries of ours: found, of this machine's architecture, and loadable.

use crate::elf;
use crate::environment::Environment;
use crate::ffi::probe::{self, ProbeError};
use crate::reason::Unavailable;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names the folder of the libraries; nothing else is looked at then.
const FOLDER: &str = "KERNREC_LIB_DIR";

/// Loading takes milliseconds; a loader that takes this long hangs.
pub(crate) const LOAD_LIMIT: Duration = Duration::from_secs(10);

/// Finds one of our libraries, which has this function.
pub(crate) fn find(
    environment: &Environment,
    name: &'static str,
    function: Option<&CStr>,
) -> Result<PathBuf, Unavailable> {
    let path = locate(environment, name)?;
    check(&path, function)?;
    Ok(path)
}

/// Finds one of our libraries, without a look into it.
pub(crate) fn locate(
    environment: &Environment,
    name: &'static str,
) -> Result<PathBuf, Unavailable> {
    let folders = folders(environment);
    folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| path.exists())
        .ok_or_else(|| Unavailable::LibraryMissing {
            library: name,
            searched: folders.clone(),
        })
}

fn folders(environment: &Environment) -> Vec<PathBuf> {
    if let Some(folder) = environment.set(FOLDER) {
        return vec![environment.absolute(Path::new(folder))];
    }
    let Some(beside) = environment.executable_folder() else {
        return Vec::new();
    };
    let mut folders = vec![beside.to_path_buf()];
    folders.extend(beside.parent().map(|above| above.join("lib/kernrec")));
    folders
}

/// Whether programs of this machine can load a library and call a function of it.
pub(crate) fn check(path: &Path, function: Option<&CStr>) -> Result<(), Unavailable> {
    check_kind(path)?;
    probe::load(path, function, LOAD_LIMIT)
        .map_err(|error: ProbeError| not_loadable(path, error.to_string()))
}

/// Whether it is a library for this machine at all.
pub(crate) fn check_kind(path: &Path) -> Result<(), Unavailable> {
    let not_loadable = |problem: String| not_loadable(path, problem);
    let elf = elf::read(path).map_err(|error| not_loadable(error.to_string()))?;
    let elf = elf.ok_or_else(|| not_loadable("it is no library".to_owned()))?;
    if let Some(found) = elf.foreign {
        return Err(Unavailable::OtherArchitecture {
            path: path.to_path_buf(),
            found,
        });
    }
    Ok(())
}

fn not_loadable(path: &Path, problem: String) -> Unavailable {
    Unavailable::NotLoadable {
        path: path.to_path_buf(),
        problem,
    }
}
