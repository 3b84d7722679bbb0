//! Kernels of objects that nvcc 12.4 made, against `cuobjdump`; see `tests/objects/README.md`.

mod toolchain;

use kernrec_schemas::Backend;
use kernrec_symbols::read_object;
use std::path::{Path, PathBuf};
use toolchain::{cuobjdump_kernels, cuobjdump_ptx_kernels};

fn object(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/objects/cuda-12.4")
        .join(format!("{name}.o"))
}

#[test]
fn the_same_names_as_cuobjdump() {
    for (name, kernels) in [
        ("templates", 3),
        ("namespaces", 3),
        ("internal", 2),
        ("extern_c", 2),
        ("header_user", 1),
        ("device_only", 0),
        ("host_only", 0),
        ("empty", 0),
        ("several-architectures", 7),
        ("relocatable", 6),
        ("not-compressed", 6),
        ("ptx-only", 7),
        ("debug", 6),
        ("lto-beside-ptx", 6),
    ] {
        let object = object(name);
        let mut expected = cuobjdump_kernels(&object);
        expected.extend(cuobjdump_ptx_kernels(&object));
        assert_eq!(expected.len(), kernels, "{name}: {expected:?}");
        let code = read_object(&object, Backend::Cuda).unwrap();
        assert_eq!(code.symbols, expected, "{name}");
    }
}

#[test]
fn lto_alone_is_an_error() {
    let error = read_object(&object("lto-only"), Backend::Cuda).unwrap_err();
    assert_eq!(error.reason(), "lto-only");
}
