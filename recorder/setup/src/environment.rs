//! What a process knows of its surroundings, as a value: the variables, its folder and its own file.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The surroundings of a set-up.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: HashMap<OsString, OsString>,
    folder: PathBuf,
    executable: Option<PathBuf>,
    system: Option<PathBuf>,
}

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            // Without one (it was removed) relative paths fail where they are used, with their own reason.
            folder: std::env::current_dir().unwrap_or_default(),
            executable: std::env::current_exe().ok(),
            system: None,
        }
    }

    /// The same with a variable set.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(OsString::from(name), value.into());
        self
    }

    /// The same with another current folder.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.folder = folder.to_path_buf();
        self
    }

    /// The same with another folder in the place of `/` where devices and toolkits are looked for.
    #[must_use]
    pub fn with_system(mut self, root: &Path) -> Self {
        self.system = Some(root.to_path_buf());
        self
    }

    /// A variable; one that is empty counts as not set, as CI systems export what they do not know as "".
    pub fn set(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.is_empty()).then_some(value.as_os_str())
    }

    /// A variable as it is, empty or not.
    pub(crate) fn original(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// A variable that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.set(name)?.to_str()
    }

    /// A path as an absolute one.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// The folder of the program that runs.
    pub(crate) fn executable_folder(&self) -> Option<&Path> {
        self.executable.as_deref()?.parent()
    }

    /// The program that runs.
    pub(crate) fn executable(&self) -> Option<&Path> {
        self.executable.as_deref()
    }

    /// A place of the system, given as an absolute path.
    pub(crate) fn system(&self, path: &str) -> PathBuf {
        match &self.system {
            Some(root) => root.join(path.trim_start_matches('/')),
            None => PathBuf::from(path),
        }
    }
}
