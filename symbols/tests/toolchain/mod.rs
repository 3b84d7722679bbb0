//! The real compilers that `scripts/install-compilers.sh` installs, and the vendors' tools as oracles.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const HINT: &str = "run scripts/install-compilers.sh";

/// A file of `tests/sources`.
pub(crate) fn source(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/sources")
        .join(name);
    assert!(path.exists(), "no source {}", path.display());
    path
}

fn compilers() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::var_os("KERNREC_COMPILERS").map_or_else(|| root.join(".compilers"), PathBuf::from)
}

/// A folder of what the script installs from wheels.
pub(crate) fn compilers_folder(below: &str) -> PathBuf {
    let path = compilers().join(below);
    assert!(path.exists(), "no {}: {HINT}", path.display());
    path
}

fn toolkit() -> PathBuf {
    compilers_folder("cuda-13.0/nvidia/cu13")
}

/// A command of the PATH that must be there.
pub(crate) fn tool(name: &str) -> Command {
    let found = std::env::var_os("PATH")
        .iter()
        .flat_map(std::env::split_paths)
        .any(|folder| folder.join(name).is_file());
    assert!(found, "no {name}: {HINT}");
    Command::new(name)
}

/// The path of CUDA 13.0's nvcc.
pub(crate) fn nvcc() -> PathBuf {
    let path = toolkit().join("bin/nvcc");
    assert!(path.exists(), "no {}: {HINT}", path.display());
    path
}

/// Runs a command that must succeed; its standard output.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; {HINT}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} failed:\n{text}{errors}"
    );
    text
}

/// Compiles a CUDA source with nvcc 13.0.
pub(crate) fn compile_cuda(from: &Path, object: &Path, flags: &[&str]) {
    run(Command::new(nvcc())
        .arg("-c")
        .arg(from)
        .arg("-o")
        .arg(object)
        .args(flags));
}

/// Compiles a HIP source with clang 19.
pub(crate) fn compile_hip(from: &Path, object: &Path, flags: &[&str]) {
    let base = ["-x", "hip", "-nogpuinc", "-nogpulib", "-O1", "-c"];
    run(tool("clang-19")
        .args(base)
        .args(flags)
        .arg(from)
        .arg("-o")
        .arg(object));
}

/// The kernels that `cuobjdump -symbols` lists in the ELF images of an object.
pub(crate) fn cuobjdump_kernels(object: &Path) -> BTreeSet<String> {
    let listing = run(Command::new(toolkit().join("bin/cuobjdump"))
        .arg("-symbols")
        .arg(object));
    listing
        .lines()
        .filter(|line| line.starts_with("STT_FUNC") && line.contains("STO_ENTRY"))
        .filter_map(|line| line.split_whitespace().last())
        .map(str::to_owned)
        .collect()
}

/// The kernels in the PTX that `cuobjdump -ptx` extracts.
pub(crate) fn cuobjdump_ptx_kernels(object: &Path) -> BTreeSet<String> {
    let listing = run(Command::new(toolkit().join("bin/cuobjdump"))
        .arg("-ptx")
        .arg(object));
    let directives = [".visible .entry ", ".weak .entry ", ".entry "];
    listing
        .lines()
        .filter_map(|line| {
            directives
                .iter()
                .find_map(|prefix| line.strip_prefix(prefix))
        })
        .map(|rest| rest.split('(').next().unwrap_or(rest).to_owned())
        .collect()
}

/// The kernels that llvm-readelf lists in every code object of a plain-bundle HIP object.
pub(crate) fn readelf_kernels(object: &Path, scratch: &Path) -> BTreeSet<String> {
    let bundle = scratch.join("bundle");
    let dump = format!("--dump-section=.hip_fatbin={}", bundle.display());
    run(tool("llvm-objcopy-19")
        .arg(dump)
        .arg(object)
        .arg(scratch.join("copy.o")));
    let input = format!("-input={}", bundle.display());
    let list = run(tool("clang-offload-bundler-19")
        .args(["--list", "-type=o"])
        .arg(&input));
    let mut kernels = BTreeSet::new();
    for target in list.lines().filter(|line| line.starts_with("hip")) {
        let code = scratch.join("code.elf");
        run(tool("clang-offload-bundler-19")
            .args(["-type=o", "-unbundle"])
            .arg(format!("-targets={target}"))
            .arg(&input)
            .arg(format!("-output={}", code.display())));
        let symbols = run(tool("llvm-readelf-19")
            .args(["--wide", "--dyn-syms"])
            .arg(&code));
        kernels.extend(
            symbols
                .lines()
                .filter_map(|line| line.split_whitespace().last()?.strip_suffix(".kd"))
                .map(str::to_owned),
        );
    }
    kernels
}
