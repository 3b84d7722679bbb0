//! Puts the files into a folder, and takes them away again.

use crate::files::{EXTENSION, Layout, PACKAGE_FOLDER, is_metadata_folder};
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The recorder could not be put into a folder, or not taken out of it.
#[derive(Debug, Error)]
#[error("{what} `{}`: {source}", path.display())]
pub struct PayloadError {
    what: &'static str,
    /// The file or folder that refused.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Writes the extension module and the files into a folder, which is made if need be.
///
/// Each file appears whole and is left alone where it is right already, so several jobs may write into one folder at
/// once, and one whose folder has everything need not be able to write. Everyone can read what is written. What was
/// written before a failure stays; what arms an interpreter is the last.
pub fn write(folder: &Path, layout: Layout, extension: &Path) -> Result<(), PayloadError> {
    let module = fs_err::read(extension).map_err(fail("read", extension))?;
    let files = layout.files();
    let Some(((bootstrap, text), others)) = files.split_last() else {
        return Ok(());
    };
    let mode = layout.folder_mode();
    for (path, text) in others {
        put(folder, path, text.as_bytes(), (0o644, mode))?;
    }
    put(folder, EXTENSION, &module, (0o755, mode))?;
    if layout == Layout::Path {
        // Before an interpreter makes them, with a mode of its own.
        for place in [folder, &folder.join(PACKAGE_FOLDER)] {
            make(&place.join("__pycache__"), mode)?;
        }
    }
    put(folder, bootstrap, text.as_bytes(), (0o644, mode))
}

/// Takes the recorder out of a folder that [`write()`] put it into, of whatever version; `false` where there was none.
/// What arms an interpreter goes first. The folder itself stays.
pub fn remove(folder: &Path, layout: Layout) -> Result<bool, PayloadError> {
    let mut found = false;
    let bootstrap = folder.join(layout.bootstrap_name());
    match fs_err::remove_file(&bootstrap) {
        Ok(()) => found = true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(fail("remove", &bootstrap)(error)),
    }
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(fail("list", folder)(error)),
    };
    for entry in entries {
        let name = entry.map_err(fail("list", folder))?.file_name();
        let name = name.to_string_lossy();
        if name == PACKAGE_FOLDER || is_metadata_folder(&name) {
            let path = folder.join(&*name);
            fs_err::remove_dir_all(&path).map_err(fail("remove", &path))?;
            found = true;
        }
    }
    Ok(found)
}

/// A file with these bytes, whatever was there. Temporary files are in the package's folder, in which no interpreter
/// looks for anything to run.
fn put(
    folder: &Path,
    name: &str,
    bytes: &[u8],
    (mode, folder_mode): (u32, u32),
) -> Result<(), PayloadError> {
    let path = folder.join(name);
    if fs_err::read(&path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let package = folder.join(PACKAGE_FOLDER);
    make(&package, folder_mode)?;
    if let Some(parent) = path.parent().filter(|parent| *parent != folder) {
        make(parent, folder_mode)?;
    }
    let on_error = || fail("write", &path);
    let mut file = tempfile::NamedTempFile::new_in(&package).map_err(on_error())?;
    file.write_all(bytes).map_err(on_error())?;
    file.as_file()
        .set_permissions(Permissions::from_mode(mode))
        .map_err(on_error())?;
    match file.persist(&path) {
        Ok(_) => Ok(()),
        Err(error) => Err(on_error()(error.error)),
    }
}

/// A folder of this mode, and those above it.
fn make(folder: &Path, mode: u32) -> Result<(), PayloadError> {
    if folder.is_dir() {
        return Ok(());
    }
    fs_err::create_dir_all(folder).map_err(fail("create", folder))?;
    let mode = Permissions::from_mode(mode);
    fs_err::set_permissions(folder, mode).map_err(fail("open to everyone", folder))
}

fn fail(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PayloadError + use<> {
    let path = path.to_owned();
    move |source| PayloadError { what, path, source }
}

#[cfg(test)]
mod tests;
