//! Kernels of objects that nvcc makes, against `cuobjdump`.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod toolchain;

use kernrec_schemas::Backend;
use kernrec_symbols::{DeviceCode, DeviceLinks, ObjectError, read_object};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use toolchain::{compile_cuda, cuobjdump_kernels, cuobjdump_ptx_kernels, source};

const SM_80: &str = "-arch=sm_80";

struct Built {
    _folder: TempDir,
    object: PathBuf,
}

fn build(name: &str, flags: &[&str]) -> Built {
    let folder = TempDir::new().unwrap();
    let object = folder.path().join("object.o");
    compile_cuda(&source(&format!("cuda/{name}")), &object, flags);
    Built {
        _folder: folder,
        object,
    }
}

fn read(object: &Path) -> Result<DeviceCode, ObjectError> {
    read_object(object, Backend::Cuda)
}

/// Same names as the vendor's tool says, and at least `least` of them.
fn same_as_cuobjdump(name: &str, flags: &[&str], least: usize) -> BTreeSet<String> {
    let built = build(name, flags);
    let code = read(&built.object).unwrap();
    let mut expected = cuobjdump_kernels(&built.object);
    expected.extend(cuobjdump_ptx_kernels(&built.object));
    assert!(expected.len() >= least, "the oracle lists {expected:?}");
    assert_eq!(code.symbols, expected);
    assert!(code.device);
    code.symbols
}

#[test]
fn templates() {
    same_as_cuobjdump("templates.cu", &[SM_80], 3);
}

#[test]
fn namespaces() {
    let names = same_as_cuobjdump("namespaces.cu", &[SM_80], 3);
    assert!(names.contains("_ZN5outer5inner6nestedEPi"), "{names:?}");
}

#[test]
fn internal_linkage() {
    let names = same_as_cuobjdump("internal.cu", &[SM_80], 2);
    assert!(
        names.iter().any(|name| name.contains("_GLOBAL__N_")),
        "{names:?}"
    );
    assert!(names.contains("_Z5localPi"), "{names:?}");
}

#[test]
fn extern_c() {
    let names = same_as_cuobjdump("extern_c.cu", &[SM_80], 2);
    assert!(names.contains("$dollar_name"), "{names:?}");
}

#[test]
fn a_kernel_that_only_a_header_holds() {
    same_as_cuobjdump("header_user.cu", &[SM_80], 1);
}

#[test]
fn device_code_without_kernels_is_device_code() {
    let names = same_as_cuobjdump("device_only.cu", &[SM_80], 0);
    assert_eq!(names, BTreeSet::new());
}

#[test]
fn host_only_and_empty_sources_have_no_kernels() {
    assert_eq!(
        same_as_cuobjdump("host_only.cu", &[SM_80], 0),
        BTreeSet::new()
    );
    assert_eq!(same_as_cuobjdump("empty.cu", &[SM_80], 0), BTreeSet::new());
}

#[test]
fn several_architectures_are_united() {
    let arch = |code: &str| format!("-gencode=arch=compute_{code},code=sm_{code}");
    let flags: Vec<String> = ["80", "90", "100a", "120"].map(arch).into();
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.push("-gencode=arch=compute_120,code=compute_120");
    let names = same_as_cuobjdump("mixed.cu", &flags, 7);
    assert!(names.contains("_Z15only_from_sm_90Pi"), "{names:?}");
}

#[test]
fn relocatable_device_code_has_the_names_that_the_runtime_reports() {
    // Seen on an H200 with CUPTI: static kernels keep their `__nv_static_` prefix when launched.
    let names = same_as_cuobjdump("mixed.cu", &[SM_80, "-rdc=true"], 6);
    assert!(
        names.iter().any(|name| name.starts_with("__nv_static_")),
        "{names:?}"
    );
}

#[test]
fn every_compression_mode_gives_the_same_names() {
    let modes = ["none", "speed", "size", "balance"];
    let all: Vec<BTreeSet<String>> = modes
        .iter()
        .map(|mode| {
            // Relocatable code is what nvcc compresses whole: LZ4 for speed, zstd otherwise.
            let flags = [SM_80, "-rdc=true", &format!("--compress-mode={mode}")];
            same_as_cuobjdump("mixed.cu", &flags, 6)
        })
        .collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
}

#[test]
fn ptx_only() {
    let built = build("mixed.cu", &["-gencode=arch=compute_90,code=compute_90"]);
    assert_eq!(cuobjdump_kernels(&built.object), BTreeSet::new());
    let code = read(&built.object).unwrap();
    let expected = cuobjdump_ptx_kernels(&built.object);
    assert!(expected.len() >= 7, "{expected:?}");
    assert_eq!(code.symbols, expected);
}

#[test]
fn debug_information() {
    same_as_cuobjdump("mixed.cu", &[SM_80, "-G", "-g"], 6);
}

#[test]
fn lto_beside_ptx_is_read_from_the_ptx() {
    let built = build("mixed.cu", &[SM_80, "-dlto"]);
    let code = read(&built.object).unwrap();
    assert_eq!(code.symbols.len(), 6, "{:?}", code.symbols);
}

#[test]
fn lto_alone_is_an_error() {
    let built = build(
        "mixed.cu",
        &["-rdc=true", "-gencode=arch=compute_80,code=lto_80"],
    );
    let error = read(&built.object).unwrap_err();
    assert_eq!(error.reason(), "lto-only");
    assert!(
        error
            .to_string()
            .contains(&built.object.display().to_string()),
        "{error}"
    );
}

#[test]
fn very_long_names() {
    let folder = TempDir::new().unwrap();
    let from = folder.path().join("long.cu");
    let long = "k".repeat(30_000);
    fs_err::write(
        &from,
        format!("extern \"C\" __global__ void {long}(int *p) {{ *p = 1; }}\n"),
    )
    .unwrap();
    let object = folder.path().join("long.o");
    compile_cuda(&from, &object, &[SM_80]);
    assert_eq!(read(&object).unwrap().symbols, BTreeSet::from([long]));
}

#[test]
fn an_object_of_the_other_backend_is_refused() {
    let built = build("templates.cu", &[SM_80]);
    let error = read_object(&built.object, Backend::Rocm).unwrap_err();
    assert_eq!(error.reason(), "unsupported");
}

#[test]
fn archives_and_libraries_are_read_whole() {
    let folder = TempDir::new().unwrap();
    let parts = ["templates", "extern_c"].map(|name| {
        let object = folder.path().join(format!("{name}.o"));
        compile_cuda(
            &source(&format!("cuda/{name}.cu")),
            &object,
            &[SM_80, "-Xcompiler=-fPIC"],
        );
        object
    });
    let archive = folder.path().join("both.a");
    toolchain::run(toolchain::tool("ar").arg("rcs").arg(&archive).args(&parts));
    let library = folder.path().join("both.so");
    toolchain::run(
        toolchain::tool("gcc")
            .args(["-shared", "-Wl,--unresolved-symbols=ignore-all", "-o"])
            .arg(&library)
            .args(&parts),
    );
    let mut expected = cuobjdump_kernels(&parts[0]);
    expected.extend(cuobjdump_kernels(&parts[1]));
    assert_eq!(read(&archive).unwrap().symbols, expected);
    assert_eq!(read(&library).unwrap().symbols, expected);
}

#[test]
fn cuda_12_assembler() {
    let folder = TempDir::new().unwrap();
    let ptx = folder.path().join("mixed.ptx");
    toolchain::run(
        std::process::Command::new(toolchain::nvcc())
            .args(["--ptx", "-arch=compute_80", "-o"])
            .arg(&ptx)
            .arg(source("cuda/mixed.cu")),
    );
    // The PTX of a newer front end, stated in the version that the 12.8 assembler accepts.
    let text = fs_err::read_to_string(&ptx)
        .unwrap()
        .replace(".version 9.0", ".version 8.7");
    fs_err::write(&ptx, text).unwrap();
    let cubin = folder.path().join("mixed.cubin");
    let ptxas = toolchain::compilers_folder("cuda-12.8/nvidia/cuda_nvcc/bin/ptxas");
    toolchain::run(
        std::process::Command::new(ptxas)
            .args(["-arch=sm_80", "-o"])
            .arg(&cubin)
            .arg(&ptx),
    );
    let object = wrap_cubin(folder.path(), &cubin);
    let code = read(&object).unwrap();
    assert_eq!(code.symbols, cuobjdump_kernels(&object));
    assert_eq!(code.symbols.len(), 6);
}

/// A host object with a fat binary of one cubin.
fn wrap_cubin(folder: &Path, cubin: &Path) -> PathBuf {
    let fatbin = folder.join("one.fatbin");
    let tool = toolchain::compilers_folder("cuda-13.0/nvidia/cu13/bin/fatbinary");
    let image = format!("--image3=kind=elf,sm=80,file={}", cubin.display());
    toolchain::run(
        std::process::Command::new(tool)
            .arg("-64")
            .arg(format!("--create={}", fatbin.display()))
            .arg(image),
    );
    let host = folder.join("host.c");
    fs_err::write(&host, "int host;\n").unwrap();
    let object = folder.join("host.o");
    toolchain::run(
        toolchain::tool("gcc")
            .arg("-c")
            .arg(&host)
            .arg("-o")
            .arg(&object),
    );
    let section = format!("--add-section=.nv_fatbin={}", fatbin.display());
    toolchain::run(toolchain::tool("objcopy").arg(section).arg(&object));
    object
}

#[test]
fn relocatable_code_says_what_it_takes_from_other_objects() {
    let folder = TempDir::new().unwrap();
    let from = folder.path().join("a.cu");
    fs_err::write(
        &from,
        "extern __device__ int counter;\n__device__ int helper(int);\n__global__ void child();\n\
         __device__ __noinline__ int shared(int x) { return helper(x) + counter; }\n\
         static __device__ int own = 1;\n\
         __global__ void k(int *p) { *p = shared(*p) + own++; if (*p == 7) child<<<1, 1>>>(); }\n",
    )
    .unwrap();
    let read = |flags: &[&str]| {
        let object = folder.path().join("a.o");
        compile_cuda(&from, &object, flags);
        read(&object).unwrap().links
    };
    let cubin = read(&["-arch=sm_90", "-rdc=true"]);
    let ptx = read(&["-gencode=arch=compute_90,code=compute_90", "-rdc=true"]);
    for (kind, links) in [("cubin", cubin), ("PTX", ptx)] {
        for name in ["counter", "_Z6helperi", "_Z5childv"] {
            assert!(links.needs.contains(name), "{kind}: {name}: {links:?}");
        }
        let offers = BTreeSet::from(["_Z6sharedi", "_Z1kPi"].map(str::to_owned));
        assert_eq!(links.offers, offers, "{kind}");
    }
    let whole = build("mixed.cu", &[SM_80]);
    assert_eq!(
        read_object(&whole.object, Backend::Cuda).unwrap().links,
        DeviceLinks::default()
    );
}
