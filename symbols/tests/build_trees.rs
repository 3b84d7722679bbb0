//! Whole builds by real build systems, mapped.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod project;
mod toolchain;

use kernrec_schemas::Backend;
use project::{Project, object, symbols};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use toolchain::{nvcc, run, tool};

const CMAKE: &str = "
cmake_minimum_required(VERSION 3.22)
project(sample LANGUAGES CXX CUDA)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/gen/generated.cu
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/csrc/generated.cu.in ${CMAKE_BINARY_DIR}/gen/generated.cu
  DEPENDS csrc/generated.cu.in)
add_library(kernels STATIC csrc/scale.cu csrc/host.cpp ${CMAKE_BINARY_DIR}/gen/generated.cu)
add_library(never_built STATIC EXCLUDE_FROM_ALL csrc/unused.cpp)
target_include_directories(kernels PRIVATE csrc)
";

fn sample(project: &Project) {
    project.write("CMakeLists.txt", CMAKE);
    project.write(
        "csrc/common.cuh",
        "__device__ inline float factor() { return 2; }\n",
    );
    project.write(
        "csrc/scale.cu",
        "#include \"common.cuh\"\n__global__ void scale(float *p) { *p *= factor(); }\n",
    );
    project.write(
        "csrc/generated.cu.in",
        "#include \"common.cuh\"\n__global__ void generated(float *p) { *p += factor(); }\n",
    );
    project.write("csrc/host.cpp", "int host() { return 1; }\n");
    project.write("csrc/unused.cpp", "int unused() { return 1; }\n");
}

#[test]
fn cmake_and_ninja_with_cuda() {
    let project = Project::new(Backend::Cuda);
    sample(&project);
    let compiler = format!("-DCMAKE_CUDA_COMPILER={}", nvcc().display());
    let libraries = nvcc().parent().unwrap().join("../lib");
    run(tool("cmake")
        .env("LIBRARY_PATH", libraries)
        .args(["-G", "Ninja", "-DCMAKE_CUDA_ARCHITECTURES=80"])
        .args([&compiler, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-S"])
        .arg(project.root())
        .arg("-B")
        .arg(project.build()));
    run(tool("ninja").arg("-C").arg(project.build()));

    let map = project.map();
    assert_eq!(map.errors, []);
    assert!(!map.incomplete);
    map.accept().unwrap();
    assert_eq!(map.objects.len(), 3, "{:?}", map.objects);
    assert_eq!(map.build_dirs, ["build"]);
    let scale = object(&map, "csrc/scale.cu");
    assert_eq!(symbols(scale), ["_Z5scalePf"]);
    assert_eq!(scale.target, "kernels");
    assert_eq!(scale.object, "CMakeFiles/kernels.dir/csrc/scale.cu.o");
    assert!(scale.device && scale.deps.contains(&"csrc/common.cuh".into()));
    assert!(scale.deps.contains(&"csrc/scale.cu".into()));
    let host = object(&map, "csrc/host.cpp");
    assert!(!host.device && host.symbols.is_empty());
    let generated = object(&map, "build/gen/generated.cu");
    assert_eq!(symbols(generated), ["_Z9generatedPf"]);
    assert!(
        generated.deps.contains(&"csrc/generated.cu.in".into()),
        "{:?}",
        generated.deps
    );
    assert_eq!(map.to_canonical(), project.map().to_canonical());

    // Without the compile database the build file says the same.
    fs_err::remove_file(project.build().join("compile_commands.json")).unwrap();
    assert_eq!(project.map().to_canonical(), map.to_canonical());

    // An edit after the build: the objects do not say what the header says.
    project.touch("csrc/common.cuh");
    let edited = project.map();
    assert_eq!(edited.reason.as_deref(), Some("unreadable-objects"));
    assert!(edited.incomplete && edited.objects.is_empty());
    assert!(
        edited
            .errors
            .iter()
            .all(|error| error.error.starts_with("stale-object")),
        "{:?}",
        edited.errors
    );
    let partial = project.partial_map();
    assert!(partial.incomplete);
    assert_eq!(partial.reason, None);
    assert_eq!(
        partial
            .objects
            .iter()
            .filter(|object| object.error.is_none())
            .count(),
        1
    );
}

#[test]
fn cmake_and_make_without_a_compile_database() {
    let project = Project::new(Backend::Cuda);
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.22)\nproject(p CXX)\nadd_subdirectory(lib)\n",
    );
    project.write(
        "lib/CMakeLists.txt",
        "add_library(host STATIC a.cpp ../csrc/b.cpp)\n",
    );
    project.write("lib/a.cpp", "#include \"a.h\"\nint a() { return A; }\n");
    project.write("lib/a.h", "#define A 1\n");
    project.write(
        "csrc/b.cpp",
        "#include \"../lib/a.h\"\nint b() { return A; }\n",
    );
    run(tool("cmake")
        .args(["-G", "Unix Makefiles", "-S"])
        .arg(project.root())
        .arg("-B")
        .arg(project.build()));
    run(tool("make").arg("-C").arg(project.build()));
    let map = project.map();
    assert_eq!(map.errors, []);
    let deps = |source: &str| -> BTreeSet<String> {
        object(&map, source)
            .deps
            .iter()
            .filter(|path| !path.starts_with('/'))
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(
        deps("lib/a.cpp"),
        BTreeSet::from(["lib/a.cpp", "lib/a.h"].map(str::to_owned))
    );
    assert_eq!(
        deps("csrc/b.cpp"),
        BTreeSet::from(["csrc/b.cpp", "lib/a.h"].map(str::to_owned))
    );
}

#[test]
fn links_are_known_by_both_names() {
    let project = Project::host();
    project.write("real.h", "#define A 2\n");
    std::os::unix::fs::symlink("real.h", project.root().join("link.h")).unwrap();
    project.write("a.cpp", "#include \"link.h\"\nint a() { return A; }\n");
    project.ninja();
    let map = project.map();
    let deps = &object(&map, "a.cpp").deps;
    assert!(
        deps.contains(&"real.h".into()) && deps.contains(&"link.h".into()),
        "{deps:?}"
    );
}

/// What is wrong with a build after `spoil`, as the stable words of the errors.
fn words_after(spoil: impl Fn(&Project)) -> BTreeSet<String> {
    let project = Project::host();
    project.ninja();
    assert_eq!(project.map().errors, []);
    spoil(&project);
    let map = project.map();
    assert!(map.incomplete && map.objects.is_empty() && map.reason.is_some());
    let words = map
        .errors
        .iter()
        .map(|error| error.error.split(':').next().unwrap().to_owned());
    words
        .chain(
            map.reason
                .iter()
                .filter(|reason| *reason != "unreadable-objects")
                .cloned(),
        )
        .collect()
}

fn only(word: &str) -> BTreeSet<String> {
    BTreeSet::from([word.to_owned()])
}

#[test]
fn doubt_about_a_build_empties_the_map() {
    let remove = |name: &'static str| {
        move |project: &Project| fs_err::remove_file(project.root().join(name)).unwrap()
    };
    assert_eq!(
        words_after(remove("build/.ninja_deps")),
        only("no-dependency-record")
    );
    assert_eq!(words_after(remove("build/a.o")), only("object-missing"));
    assert_eq!(words_after(remove("a.h")), only("dependency-missing"));
    assert_eq!(
        words_after(|project| project.touch("a.h")),
        only("stale-object")
    );
    assert_eq!(
        words_after(|project| project.touch("build/a.o")),
        only("stale-dependencies")
    );
    assert_eq!(
        words_after(|project| project.write("build/stray.o", "")),
        only("object-not-in-database"),
    );
    assert_eq!(
        words_after(|project| project.rewrite("build/a.o", b"garbage")),
        only("unsupported"),
    );
}

#[test]
fn records_that_cannot_be_read_empty_the_map() {
    let truncated = words_after(|project| {
        let log = fs_err::read(project.build().join(".ninja_deps")).unwrap();
        project.rewrite("build/.ninja_deps", &log[..log.len() - 3]);
    });
    assert!(
        truncated.contains("malformed-build-record"),
        "{truncated:?}"
    );
    let database = words_after(|project| project.write("build/compile_commands.json", "[{]"));
    assert!(database.contains("malformed-build-record"), "{database:?}");
    let conflict = words_after(|project| {
        let text = r#"[{"directory": ".", "file": "../other.cpp", "output": "a.o"}]"#;
        project.write("build/compile_commands.json", text);
    });
    assert!(conflict.contains("conflicting-sources"), "{conflict:?}");
}

#[test]
fn a_partial_map_whose_errors_know_their_dependencies_is_complete() {
    let project = Project::host();
    project.ninja();
    project.rewrite("build/a.o", b"garbage");
    let map = project.partial_map();
    assert!(!map.incomplete);
    assert_eq!(map.errors.len(), 1);
    let broken = object(&map, "a.cpp");
    assert!(
        broken
            .error
            .as_deref()
            .unwrap()
            .starts_with("unsupported: "),
        "{broken:?}"
    );
    assert!(broken.deps.contains(&"a.h".into()));
}

#[test]
fn nothing_to_map_is_said() {
    let project = Project::new(Backend::Rocm);
    let map = project.map();
    assert_eq!(map.reason.as_deref(), Some("no-objects"));
    assert!(map.incomplete && map.accept().is_err());
}

/// Three files of relocatable device code in a chain: a kernel, a function that it calls, a variable that this reads.
fn chain(project: &Project) {
    project.write(
        "kernel.cu",
        "__device__ int middle();\n__global__ void k(int *p) { *p = middle(); }\n",
    );
    project.write(
        "middle.cu",
        "#include \"middle.cuh\"\nextern __device__ int last;\n__device__ int middle() { return last + ADDED; }\n",
    );
    project.write("middle.cuh", "#define ADDED 1\n");
    project.write("last.cu", "__device__ int last = 3;\n");
    project.write("alone.cu", "__global__ void alone(int *p) { *p = 1; }\n");
    let mut rules = format!(
        "rule cuda\n  command = {} -arch=sm_80 -rdc=true -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n",
        nvcc().display()
    );
    for name in ["kernel", "middle", "last", "alone"] {
        writeln!(rules, "build {name}.o: cuda ../{name}.cu").unwrap();
    }
    project.write("build/build.ninja", &rules);
}

#[test]
fn a_kernel_depends_on_the_files_its_device_code_is_linked_with() {
    let project = Project::new(Backend::Cuda);
    chain(&project);
    project.ninja();
    let map = project.map();
    assert_eq!(map.errors, []);
    let own = |source: &str| -> Vec<String> {
        let deps = object(&map, source).deps.iter().map(ToString::to_string);
        deps.filter(|path| !path.starts_with('/')).collect()
    };
    assert_eq!(
        own("kernel.cu"),
        ["kernel.cu", "last.cu", "middle.cu", "middle.cuh"]
    );
    assert_eq!(own("middle.cu"), ["last.cu", "middle.cu", "middle.cuh"]);
    assert_eq!(own("last.cu"), ["last.cu"]);
    assert_eq!(own("alone.cu"), ["alone.cu"]);
}
