//! What people read when a file operation fails.

use kernrec_store::artifact;
use kernrec_store::fsio::FsError;
use std::path::Path;

#[test]
fn a_failed_open_names_the_path_once_and_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absent");
    let error = artifact::read(&path, 10).unwrap_err().to_string();
    let path = path.display();
    assert_eq!(
        error,
        format!("open `{path}`: No such file or directory (os error 2)")
    );
}

#[test]
fn a_failed_read_names_the_path_once_and_the_cause() {
    // Opens for everybody and reads for nobody: address 0 of a process is not mapped.
    let path = Path::new("/proc/self/mem");
    let error = artifact::read(path, 10).unwrap_err().to_string();
    assert!(error.contains("Input/output error"), "{error}");
    assert_eq!(error.matches("/proc/self/mem").count(), 1, "{error}");
}

#[test]
fn an_error_of_another_kind_is_kept_as_it_is() {
    let own = std::io::Error::other("no system call failed");
    let error = FsError::new("write", Path::new("a"), own).to_string();
    assert_eq!(error, "write `a`: no system call failed");
}
