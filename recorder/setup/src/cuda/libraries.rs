//! The recorder's libraries: found, of this machine's architecture, and loadable.

use super::RECORDER;
use crate::elf;
use crate::environment::Environment;
use crate::ffi::probe::{self, ProbeError};
use crate::reason::Unavailable;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FORWARDERS: &str = "libkernrec_cupti_forwarders.so";

/// Names the folder of the libraries; nothing else is looked at then.
const FOLDER: &str = "KERNREC_LIB_DIR";

/// Loading takes milliseconds; a loader that takes this long hangs.
const LOAD_LIMIT: Duration = Duration::from_secs(10);

/// The libraries to use.
#[derive(Debug)]
pub(super) struct Libraries {
    pub(super) recorder: PathBuf,
    /// Without them the recorder works, and knows less.
    pub(super) forwarders: Result<PathBuf, Unavailable>,
}

pub(super) fn find(environment: &Environment) -> Result<Libraries, Unavailable> {
    let folders = folders(environment);
    Ok(Libraries {
        recorder: library(&folders, RECORDER, Some(c"InitializeInjection"))?,
        forwarders: library(&folders, FORWARDERS, None),
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

fn library(
    folders: &[PathBuf],
    name: &'static str,
    function: Option<&std::ffi::CStr>,
) -> Result<PathBuf, Unavailable> {
    let path = folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| path.exists())
        .ok_or_else(|| Unavailable::LibraryMissing {
            library: name,
            searched: folders.to_vec(),
        })?;
    check(&path, function)?;
    Ok(path)
}

/// Whether programs of this machine can load a library and call a function of it.
pub(super) fn check(path: &Path, function: Option<&std::ffi::CStr>) -> Result<(), Unavailable> {
    let not_loadable = |problem: String| Unavailable::NotLoadable {
        path: path.to_path_buf(),
        problem,
    };
    let elf = elf::read(path).map_err(|error| not_loadable(error.to_string()))?;
    let elf = elf.ok_or_else(|| not_loadable("it is no library".to_owned()))?;
    if let Some(found) = elf.foreign {
        return Err(Unavailable::OtherArchitecture {
            path: path.to_path_buf(),
            found,
        });
    }
    probe::load(path, function, LOAD_LIMIT)
        .map_err(|error: ProbeError| not_loadable(error.to_string()))
}
