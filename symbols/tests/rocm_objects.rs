//! Kernels of objects that clang makes for HIP, against llvm-readelf.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod toolchain;

use kernrec_schemas::Backend;
use kernrec_symbols::{DeviceCode, ObjectError, read_object};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use toolchain::{compile_hip, readelf_kernels, run, source, tool};

const GFX942: &str = "--offload-arch=gfx942";
const GFX90A: &str = "--offload-arch=gfx90a:sramecc+:xnack-";

struct Built {
    folder: TempDir,
    object: PathBuf,
}

impl Built {
    /// Replaces the object's bundles.
    fn with_bundles(&self, bundles: &[u8]) -> PathBuf {
        let content = self.folder.path().join("bundles");
        fs_err::write(&content, bundles).unwrap();
        let object = self.folder.path().join("replaced.o");
        let section = format!("--update-section=.hip_fatbin={}", content.display());
        run(tool("objcopy").arg(section).arg(&self.object).arg(&object));
        object
    }

    fn bundles(&self) -> Vec<u8> {
        let content = self.folder.path().join("dumped");
        let dump = format!("--dump-section=.hip_fatbin={}", content.display());
        run(tool("objcopy")
            .arg(dump)
            .arg(&self.object)
            .arg(self.folder.path().join("copy.o")));
        fs_err::read(content).unwrap()
    }
}

fn build(name: &str, flags: &[&str]) -> Built {
    let folder = TempDir::new().unwrap();
    let object = folder.path().join("object.o");
    compile_hip(&source(&format!("hip/{name}")), &object, flags);
    Built { folder, object }
}

fn read(object: &Path) -> Result<DeviceCode, ObjectError> {
    read_object(object, Backend::Rocm)
}

fn reason(object: &Path) -> &'static str {
    let error = read(object).unwrap_err();
    assert!(
        error.to_string().contains(&object.display().to_string()),
        "{error}"
    );
    error.reason()
}

/// A compressed bundle of any version and method.
fn compressed(content: &[u8], version: u16, method: u16) -> Vec<u8> {
    use md5::{Digest, Md5};
    let payload = match method {
        0 => {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        _ => zstd::bulk::compress(content, 3).unwrap(),
    };
    let mut out = b"CCOB".to_vec();
    out.extend(version.to_le_bytes());
    out.extend(method.to_le_bytes());
    let (whole, size) = (payload.len() as u64, content.len() as u64);
    match version {
        1 => out.extend(u32::try_from(size).unwrap().to_le_bytes()),
        2 => {
            out.extend(u32::try_from(whole + 24).unwrap().to_le_bytes());
            out.extend(u32::try_from(size).unwrap().to_le_bytes());
        }
        _ => {
            out.extend((whole + 32).to_le_bytes());
            out.extend(size.to_le_bytes());
        }
    }
    out.extend(&Md5::digest(content)[..8]);
    out.extend(payload);
    out
}

#[test]
fn every_kind_of_kernel_for_several_targets() {
    let built = build("mixed.hip", &[GFX942, GFX90A, "--offload-arch=gfx1100"]);
    let code = read(&built.object).unwrap();
    let expected = readelf_kernels(&built.object, built.folder.path());
    assert_eq!(expected.len(), 6, "{expected:?}");
    assert_eq!(code.symbols, expected);
    let targets = ["gfx1100", "gfx90a:sramecc+:xnack-", "gfx942"]
        .map(|target| format!("hipv4-amdgcn-amd-amdhsa--{target}"));
    assert_eq!(code.offload_targets, BTreeSet::from(targets));
}

#[test]
fn device_code_without_kernels_is_device_code() {
    let built = build("device_only.hip", &[GFX942]);
    let code = read(&built.object).unwrap();
    assert_eq!(code.symbols, BTreeSet::new());
    assert!(code.device);
}

#[test]
fn host_code_is_not() {
    let built = build("host_only.hip", &[GFX942]);
    assert_eq!(read(&built.object).unwrap(), DeviceCode::default());
}

#[test]
fn nothing_at_all_has_no_kernels() {
    let built = build("empty.hip", &[GFX942]);
    assert_eq!(read(&built.object).unwrap(), DeviceCode::default());
}

#[test]
fn debug_information_and_optimisation_change_no_name() {
    let plain = read(&build("mixed.hip", &[GFX942]).object).unwrap();
    for flags in [
        &[GFX942, "-g"][..],
        &[GFX942, "-g", "-O0"],
        &[GFX942, "-O3"],
    ] {
        let built = build("mixed.hip", flags);
        let code = read(&built.object).unwrap();
        let expected = readelf_kernels(&built.object, built.folder.path());
        assert_eq!(code.symbols, expected, "{flags:?}");
        assert_eq!(code, plain, "{flags:?}");
    }
}

#[test]
fn very_long_names() {
    let folder = TempDir::new().unwrap();
    let from = folder.path().join("long.hip");
    let long = "k".repeat(30_000);
    let include = source("hip/mini_hip.h");
    let text = format!(
        "#include \"{}\"\nextern \"C\" __global__ void {long}(int *p) {{ *p = 1; }}\n",
        include.display()
    );
    fs_err::write(&from, text).unwrap();
    let object = folder.path().join("long.o");
    compile_hip(&from, &object, &[GFX942]);
    assert_eq!(read(&object).unwrap().symbols, BTreeSet::from([long]));
}

#[test]
fn bundles_compressed_by_clang() {
    let built = build("mixed.hip", &[GFX942, GFX90A, "--offload-compress"]);
    assert!(built.bundles().starts_with(b"CCOB"));
    assert_eq!(read(&built.object).unwrap().symbols.len(), 6);
}

#[test]
fn every_version_and_method_of_compression_several_bundles_to_a_section() {
    let built = build("mixed.hip", &[GFX942]);
    let plain = built.bundles();
    let expected = read(&built.object).unwrap();
    for version in 1..=3 {
        for method in 0..=1 {
            let mut section = compressed(&plain, version, method);
            section.resize(section.len().next_multiple_of(4096), 0);
            section.extend(&plain);
            section.resize(section.len().next_multiple_of(4096), 0);
            section.extend(compressed(&plain, version, method));
            let object = built.with_bundles(&section);
            assert_eq!(
                read(&object).unwrap(),
                expected,
                "version {version}, method {method}"
            );
        }
    }
}

#[test]
fn damaged_compressed_bundles_are_refused() {
    let built = build("mixed.hip", &[GFX942]);
    let good = compressed(&built.bundles(), 3, 1);
    let damaged = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        reason(&built.with_bundles(&bytes))
    };
    assert_eq!(damaged(4, 4), "unsupported");
    assert_eq!(damaged(6, 2), "unsupported");
    assert_eq!(damaged(14, 1), "malformed");
    assert_eq!(damaged(21, 0xff), "too-large");
    assert_eq!(damaged(16, good[16] ^ 1), "bad-compression");
    assert_eq!(damaged(24, good[24] ^ 1), "bad-compression");
}

#[test]
fn relocatable_device_code_is_refused() {
    for flags in [
        &[GFX942, "-fgpu-rdc"][..],
        &[GFX942, "-fgpu-rdc", "--offload-new-driver"],
    ] {
        let built = build("mixed.hip", flags);
        assert_eq!(
            reason(&built.object),
            "relocatable-device-code",
            "{flags:?}"
        );
    }
}

#[test]
fn bitcode_is_refused() {
    let built = build("mixed.hip", &[GFX942]);
    let bitcode = built.folder.path().join("code.bc");
    compile_hip(
        &source("hip/mixed.hip"),
        &bitcode,
        &[GFX942, "--cuda-device-only", "-emit-llvm"],
    );
    let bundle = bundle_of(&built, &bitcode, "gfx942");
    assert_eq!(reason(&built.with_bundles(&bundle)), "bitcode");
}

#[test]
fn a_code_object_of_another_target_is_refused() {
    let built = build("mixed.hip", &[GFX942]);
    let code = built.folder.path().join("code.elf");
    compile_hip(
        &source("hip/mixed.hip"),
        &code,
        &[GFX942, "--cuda-device-only", "--no-gpu-bundle-output"],
    );
    let bundle = bundle_of(&built, &code, "gfx942");
    assert_eq!(read(&built.with_bundles(&bundle)).unwrap().symbols.len(), 6);
    let bundle = bundle_of(&built, &code, "gfx90a");
    assert_eq!(reason(&built.with_bundles(&bundle)), "target-mismatch");
}

#[test]
fn a_descriptor_that_the_metadata_does_not_list_is_refused() {
    let built = build("mixed.hip", &[GFX942]);
    let mut bytes = built.bundles();
    let places: Vec<usize> = bytes
        .windows(14)
        .enumerate()
        .filter(|(_, window)| window == b"plain_name.kd\0")
        .map(|(at, _)| at)
        .collect();
    for at in places {
        bytes[at] = b'q';
    }
    assert_eq!(reason(&built.with_bundles(&bytes)), "descriptor-mismatch");
}

#[test]
fn an_object_of_the_other_backend_is_refused() {
    let built = build("mixed.hip", &[GFX942]);
    assert_eq!(
        read_object(&built.object, Backend::Cuda)
            .unwrap_err()
            .reason(),
        "unsupported"
    );
}

/// A bundle with the host's empty entry and `code`.
fn bundle_of(built: &Built, code: &Path, target: &str) -> Vec<u8> {
    let bundle = built.folder.path().join("bundle");
    run(tool("clang-offload-bundler-19")
        .args(["-type=o", "-bundle-align=4096", "-input=/dev/null"])
        .arg(format!(
            "-targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--{target}"
        ))
        .arg(format!("-input={}", code.display()))
        .arg(format!("-output={}", bundle.display())));
    fs_err::read(bundle).unwrap()
}
