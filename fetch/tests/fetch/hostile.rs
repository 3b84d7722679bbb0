//! Local folders that are not as they should be: a clear word, and nothing of anybody else's destroyed.

use crate::support::{World, assert_commit, overwrite, reason};
use kernrec_fetch::{Backends, Status};
use kernrec_schemas::Backend;
use std::os::unix::fs::symlink;
use std::time::Duration;

fn published() -> World {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 1);
    fs_err::create_dir(&world.out).unwrap();
    world
}

fn assert_not_ours(world: &World) {
    let report = world.fetch();
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Failed, "not-ours")
    );
}

#[test]
fn a_real_folder_at_the_backends_name() {
    let world = published();
    fs_err::create_dir(world.out.join("cuda")).unwrap();
    overwrite(&world.out.join("cuda/precious"), b"mine");
    assert_not_ours(&world);
    assert_eq!(
        fs_err::read(world.out.join("cuda/precious")).unwrap(),
        b"mine"
    );
    assert_eq!(world.open().unwrap_err().reason(), "not-ours");
}

#[test]
fn a_file_at_the_backends_name() {
    let world = published();
    overwrite(&world.out.join("cuda"), b"mine");
    assert_not_ours(&world);
    assert_eq!(fs_err::read(world.out.join("cuda")).unwrap(), b"mine");
}

#[test]
fn a_link_to_elsewhere_at_the_backends_name() {
    let world = published();
    let elsewhere = world.dir.path().join("elsewhere");
    fs_err::create_dir(&elsewhere).unwrap();
    for target in [
        elsewhere.to_str().unwrap(),
        ".records/../../elsewhere",
        ".records",
        "x",
    ] {
        symlink(target, world.out.join("cuda")).unwrap();
        assert_not_ours(&world);
        assert_eq!(world.open().unwrap_err().reason(), "not-ours");
        fs_err::remove_file(world.out.join("cuda")).unwrap();
    }
}

#[test]
fn a_record_store_that_is_a_link() {
    let world = published();
    let elsewhere = world.dir.path().join("elsewhere");
    fs_err::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, world.out.join(".records")).unwrap();
    assert_not_ours(&world);
    assert!(crate::support::names_in(&elsewhere).is_empty());
}

#[test]
fn a_lock_that_is_a_folder() {
    let world = published();
    fs_err::create_dir(world.out.join(".lock")).unwrap();
    assert_not_ours(&world);
}

#[test]
fn a_file_where_a_record_folder_belongs() {
    let world = published();
    world.fetch();
    let folder = world.folder();
    fs_err::remove_dir_all(&folder).unwrap();
    overwrite(&folder, b"mine");
    assert_not_ours(&world);
    assert_eq!(fs_err::read(&folder).unwrap(), b"mine");
    assert_eq!(world.open().unwrap_err().reason(), "installed-damaged");
}

#[test]
fn an_output_folder_that_is_a_file() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 1);
    overwrite(&world.out, b"mine");
    let report = world.fetch();
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Failed, "file-error")
    );
    assert_eq!(fs_err::read(&world.out).unwrap(), b"mine");
}

/// The kernel refuses new folders there to everybody, so this holds for whoever runs the tests.
#[test]
fn a_folder_that_cannot_be_written() {
    let mut world = World::new();
    world.publish(Backend::Cuda, "aaaa", 1);
    world.out = "/sys/kernrec-test".into();
    let report = world.fetch();
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Failed, "folder-not-writable")
    );
    let message = report.failure.unwrap().message;
    assert!(message.contains("`/sys` belongs to user "), "{message}");
}

#[test]
fn special_files_in_a_record_folder_do_not_hold_anybody_up() {
    let world = published();
    world.fetch();
    let path = world.folder().join("kernel_table.json.zst");
    fs_err::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(world.open().unwrap_err().reason(), "installed-damaged");
    assert_eq!(world.fetch().status, Status::Healed);
    assert_commit(&world.open().unwrap(), "aaaa");
}

#[test]
fn a_folder_of_another_backend_in_disguise() {
    let world = published();
    world.publish(Backend::Rocm, "cccc", 1);
    let mut options = world.options();
    options.backends = Backends::All;
    world.fetch_with(&options);
    let rocm = fs_err::read_link(world.out.join("rocm")).unwrap();
    fs_err::remove_file(world.out.join("cuda")).unwrap();
    symlink(rocm, world.out.join("cuda")).unwrap();
    assert_eq!(world.open().unwrap_err().reason(), "installed-damaged");
    assert_eq!(world.fetch().status, Status::Installed);
    assert_commit(&world.open().unwrap(), "aaaa");
}

#[test]
fn a_lock_held_by_another_is_waited_for_and_reported() {
    let world = published();
    world.fetch();
    world.publish(Backend::Cuda, "bbbb", 2);
    let path = world.out.join(".lock");
    let _held = kernrec_store::fsio::Lock::exclusive(&path, Duration::ZERO).unwrap();
    let report = world.one_with(|options| options.lock_wait = Duration::ZERO);
    crate::support::assert_kept(&world, &report, Status::Failed, "lock-not-obtained", "aaaa");
}
