//! Changes that come from a repository: every kind of file, and what is read of them.

use crate::common::git::World;
use crate::common::{ask_about, cuda, policy, ready, reason};
use kernrec_select::{
    Change, ChangeError, ChangedFile, FileStatus, MAX_CHANGED_FILES, Reason, Report,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn ask(change: &Change) -> Report {
    ask_about(&[ready(cuda())], change, policy())
}

fn file(change: &Change) -> &ChangedFile {
    change.files().next().unwrap()
}

#[test]
fn an_edit_has_both_texts_and_the_lines_that_differ() {
    let world = World::of(&[("a.cu", b"one\ntwo\nthree\n"), ("b.cu", b"same")]);
    world.write("a.cu", b"one\n2\n2\nthree\n");
    world.commit();
    let change = world.change().unwrap();
    assert_eq!(change.files().count(), 1);
    let edit = file(&change).edit.as_ref().unwrap();
    assert_eq!(
        (&*edit.old, &*edit.new),
        (
            b"one\ntwo\nthree\n".as_slice(),
            b"one\n2\n2\nthree\n".as_slice()
        )
    );
    assert_eq!(edit.hunks.len(), 1);
    assert_eq!(
        (edit.hunks[0].old.clone(), edit.hunks[0].new.clone()),
        (1..2, 1..3)
    );
    let report = ask(&change);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
}

#[test]
fn both_names_of_a_renamed_file_are_changed() {
    let world = World::of(&[("a.cu", b"the same text")]);
    world.git(&["mv", "a.cu", "new.cu"]);
    world.commit();
    let change = world.change().unwrap();
    let found: Vec<_> = change
        .files()
        .map(|file| (file.path.as_str(), file.status))
        .collect();
    assert_eq!(
        found,
        [("a.cu", FileStatus::Deleted), ("new.cu", FileStatus::Added)]
    );
    assert!(change.files().all(|file| file.edit.is_none()));
    let report = ask(&change);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::SelectedByAFileOutsideTheMap
    );
}

#[test]
fn a_deleted_file_votes_with_all_its_kernels() {
    let world = World::of(&[("a.cu", b"text")]);
    world.remove("a.cu");
    world.commit();
    let report = ask(&world.change().unwrap());
    assert_eq!(report.counts.selected, 1);
    assert_eq!(report.counts.skipped, 2);
}

#[test]
fn a_file_that_is_no_text_has_no_edit() {
    let world = World::of(&[("a.cu", b"a\0b")]);
    world.write("a.cu", b"a text");
    world.commit();
    let change = world.change().unwrap();
    assert_eq!(
        (file(&change).status, &file(&change).edit),
        (FileStatus::Modified, &None)
    );
}

#[test]
fn what_stands_for_other_files_lets_nothing_go() {
    let world = World::of(&[("b.txt", b"text")]);
    std::os::unix::fs::symlink("b.txt", world.path("a.cu")).unwrap();
    world.commit();
    let change = world.change().unwrap();
    assert_eq!(file(&change).status, FileStatus::Indirect);
    // The map knows a file of that name, and nobody knows what the link changed.
    assert!(ask(&change).everything_must_run);
}

#[test]
fn a_path_that_is_no_utf8_matches_nothing_and_lets_nothing_go() {
    let world = World::of(&[]);
    world.write(OsStr::from_bytes(b"caf\xe9\n.cu"), b"text");
    world.commit();
    let change = world.change().unwrap();
    assert_eq!(file(&change).status, FileStatus::Unspellable);
    assert_eq!(file(&change).path.as_str(), "caf\\xe9\\n.cu");
    assert!(ask(&change).everything_must_run);
}

#[test]
fn a_change_of_nothing_or_of_a_whole_tree_is_not_judged() {
    let world = World::of(&[("a.cu", b"text")]);
    world.commit();
    assert_eq!(world.change().unwrap_err(), ChangeError::Nothing);
    let names: Vec<String> = (0..=MAX_CHANGED_FILES).map(|n| format!("{n}.cu")).collect();
    let error = Change::of_files(&names).unwrap_err();
    assert_eq!(error.reason(), "too-many-changed-files");
    Change::of_files(&names[1..]).unwrap();
}
