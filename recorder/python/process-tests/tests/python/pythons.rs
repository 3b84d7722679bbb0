//! The Pythons of this machine: found by running candidates, and missed with a failure.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The Pythons that can be recorded.
pub(crate) fn recorded() -> &'static [PathBuf] {
    static FOUND: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| ["3.12", "3.13"].map(find).to_vec())
}

/// Those that cannot: 3.11, and whatever older ones there are.
pub(crate) fn too_old() -> Vec<PathBuf> {
    let older = ["2.7", "3.6", "3.7", "3.8", "3.9", "3.10"];
    let mut found = vec![find("3.11")];
    found.extend(older.into_iter().filter_map(look_for));
    found
}

/// The virtual environments with pytest and coverage of the same Pythons.
pub(crate) fn with_pytest() -> Vec<PathBuf> {
    ["3.12", "3.13"]
        .map(|version| {
            let python = installed().join(format!("venv-{version}/bin/python"));
            assert!(
                python.is_file(),
                "no {}: run scripts/install-python-tests.sh",
                python.display()
            );
            python
        })
        .to_vec()
}

/// What `scripts/install-python-tests.sh` installed.
pub(crate) fn installed() -> PathBuf {
    if let Some(folder) = std::env::var_os("KERNREC_PYTHON_TESTS") {
        return PathBuf::from(folder);
    }
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    above
        .map(|folder| folder.join(".python-tests"))
        .find(|folder| folder.is_dir())
        .unwrap_or_else(|| panic!("no .python-tests: run scripts/install-python-tests.sh"))
}

/// Runs a line of Python and says what it prints.
pub(crate) fn ask(python: &Path, code: &str) -> String {
    let output = Command::new(python).args(["-c", code]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn find(version: &str) -> PathBuf {
    look_for(version).unwrap_or_else(|| {
        panic!(
            "no Python {version}: none of {:?} is one",
            candidates(version)
        )
    })
}

fn look_for(version: &str) -> Option<PathBuf> {
    let tried = candidates(version);
    tried.iter().find_map(|candidate| probe(candidate, version))
}

/// `python3.12` and `python3` on PATH, then pyenv's versions.
fn candidates(version: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = std::env::split_paths(&path)
        .flat_map(|folder| {
            [format!("python{version}"), "python3".to_owned()].map(|n| folder.join(n))
        })
        .filter(|candidate| candidate.is_file())
        .collect();
    let pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv"));
    if let Some(root) = pyenv.or(home)
        && let Ok(versions) = fs_err::read_dir(root.join("versions"))
    {
        let mut paths: Vec<_> = versions.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        found.extend(paths.into_iter().map(|path| path.join("bin/python")));
    }
    found
}

/// The interpreter itself, not the script or link that led to it.
fn probe(candidate: &Path, version: &str) -> Option<PathBuf> {
    let code = "import platform, sys; print('%d.%d %s %s' % (sys.version_info[:2] + (platform.python_implementation(), sys.executable)))";
    let output = Command::new(candidate).args(["-c", code]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let executable = text.trim().strip_prefix(&format!("{version} CPython "))?;
    Some(PathBuf::from(executable))
}
