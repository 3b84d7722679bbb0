//! The Python environments that a command may use, found from paths alone: no interpreter is started, since
//! starting one costs more than all of set-up, and runs other people's code.

use crate::environment::Environment;
use crate::options::Purpose;
use crate::program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a wheel's metadata is named after: `<name>-<version>.dist-info`.
const METADATA: &str = ".dist-info";

/// The packages whose version says which kernels a job had, by their names in a sidecar and in the file system.
const PACKAGES: [(&str, &str); 4] = [
    ("torch", "torch"),
    ("triton", "triton"),
    ("amd-aiter", "amd_aiter"),
    ("pytorch-triton-rocm", "pytorch_triton_rocm"),
];

/// A longer one is no version.
const MAX_VERSION: usize = 64;

/// The versions of the GPU packages in the environment of the command's interpreter, or else in the first one
/// that the variables lead to and that has any. Empty where there is none to be seen.
pub(crate) fn versions(
    environment: &Environment,
    purpose: Purpose<'_>,
) -> BTreeMap<String, String> {
    let own = match purpose {
        Purpose::Command(command) => interpreter_prefix(command, environment),
        Purpose::Shell => None,
    };
    own.into_iter()
        .chain(prefixes(environment))
        .map(|prefix| versions_below(&prefix))
        .find(|versions| !versions.is_empty())
        .unwrap_or_default()
}

/// Prefixes of the Pythons that the environment leads to.
pub(crate) fn prefixes(environment: &Environment) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(|name| environment.set(name))
        .map(PathBuf::from)
        .collect();
    let path = environment.set("PATH").unwrap_or_default();
    for folder in std::env::split_paths(path) {
        if folder.join("python3").exists() {
            prefixes.extend(folder.parent().map(Path::to_path_buf));
        }
    }
    prefixes
}

/// The folders of installed packages below a prefix. Debian's own Python in `/usr` has them below
/// `/usr/local` too.
pub(crate) fn site_packages(prefix: &Path) -> Vec<PathBuf> {
    ["lib", "local/lib"]
        .into_iter()
        .filter_map(|below| fs_err::read_dir(prefix.join(below)).ok())
        .flat_map(|entries| entries.filter_map(Result::ok))
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
        .flat_map(|entry| ["site-packages", "dist-packages"].map(|name| entry.path().join(name)))
        .collect()
}

/// Where the Python that a command or its script names is installed. Links are not followed: those of a virtual
/// environment lead out of it.
fn interpreter_prefix(
    command: &[std::ffi::OsString],
    environment: &Environment,
) -> Option<PathBuf> {
    let program = program::path_of_command(command, environment)?;
    let is_python = program.file_name()?.to_str()?.starts_with("python");
    let prefix = program.parent()?.parent()?;
    is_python.then(|| prefix.to_path_buf())
}

fn versions_below(prefix: &Path) -> BTreeMap<String, String> {
    let folders = site_packages(prefix);
    folders
        .iter()
        .flat_map(|folder| versions_in(folder))
        .collect()
}

fn versions_in(folder: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| version(&name))
        .collect()
}

/// The package and version that a metadata folder is named after.
fn version(file_name: &str) -> Option<(String, String)> {
    let (name, version) = file_name.strip_suffix(METADATA)?.split_once('-')?;
    let (package, _) = PACKAGES
        .into_iter()
        .find(|(_, spelling)| name.eq_ignore_ascii_case(spelling))?;
    let is_version = (1..=MAX_VERSION).contains(&version.len())
        && version
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".+!_".contains(&byte));
    is_version.then(|| (package.to_owned(), version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A virtual environment with a Python and these metadata folders.
    fn environment_with(root: &Path, name: &str, metadata: &[&str]) -> PathBuf {
        let prefix = root.join(name);
        for folder in metadata {
            let path = prefix.join("lib/python3.12/site-packages").join(folder);
            fs_err::create_dir_all(path).unwrap();
        }
        fs_err::create_dir_all(prefix.join("bin")).unwrap();
        let python = prefix.join("bin/python3");
        // An ELF file: whatever it is, it is what the command comes down to.
        fs_err::copy("/proc/self/exe", &python).unwrap();
        fs_err::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
        prefix
    }

    fn found(environment: &Environment, command: &[&str]) -> Vec<(String, String)> {
        let command: Vec<_> = command.iter().map(std::ffi::OsString::from).collect();
        versions(environment, Purpose::Command(&command))
            .into_iter()
            .collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    #[test]
    fn versions_are_those_of_the_commands_own_interpreter() {
        let root = tempfile::tempdir().unwrap();
        let first = environment_with(
            root.path(),
            "a",
            &["torch-2.11.0+cu130.dist-info", "numpy-2.0.dist-info"],
        );
        let second = environment_with(
            root.path(),
            "b",
            &["torch-2.9.1.dist-info", "triton-3.5.0.dist-info"],
        );
        let script = second.join("bin/pytest");
        fs_err::write(&script, format!("#!{}/bin/python3\n", second.display())).unwrap();
        fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let environment = Environment::default().with("PATH", first.join("bin"));
        let of_second = pairs(&[("torch", "2.9.1"), ("triton", "3.5.0")]);
        assert_eq!(
            found(&environment, &["python3", "x.py"]),
            pairs(&[("torch", "2.11.0+cu130")])
        );
        assert_eq!(found(&environment, &[script.to_str().unwrap()]), of_second);
        let activated = environment.with("VIRTUAL_ENV", second.as_path());
        assert_eq!(found(&activated, &["sh", "-c", "pytest"]), of_second);
    }

    #[test]
    fn what_is_no_version_is_not_taken() {
        let names = [
            "torch-.dist-info",
            "torch-1 2.dist-info",
            "torch.dist-info",
            "torch-1.0.egg-info",
            "torchvision-0.20.dist-info",
        ];
        for name in names {
            assert_eq!(version(name), None, "{name}");
        }
        let long = format!("torch-{}.dist-info", "1".repeat(MAX_VERSION + 1));
        assert_eq!(version(&long), None);
        let root = tempfile::tempdir().unwrap();
        let environment = Environment::default().with("VIRTUAL_ENV", root.path());
        assert_eq!(found(&environment, &["absent"]), []);
    }
}
