//! Names and texts.

use std::fmt::Write as _;

/// The folder of the package.
pub(crate) const PACKAGE_FOLDER: &str = "_kernrec_python";

/// Where the extension module goes, from the folder on.
pub const EXTENSION: &str = "_kernrec_python/_recorder.abi3.so";

const PACKAGE: [(&str, &str); 4] = [
    (
        "_kernrec_python/__init__.py",
        include_str!("../files/_kernrec_python/__init__.py"),
    ),
    (
        "_kernrec_python/_pytest_notes.py",
        include_str!("../files/_kernrec_python/_pytest_notes.py"),
    ),
    (
        "_kernrec_python/_watch.py",
        include_str!("../files/_kernrec_python/_watch.py"),
    ),
    (
        "_kernrec_python/pytest_plugin.py",
        include_str!("../files/_kernrec_python/pytest_plugin.py"),
    ),
];

/// pytest finds the plugin, and pip the installation, by these.
const METADATA: [(&str, &str); 3] = [
    (
        "kernrec_python-0.1.0.dist-info/METADATA",
        include_str!("../files/kernrec_python-0.1.0.dist-info/METADATA"),
    ),
    (
        "kernrec_python-0.1.0.dist-info/entry_points.txt",
        include_str!("../files/kernrec_python-0.1.0.dist-info/entry_points.txt"),
    ),
    ("kernrec_python-0.1.0.dist-info/INSTALLER", "kernrec\n"),
];
const RECORD: &str = "kernrec_python-0.1.0.dist-info/RECORD";

/// Whether a folder has the metadata of this package, of whatever version.
pub(crate) fn is_metadata_folder(name: &str) -> bool {
    name.strip_prefix("kernrec_python-")
        .is_some_and(|rest| rest.ends_with(".dist-info"))
}

/// How the files arm an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// In a `site-packages` folder, by a `.pth` file.
    SitePackages,
    /// In a folder on `PYTHONPATH`, by a `sitecustomize` that gives way to the one it stands before.
    Path,
}

impl Layout {
    fn bootstrap(self) -> (&'static str, &'static str) {
        match self {
            Self::SitePackages => (
                "kernrec_python.pth",
                include_str!("../files/kernrec_python.pth"),
            ),
            Self::Path => (
                "sitecustomize.py",
                include_str!("../files/sitecustomize.py"),
            ),
        }
    }

    /// The mode of folders. Those for one job are open to everyone, so that an agent of another user can remove what a
    /// killed one leaves.
    pub(crate) const fn folder_mode(self) -> u32 {
        match self {
            Self::SitePackages => 0o755,
            Self::Path => 0o777,
        }
    }

    /// The file that arms an interpreter.
    pub(crate) fn bootstrap_name(self) -> &'static str {
        self.bootstrap().0
    }

    /// Every file but the extension module, by its path from the folder on, in the order to write them: what
    /// arms an interpreter comes last.
    pub fn files(self) -> Vec<(&'static str, String)> {
        let parts = PACKAGE.into_iter().chain(METADATA);
        let mut files: Vec<_> = parts.map(|(path, text)| (path, text.to_owned())).collect();
        let mut record = String::new();
        let names = files.iter().map(|(path, _)| *path);
        // pytest takes what is listed for modules of the plugin, and would miss the `sitecustomize` that the
        // recorder's gave way to.
        let bootstrap = match self {
            Self::SitePackages => Some(self.bootstrap().0),
            Self::Path => None,
        };
        for path in names.chain([EXTENSION, RECORD]).chain(bootstrap) {
            // Writing to a string cannot fail.
            let _ = writeln!(record, "{path},,");
        }
        files.push((RECORD, record));
        let (path, text) = self.bootstrap();
        files.push((path, text.to_owned()));
        files
    }
}
