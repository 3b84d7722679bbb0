//! Locks on files that may go, files of a staging folder, links.

use kernrec_store::fsio::{self, Lock, LockError, StagedFile};
use std::io::{self, Write};
use std::time::Duration;

const NOW: Duration = Duration::ZERO;

#[test]
fn a_shared_lock_on_an_existing_file_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone/lock");
    let error = Lock::shared_existing(&path, NOW).unwrap_err();
    assert!(matches!(error, LockError::Open(_)), "{error}");
    assert!(!folder.path().join("gone").exists());
    assert!(Lock::try_exclusive_existing(&path).is_err());
    assert!(!folder.path().join("gone").exists());
}

#[test]
fn readers_share_and_keep_out_whoever_wants_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    fsio::write_atomic(&path, b"").unwrap();
    let first = Lock::shared_existing(&path, NOW).unwrap();
    let second = Lock::shared_existing(&path, NOW).unwrap();
    assert!(Lock::try_exclusive_existing(&path).unwrap().is_none());
    drop((first, second));
    let alone = Lock::try_exclusive_existing(&path).unwrap().unwrap();
    let error = Lock::shared_existing(&path, NOW).unwrap_err();
    assert!(matches!(error, LockError::TimedOut { .. }), "{error}");
    drop(alone);
    Lock::shared_existing(&path, NOW).unwrap();
}

#[test]
fn a_lock_knows_when_its_file_moved_or_was_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    fsio::write_atomic(&path, b"").unwrap();
    let lock = Lock::shared_existing(&path, NOW).unwrap();
    assert!(lock.is_at(&path));
    fsio::rename(&path, &folder.path().join("moved")).unwrap();
    assert!(!lock.is_at(&path));
    fsio::write_atomic(&path, b"").unwrap();
    assert!(!lock.is_at(&path));
}

#[test]
fn a_staged_file_never_replaces_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut file = StagedFile::create(&path).unwrap();
    file.write_all(b"content").unwrap();
    assert_eq!(file.finish().unwrap().len(), 7);
    let error = StagedFile::create(&path).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs_err::read(&path).unwrap(), b"content");
}

#[test]
fn a_link_is_replaced_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let (scratch, link) = (folder.path().join("scratch"), folder.path().join("link"));
    fsio::create_dir_all(&scratch).unwrap();
    for target in ["one", "two"] {
        fsio::replace_symlink_through(&scratch, &link, target.as_ref()).unwrap();
        assert_eq!(
            fs_err::read_link(&link).unwrap(),
            std::path::Path::new(target)
        );
    }
    assert_eq!(fs_err::read_dir(&scratch).unwrap().count(), 0);
    let file = folder.path().join("file");
    fsio::write_atomic(&file, b"mine").unwrap();
    assert!(fsio::replace_symlink_through(&scratch, &file, "x".as_ref()).is_err());
    assert_eq!(fs_err::read(&file).unwrap(), b"mine");
}

#[test]
fn what_is_no_file_is_never_replaced_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let link = folder.path().join("stdout");
    std::os::unix::fs::symlink(&fifo, &link).unwrap();
    for path in [&fifo, &link] {
        let error = fsio::write_atomic(path, b"text").unwrap_err();
        assert!(
            error.to_string().contains("it is not a regular file"),
            "{error}"
        );
    }
    let is_fifo =
        |meta: std::fs::Metadata| std::os::unix::fs::FileTypeExt::is_fifo(&meta.file_type());
    assert!(is_fifo(fs_err::symlink_metadata(&fifo).unwrap()));
    assert!(fs_err::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 2);
    // A file of this name, a link to one and a link to nothing are replaced as ever.
    let file = folder.path().join("file");
    let named = folder.path().join("named");
    let nowhere = folder.path().join("nowhere");
    fsio::write_atomic(&file, b"old").unwrap();
    std::os::unix::fs::symlink(&file, &named).unwrap();
    std::os::unix::fs::symlink("gone", &nowhere).unwrap();
    for path in [&file, &named, &nowhere] {
        fsio::write_atomic(path, b"new").unwrap();
        assert_eq!(fs_err::read(path).unwrap(), b"new");
    }
}

/// Two collections share the folder above their own, and each removes it once, when it is empty.
#[test]
fn a_folder_whose_parent_goes_away_meanwhile_is_made_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("scratch");
    std::thread::scope(|scope| {
        // Sent when the removal before is done: one for each folder that is made.
        let (removals, wanted) = std::sync::mpsc::sync_channel::<()>(0);
        let shared = &shared;
        scope.spawn(move || {
            while let Ok(()) = wanted.recv() {
                while fs_err::remove_dir(shared).is_err() {
                    std::hint::spin_loop();
                }
            }
        });
        for number in 0..1000 {
            let own = shared.join(number.to_string());
            removals.send(()).unwrap();
            let made = fsio::create_dir_all(&own);
            let is_there = own.is_dir();
            // Whatever was seen, the removal comes to its end.
            let _ = fs_err::remove_dir(&own);
            let _ = fs_err::create_dir(shared);
            assert!(made.is_ok() && is_there, "{number}: {made:?}");
        }
    });
}
