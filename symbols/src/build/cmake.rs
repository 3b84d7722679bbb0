//! How `CMake` names objects: `[<dir>/]CMakeFiles/<target>.dir/<source>.o`.

use std::path::Path;

/// The target in an object's path, or the empty text.
pub(crate) fn target(object: &str) -> &str {
    split(object).map_or("", |(target, _)| target)
}

/// Whether `source` is one that `CMake` would compile to `object`.
///
/// The name below the target's folder is the source's path relative to its project folder, with
/// `__` for `..`, or an absolute path without its root; so the source ends with it.
pub(crate) fn names_source(object: &str, source: &Path) -> bool {
    let Some((_, below)) = split(object) else {
        return false;
    };
    let below = below.strip_suffix(".o").unwrap_or(below);
    let below: Vec<&str> = below.split('/').skip_while(|&part| part == "__").collect();
    !below.is_empty() && source.ends_with(below.join("/"))
}

/// Whether an object is the probe of a compiler or the like, not part of the project.
pub(crate) fn is_probe(path: &str) -> bool {
    let probes = [
        "CMakeFiles/CMakeScratch/",
        "CMakeFiles/CMakeTmp/",
        "CMakeFiles/ShowIncludes/",
    ];
    probes.iter().any(|probe| path.contains(probe))
        || path.split("CMakeFiles/").skip(1).any(is_compiler_probe)
}

/// `<version of CMake>/CompilerId<language>/...` or `_CMakeLTOTest-<language>/...`, below `CMakeFiles`.
fn is_compiler_probe(below: &str) -> bool {
    let mut folders = below.split('/');
    let first = folders.next().unwrap_or_default();
    let second = folders.next().unwrap_or_default();
    let is_version = first.starts_with(|c: char| c.is_ascii_digit());
    is_version && second.starts_with("CompilerId") || first.starts_with("_CMakeLTOTest-")
}

/// `CMake`'s own name of the object that holds a target's linked device code: no compilation.
pub(crate) fn is_device_link(object: &str) -> bool {
    object.ends_with("/cmake_device_link.o")
}

fn split(object: &str) -> Option<(&str, &str)> {
    let (_, rest) = object.rsplit_once("CMakeFiles/")?;
    let (target, below) = rest.split_once(".dir/")?;
    Some((target, below))
}
