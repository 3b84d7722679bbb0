//! What a change is: every kind of file, every kind of range, and reading both sides.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_git::{Blobs, DiffRange, EntryKind, FileChange, Hunk, MAX_BLOB_BYTES, Repo};
use proptest::prelude::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

struct World(TempDir);

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        world.git(&["init", "-q", "-b", "main"]);
        world
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(self.0.path(), arguments)
    }

    fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.0.path().join(name.as_ref())
    }

    fn write(&self, name: impl AsRef<OsStr>, content: &[u8]) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn repo(&self) -> Repo {
        Repo::new(self.0.path())
    }

    fn files(&self, range: &str) -> Vec<FileChange> {
        self.repo().diff(&range.parse().unwrap()).unwrap().files
    }

    fn paths(&self, range: &str) -> Vec<String> {
        let shown = |file: FileChange| String::from_utf8_lossy(&file.path).into_owned();
        self.files(range).into_iter().map(shown).collect()
    }

    fn refusal(&self, range: &str) -> &'static str {
        let range: DiffRange = range.parse().unwrap();
        self.repo().diff(&range).unwrap_err().reason()
    }
}

fn git_in(at: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(at)
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .env_remove("GIT_DIR")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn kinds(file: &FileChange) -> (Option<EntryKind>, Option<EntryKind>) {
    let kind = |side: &Option<kernrec_git::Entry>| side.as_ref().map(|entry| entry.kind);
    (kind(&file.old), kind(&file.new))
}

#[test]
fn three_dots_leave_out_what_the_base_did_meanwhile_and_two_do_not() {
    let world = World::new();
    world.write("a", b"1");
    world.commit();
    world.git(&["checkout", "-q", "-b", "topic"]);
    world.write("topic", b"1");
    world.commit();
    world.git(&["checkout", "-q", "main"]);
    world.write("main", b"1");
    let main = world.commit();
    assert_eq!(world.paths("main...topic"), ["topic"]);
    assert_eq!(world.paths("main..topic"), ["main", "topic"]);
    assert_eq!(world.paths("topic..."), ["main"], "HEAD is main");
    let diff = world.repo().diff(&"main..topic".parse().unwrap()).unwrap();
    assert_eq!(diff.base.to_string(), main);
}

#[test]
fn every_kind_of_file_is_told() {
    use EntryKind::{Executable, File, Link, Submodule};
    let world = World::new();
    let other = World::new();
    other.write("x", b"1");
    other.commit();
    world.write("gone", b"1");
    world.write("before", b"the same text");
    world.write("mode", b"1");
    world.write("becomes-link", b"1");
    world.write(OsStr::from_bytes(b"caf\xe9\n.cu"), b"1");
    world.git(&[
        "submodule",
        "-q",
        "add",
        other.0.path().to_str().unwrap(),
        "sub",
    ]);
    world.commit();
    other.write("x", b"2");
    other.commit();
    git_in(&world.path("sub"), &["pull", "-q"]);
    fs_err::remove_file(world.path("gone")).unwrap();
    fs_err::rename(world.path("before"), world.path("after")).unwrap();
    world.git(&["update-index", "--chmod=+x", "mode"]);
    fs_err::remove_file(world.path("becomes-link")).unwrap();
    std::os::unix::fs::symlink("mode", world.path("becomes-link")).unwrap();
    world.write(OsStr::from_bytes(b"caf\xe9\n.cu"), b"2");
    fs_err::set_permissions(
        world.path("mode"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    world.commit();
    // Both would hide the submodule.
    world.git(&["config", "diff.ignoreSubmodules", "all"]);
    world.git(&["config", "submodule.sub.ignore", "all"]);
    let files = world.files("HEAD~1..HEAD");
    let found: Vec<_> = files
        .iter()
        .map(|file| (file.path.as_slice(), kinds(file)))
        .collect();
    assert_eq!(
        found,
        [
            (b"after".as_slice(), (None, Some(File))),
            (b"becomes-link", (Some(File), Some(Link))),
            (b"before", (Some(File), None)),
            (b"caf\xe9\n.cu", (Some(File), Some(File))),
            (b"gone", (Some(File), None)),
            (b"mode", (Some(File), Some(Executable))),
            (b"sub", (Some(Submodule), Some(Submodule))),
        ]
    );
}

#[test]
fn a_folder_of_the_repository_sees_all_of_it() {
    let world = World::new();
    world.write("in/a", b"1");
    world.commit();
    world.write("in/a", b"2");
    world.write("out/b", b"1");
    world.commit();
    world.git(&["config", "diff.relative", "true"]);
    let inside = Repo::new(world.path("in"));
    let diff = inside.diff(&"HEAD~1..HEAD".parse().unwrap()).unwrap();
    let paths: Vec<&[u8]> = diff.files.iter().map(|file| file.path.as_slice()).collect();
    assert_eq!(paths, [b"in/a", b"out/b".as_slice()]);
}

#[test]
fn what_cannot_be_answered_has_a_word() {
    let world = World::new();
    world.write("a", b"1");
    world.commit();
    world.git(&["checkout", "-q", "--orphan", "stranger"]);
    world.write("b", b"1");
    let stranger = world.commit();
    assert_eq!(world.refusal("main...stranger"), "histories-unrelated");
    assert_eq!(world.refusal("main...absent"), "revision-unknown");
    assert_eq!(world.refusal("--all..main"), "revision-unknown");
    let main = world.git(&["rev-parse", "main"]);
    world.write(".git/shallow", format!("{main}\n{stranger}\n").as_bytes());
    assert_eq!(world.refusal("main...stranger"), "shallow-repository");
    let nowhere = Repo::new(world.path("absent"));
    let error = nowhere.diff(&"a..b".parse().unwrap()).unwrap_err();
    assert_eq!(error.reason(), "repository-unusable");
}

#[test]
fn a_range_has_one_separator_and_at_least_one_revision() {
    for text in ["", "main", "...", "..", "a....b", "a..b..c", "a...b..c"] {
        let error = text.parse::<DiffRange>().unwrap_err();
        assert_eq!(error.reason(), "diff-range-malformed", "{text}");
    }
    for (text, full) in [("a...b", "a...b"), ("a..", "a..HEAD"), ("...b", "HEAD...b")] {
        assert_eq!(text.parse::<DiffRange>().unwrap().to_string(), full);
    }
}

#[test]
fn both_sides_are_read_through_one_process() {
    let world = World::new();
    world.write("a.cu", b"one\ntwo\n");
    world.write("in/empty", b"");
    let old = world.commit();
    world.write("a.cu", b"one\r\n2\0\n");
    world.write(
        "huge",
        &vec![b'x'; usize::try_from(MAX_BLOB_BYTES).unwrap() + 1],
    );
    world.write(
        "most",
        &vec![b'x'; usize::try_from(MAX_BLOB_BYTES).unwrap()],
    );
    world.commit();
    let repo = world.repo();
    let mut blobs = Blobs::open(&repo).unwrap();
    let files = world.files("HEAD~1..HEAD");
    let [a, huge, most] = files.as_slice() else {
        panic!("{files:?}")
    };
    let old = repo.resolve(&old).unwrap();
    let mut text =
        |side: &Option<kernrec_git::Entry>| blobs.read(&side.as_ref().unwrap().id).unwrap();
    assert_eq!(text(&a.old).unwrap(), b"one\ntwo\n");
    assert_eq!(text(&huge.new), None);
    assert_eq!(text(&a.new).unwrap(), b"one\r\n2\0\n");
    assert_eq!(
        text(&most.new).map(|text| text.len() as u64),
        Some(MAX_BLOB_BYTES)
    );
    let mut at = |path| blobs.at(&old, path).unwrap();
    assert_eq!(at("a.cu").as_deref(), Some(b"one\ntwo\n".as_slice()));
    for nothing in [
        "absent",
        "in",
        "./a.cu",
        "in/../a.cu",
        "/a.cu",
        "",
        "a.cu\nin/empty",
    ] {
        assert_eq!(at(nothing), None, "{nothing:?}");
    }
    assert_eq!(at("in/empty"), Some(Vec::new()));
}

#[test]
fn a_repository_that_is_none_answers_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new();
    world.write("a", b"1");
    world.commit();
    let head = world.repo().resolve("HEAD").unwrap();
    let mut blobs = Blobs::open(&Repo::new(dir.path())).unwrap();
    assert_eq!(blobs.at(&head, "a").unwrap_err().reason(), "git-failed");
}

#[test]
fn changed_lines_are_told_apart() {
    let changed = |old: &str, new: &str| kernrec_git::changed_lines(old.as_bytes(), new.as_bytes());
    assert_eq!(changed("a\nb\n", "a\nb\n"), []);
    let hunk = |old, new| Hunk { old, new };
    assert_eq!(changed("a\nb\nc\n", "a\nc\n"), [hunk(1..2, 1..1)]);
    assert_eq!(changed("a\nc\n", "a\nb\nc\n"), [hunk(1..1, 1..2)]);
    assert_eq!(changed("a\nb\n", "a\r\nb"), [hunk(0..2, 0..2)]);
    assert_eq!(changed("", "a\n"), [hunk(0..0, 0..1)]);
}

proptest! {
    /// Put the new lines in the place of the old ones, and the new text is there.
    #[test]
    fn the_hunks_lead_from_one_text_to_the_other(old in "([abc]\n?){0,12}", new in "([abc]\n?){0,12}") {
        fn lines(text: &str) -> Vec<&str> {
            text.split_inclusive('\n').collect()
        }
        let (old_lines, new_lines) = (lines(&old), lines(&new));
        let mut built: Vec<&str> = Vec::new();
        let mut at = 0;
        for hunk in kernrec_git::changed_lines(old.as_bytes(), new.as_bytes()) {
            built.extend(&old_lines[at..hunk.old.start as usize]);
            built.extend(&new_lines[hunk.new.start as usize..hunk.new.end as usize]);
            at = hunk.old.end as usize;
        }
        built.extend(&old_lines[at..]);
        prop_assert_eq!(built, new_lines);
    }
}
