//! Files that are not what they are called: nothing is waited for, and no size that a file claims is believed.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]
#![allow(dead_code, reason = "each test binary uses its own part")]

mod project;
mod toolchain;

use kernrec_schemas::{Backend, Variant};
use kernrec_symbols::{Labels, ObjectError, ObjectsOptions, map_objects, read_object};
use project::Project;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use tempfile::TempDir;

const SECTION_TABLE: u64 = 64;
const SECTION_NAMES: u64 = 512;
const SECTIONS: u64 = 4096;

fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// An object of three sections (none, their names, `name`) whose last two may claim any size. The file is all holes
/// but for its headers.
fn object(path: &Path, names: u64, name: &str, size: u64) {
    let file = fs_err::File::create(path).unwrap();
    file.file().set_len(SECTIONS + names.max(size)).unwrap();
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    header.extend(1_u16.to_le_bytes());
    header.extend(62_u16.to_le_bytes());
    header.extend(1_u32.to_le_bytes());
    header.extend([0; 16]);
    header.extend(SECTION_TABLE.to_le_bytes());
    header.extend([0; 4]);
    header.extend([64_u16, 0, 0, 64, 3, 1].map(u16::to_le_bytes).concat());
    let section = |name: u32, kind: u32, at: u64, size: u64| {
        let mut section = [name.to_le_bytes(), kind.to_le_bytes()].concat();
        section.extend([0, 0, at, size, 0, 1, 0].map(u64::to_le_bytes).concat());
        section
    };
    header.resize(usize::try_from(SECTION_TABLE).unwrap() + 64, 0);
    header.extend(section(0, 3, SECTION_NAMES, names));
    header.extend(section(1, 1, SECTIONS, size));
    file.file().write_all_at(&header, 0).unwrap();
    file.file()
        .write_all_at(name.as_bytes(), SECTION_NAMES + 1)
        .unwrap();
}

fn refused(path: &Path, backend: Backend) -> ObjectError {
    read_object(path, backend).unwrap_err()
}

#[test]
fn a_fifo_is_not_waited_for() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.o");
    fifo(&path);
    assert_eq!(refused(&path, Backend::Cuda).reason(), "unsupported");
    let link = folder.path().join("b.o");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(refused(&link, Backend::Cuda).reason(), "unsupported");
}

#[test]
fn a_fifo_among_the_build_records_is_not_waited_for() {
    let project = Project::host();
    fifo(&project.build().join("rules.ninja"));
    project.write("build/build.ninja", "include rules.ninja\n");
    let map = project.map();
    assert_eq!(map.reason.as_deref(), Some("unreadable-build-record"));
    assert!(
        map.errors[0].error.contains("it is not a regular file"),
        "{:?}",
        map.errors
    );
}

#[test]
fn sizes_that_only_holes_back_are_not_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.o");
    let huge = 1 << 40;
    object(&path, 64, ".text", huge);
    assert!(!read_object(&path, Backend::Cuda).unwrap().device);
    object(&path, 64, ".nv_fatbin", huge);
    let error = refused(&path, Backend::Cuda);
    assert!(error.to_string().contains("bytes of padding"), "{error}");
    object(&path, 64, ".hip_fatbin", huge);
    assert_eq!(refused(&path, Backend::Rocm).reason(), "too-large");
    object(&path, huge, ".text", 64);
    assert_eq!(refused(&path, Backend::Cuda).reason(), "malformed");
}

#[test]
fn a_record_that_is_all_holes_is_not_read() {
    let project = Project::host();
    let log = fs_err::File::create(project.build().join(".ninja_deps")).unwrap();
    log.file().set_len(1 << 40).unwrap();
    let map = project.map();
    assert!(
        map.errors[0].error.contains("too-large"),
        "{:?}",
        map.errors
    );
}

#[test]
fn the_map_says_what_the_system_said() {
    let folder = TempDir::new().unwrap();
    let object = folder.path().join("missing.o");
    let map = map_objects(&ObjectsOptions {
        labels: Labels {
            backend: Backend::Cuda,
            commit: None,
            variant: Variant::default(),
            generated_at: None,
        },
        objects: vec![object],
    });
    assert!(
        map.errors[0].error.contains("No such file"),
        "{:?}",
        map.errors
    );
}
