//! The choice of CUPTI, and the lending of buffers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::thread;

use crate::buffers::{BUFFER_BYTES, Buffers};
use crate::locate::{Mapped, candidates};

fn touch(path: &Path) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, "").unwrap();
}

#[test]
fn an_explicit_path_comes_first() {
    let explicit = Path::new("/opt/mine/libcupti.so.12");
    let found = candidates(&Mapped::default(), Some(explicit));
    assert_eq!(found.first().map(PathBuf::as_path), Some(explicit));
}

#[test]
fn the_wheel_beside_the_runtime_is_preferred() {
    let root = tempfile::tempdir().unwrap();
    let runtime = root.path().join("nvidia/cu13/lib/libcudart.so.13");
    let cupti = root.path().join("nvidia/cu13/lib/libcupti.so.13");
    touch(&runtime);
    touch(&cupti);
    let mapped = Mapped {
        cudart: Some(runtime),
        ..Mapped::default()
    };
    assert_eq!(candidates(&mapped, None).first(), Some(&cupti));
}

#[test]
fn the_cuda_12_wheel_is_found_in_its_own_folder() {
    let root = tempfile::tempdir().unwrap();
    let runtime = root.path().join("nvidia/cuda_runtime/lib/libcudart.so.12");
    touch(&runtime);
    touch(&root.path().join("nvidia/cuda_cupti/lib/libcupti.so.12"));
    let mapped = Mapped {
        cudart: Some(runtime),
        ..Mapped::default()
    };
    let found = candidates(&mapped, None);
    assert!(
        found[0].ends_with("cuda_cupti/lib/libcupti.so.12"),
        "{found:?}"
    );
}

#[test]
fn an_old_driver_gets_cuda_12_and_a_new_one_13() {
    for (release, wanted) in [("575.51.03", "libcupti.so.12"), ("580.1", "libcupti.so.13")] {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().join(format!("libcuda.so.{release}"));
        touch(&real);
        let link = root.path().join("libcuda.so.1");
        fs_err::os::unix::fs::symlink(&real, &link).unwrap();
        let mapped = Mapped {
            driver: Some(link),
            ..Mapped::default()
        };
        assert_eq!(
            candidates(&mapped, None).last(),
            Some(&PathBuf::from(wanted))
        );
    }
}

#[test]
fn a_buffer_is_lent_to_one_thread_at_a_time() {
    static BUFFERS: Buffers = Buffers::new();
    let lent: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| BUFFERS.lend().unwrap().as_ptr().addr()))
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(lent.iter().collect::<HashSet<_>>().len(), 16);
    assert_eq!(BUFFERS.outstanding(), 16);
}

#[test]
fn a_buffer_comes_back_once_and_is_lent_again() {
    let buffers = Box::new(Buffers::new());
    let first = buffers.lend().unwrap();
    assert!(buffers.take_back(first.as_ptr()));
    assert!(!buffers.take_back(first.as_ptr()));
    assert_eq!(buffers.outstanding(), 0);
    assert_eq!(buffers.lend(), Some(first));
}

#[test]
fn a_strange_buffer_is_left_alone() {
    let buffers = Box::new(Buffers::new());
    let mut strange = vec![7_u8; BUFFER_BYTES];
    assert!(!buffers.take_back(strange.as_mut_ptr()));
    assert_eq!(strange[0], 7);
}
