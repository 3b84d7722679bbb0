use super::*;
use std::collections::BTreeMap;

/// A folder with an extension module beside the target.
fn prepared() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let extension = folder.path().join("extension");
    fs_err::write(&extension, "library").unwrap();
    let target = folder.path().join("target");
    (folder, extension, target)
}

#[test]
fn a_record_lists_what_was_written() {
    for layout in [Layout::SitePackages, Layout::Path] {
        let (_folder, extension, target) = prepared();
        write(&target, layout, &extension).unwrap();
        let record = target.join("kernrec_python-0.1.0.dist-info/RECORD");
        let record = fs_err::read_to_string(record).unwrap();
        let mut listed: Vec<_> = record
            .lines()
            .map(|line| target.join(line.trim_end_matches(',')))
            .collect();
        listed.sort();
        let mut written: Vec<_> = files(&target).into_keys().collect();
        written.retain(|path| !path.ends_with("sitecustomize.py"));
        assert_eq!(written, listed);
    }
}

#[test]
fn the_installation_has_the_version_of_this_crate() {
    let files = Layout::Path.files();
    let metadata = files.iter().find(|(path, _)| path.ends_with("/METADATA"));
    let version = concat!("Version: ", env!("CARGO_PKG_VERSION"), "\n");
    let (path, text) = metadata.unwrap();
    assert!(text.contains(version), "{text}");
    assert!(
        path.contains(concat!("-", env!("CARGO_PKG_VERSION"), ".")),
        "{path}"
    );
}

#[test]
fn writing_again_heals_what_differs_and_touches_nothing_else() {
    let (_folder, extension, target) = prepared();
    write(&target, Layout::SitePackages, &extension).unwrap();
    let before = files(&target);
    let damaged = target.join("_kernrec_python/_watch.py");
    fs_err::write(&damaged, "half").unwrap();
    write(&target, Layout::SitePackages, &extension).unwrap();
    let mut after = files(&target);
    assert_ne!(after[&damaged].0, before[&damaged].0, "a file of its own");
    assert_eq!(after[&damaged].1, before[&damaged].1);
    after.insert(damaged.clone(), before[&damaged].clone());
    assert_eq!(after, before);
}

#[test]
fn everyone_can_read_it_whatever_the_mask() {
    for (layout, folder_mode) in [(Layout::SitePackages, 0o755), (Layout::Path, 0o777)] {
        let (_folder, extension, target) = prepared();
        write(&target, layout, &extension).unwrap();
        for (path, (_, _, mode)) in files(&target) {
            let expected = if path.ends_with(EXTENSION) {
                0o755
            } else {
                0o644
            };
            assert_eq!(mode, expected, "{}", path.display());
        }
        for entry in fs_err::read_dir(&target).unwrap() {
            let meta = fs_err::metadata(entry.unwrap().path()).unwrap();
            let mode = meta.permissions().mode() & 0o777;
            assert!(meta.is_file() || mode == folder_mode, "{mode:o}");
        }
    }
}

#[test]
fn removing_takes_what_was_written_and_nothing_else() {
    let (_folder, extension, target) = prepared();
    let others = [
        "sitecustomize.py",
        "vllm/__init__.py",
        "kernrec-1.0.dist-info/RECORD",
    ];
    for other in others {
        let path = target.join(other);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, "theirs").unwrap();
    }
    let before = files(&target);
    write(&target, Layout::SitePackages, &extension).unwrap();
    fs_err::create_dir(target.join("_kernrec_python/__pycache__")).unwrap();
    // Of another version.
    fs_err::create_dir(target.join("kernrec_python-0.0.1.dist-info")).unwrap();
    assert!(remove(&target, Layout::SitePackages).unwrap());
    assert_eq!(files(&target), before);
    assert!(!target.join("_kernrec_python").exists());
    assert!(!target.join("kernrec_python-0.0.1.dist-info").exists());
    assert!(!remove(&target, Layout::SitePackages).unwrap());
    assert!(!remove(&target.join("absent"), Layout::Path).unwrap());
}

#[test]
fn what_stands_in_the_way_is_named() {
    let (folder, extension, target) = prepared();
    fs_err::write(&target, "a file").unwrap();
    let error = write(&target, Layout::Path, &extension).unwrap_err();
    assert!(
        error.to_string().contains("target/_kernrec_python"),
        "{error}"
    );
    let absent = folder.path().join("absent");
    let error = write(&folder.path().join("other"), Layout::Path, &absent).unwrap_err();
    assert!(error.to_string().contains("absent"), "{error}");
    assert!(!folder.path().join("other").exists());
}

/// Inode, content and mode of every file below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u64, Vec<u8>, u32)> {
    let mut found = BTreeMap::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            use std::os::unix::fs::MetadataExt as _;
            let meta = fs_err::metadata(&path).unwrap();
            let content = fs_err::read(&path).unwrap();
            found.insert(path, (meta.ino(), content, meta.mode() & 0o777));
        }
    }
    found
}
