//! Whether there is a CUPTI for processes that bring none.
//!
//! A process with PyTorch or JAX maps its own, from wherever its wheels are, and no other may be used there.
//! So not finding one is no reason not to record: it is noted, and a recording that misses it says so itself.

use crate::environment::Environment;
use crate::libraries;
use crate::python;
use crate::reason::Unavailable;
use std::path::{Path, PathBuf};

/// Names the CUPTI to load where the process has none.
pub(super) const VARIABLE: &str = "KERNREC_CUPTI_PATH";

/// The note in the sidecar.
pub(super) const NOT_FOUND: &str = "cupti-not-found: no CUPTI in the usual places; only processes that bring their own are recorded";

const FILES: [&str; 3] = ["libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"];

/// Folders of a CUDA toolkit.
const IN_TOOLKIT: [&str; 3] = ["extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib"];

/// Folders of the wheels, below `site-packages`.
const IN_WHEELS: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"];

/// What the loader searches by itself on the usual distributions.
const SYSTEM: [&str; 3] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// By the user; to be exported.
    Named(PathBuf),
    /// Where the recorder or the process will find it.
    Somewhere,
    Nowhere,
}

pub(super) fn check(flag: Option<&Path>, environment: &Environment) -> Result<Found, Unavailable> {
    let variable = environment.set(VARIABLE).map(Path::new);
    if let Some(path) = flag.or(variable) {
        let path = environment.absolute(path);
        return match libraries::check(&path, Some(c"cuptiActivityRegisterCallbacks")) {
            Ok(()) => Ok(Found::Named(path)),
            Err(reason) => Err(Unavailable::Cupti {
                path,
                problem: reason.text(),
            }),
        };
    }
    let is_there = folders(environment)
        .iter()
        .any(|folder| FILES.iter().any(|file| folder.join(file).exists()));
    Ok(if is_there {
        Found::Somewhere
    } else {
        Found::Nowhere
    })
}

fn folders(environment: &Environment) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = SYSTEM.iter().map(|path| environment.system(path)).collect();
    let mut toolkits: Vec<PathBuf> = [
        "/usr/local/cuda",
        "/usr/local/cuda-13",
        "/usr/local/cuda-12",
    ]
    .iter()
    .map(|path| environment.system(path))
    .collect();
    let named = ["CUDA_HOME", "CUDA_PATH"]
        .iter()
        .filter_map(|name| environment.set(name));
    toolkits.extend(named.map(PathBuf::from));
    for toolkit in toolkits {
        folders.extend(IN_TOOLKIT.iter().map(|below| toolkit.join(below)));
    }
    if let Some(path) = environment.set("LD_LIBRARY_PATH") {
        folders.extend(std::env::split_paths(path));
    }
    for prefix in python::prefixes(environment) {
        for packages in python::site_packages(&prefix) {
            folders.extend(IN_WHEELS.iter().map(|below| packages.join(below)));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_in_toolkits_and_wheels() {
        let root = tempfile::tempdir().unwrap();
        let environment = Environment::default().with_system(root.path());
        assert_eq!(check(None, &environment).unwrap(), Found::Nowhere);
        let prefix = root.path().join("venv");
        let wheel = prefix.join("lib/python3.12/site-packages/nvidia/cu13/lib");
        fs_err::create_dir_all(&wheel).unwrap();
        fs_err::write(wheel.join("libcupti.so.13"), "").unwrap();
        let venv = environment.clone().with("VIRTUAL_ENV", prefix.as_path());
        assert_eq!(check(None, &venv).unwrap(), Found::Somewhere);
        let toolkit = root.path().join("usr/local/cuda/extras/CUPTI/lib64");
        fs_err::create_dir_all(&toolkit).unwrap();
        fs_err::write(toolkit.join("libcupti.so.12"), "").unwrap();
        assert_eq!(check(None, &environment).unwrap(), Found::Somewhere);
    }

    #[test]
    fn one_named_by_the_user_must_be_usable() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("libcupti.so");
        fs_err::write(&path, "text").unwrap();
        let environment = Environment::default().with(VARIABLE, path.as_path());
        let reason = check(None, &environment).unwrap_err();
        assert_eq!(reason.word(), "cupti-not-usable");
    }
}
