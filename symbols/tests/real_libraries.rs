//! Shared libraries as their projects published them, of several CUDA and ROCm releases.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod toolchain;

use kernrec_schemas::Backend;
use kernrec_symbols::{DeviceCode, read_object};
use std::path::PathBuf;
use toolchain::cuobjdump_kernels;

fn library(release: &str) -> PathBuf {
    toolchain::compilers_folder("libraries/bitsandbytes")
        .join(format!("libbitsandbytes_{release}.so"))
}

fn rocm(release: &str) -> DeviceCode {
    read_object(&library(release), Backend::Rocm).unwrap()
}

#[test]
fn cuda_11_8_to_13_2_as_cuobjdump_says() {
    for release in ["118", "126", "130", "132"] {
        let path = library(&format!("cuda{release}"));
        let code = read_object(&path, Backend::Cuda).unwrap();
        let expected = cuobjdump_kernels(&path);
        assert!(expected.len() > 100, "CUDA {release}: {}", expected.len());
        assert_eq!(code.symbols, expected, "CUDA {release}");
    }
}

#[test]
fn rocm_6_4_to_7_2_hold_the_same_sources() {
    let first = rocm("rocm64");
    assert_eq!(first.symbols.len(), 175);
    assert_eq!(first.offload_targets.len(), 14);
    assert!(
        first
            .symbols
            .iter()
            .any(|name| name.contains("kQuantizeBlockwise"))
    );
    for release in ["rocm70", "rocm72"] {
        assert_eq!(rocm(release).symbols, first.symbols, "{release}");
    }
}

#[test]
fn a_library_without_device_code_has_none() {
    for backend in Backend::ALL {
        assert_eq!(
            read_object(&library("cpu"), backend).unwrap(),
            DeviceCode::default()
        );
    }
}
