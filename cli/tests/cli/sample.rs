//! The sample project, built here and recorded on a GPU: each of its files selects the programs that run what the file
//! says, and no others.

use crate::context::{Context, repository};
use crate::toolchain::{nvcc, run, tool};
use kernrec_schemas::KernelName;
use kernrec_schemas::symbol_map::{MapObject, SymbolMap};
use kernrec_store::artifact;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What `testdata/sample-cuda/build.sh` committed.
const COMMIT: &str = "6f8c3cd29165f29ab89dba1d67f07440ec5fb936";

/// The programs that a change to each file's device code needs; `None` where every step must run.
const EXPECTED: [(&str, Option<&[&str]>); 21] = [
    // Not in the map: it says how everything is built.
    ("CMakeLists.txt", None),
    (
        "include/sample/device.cuh",
        Some(&[
            "histogram",
            "matmul",
            "normalize",
            "particles",
            "polynomial",
            "sum",
            "waves",
        ]),
    ),
    ("include/sample/field.cuh", Some(&["particles", "waves"])),
    // Host code reads these two.
    ("include/sample/kernels.h", None),
    ("include/sample/report.h", None),
    // `histogram` because its static `fill` has the name of the one in matmul.cu.
    (
        "include/sample/tile.cuh",
        Some(&["histogram", "matmul", "transpose"]),
    ),
    ("programs/histogram.cu", Some(&["histogram", "matmul"])),
    ("programs/matmul.cu", Some(&["histogram", "matmul"])),
    ("programs/normalize.cu", Some(&["normalize"])),
    // The static kernels of these two have one name too, but the device linker needs them told apart.
    ("programs/particles.cu", Some(&["particles"])),
    ("programs/polynomial.cu", Some(&["polynomial"])),
    ("programs/sum.cpp", None),
    ("programs/transpose.cu", Some(&["transpose"])),
    ("programs/waves.cu", Some(&["waves"])),
    // `waves` launches none of its kernels, and calls its device function.
    ("src/field.cu", Some(&["particles", "waves"])),
    ("src/reduce.cu", Some(&["normalize", "sum"])),
    ("src/report.cpp", None),
    ("src/scale.cu", Some(&["normalize"])),
    // No program launches its kernel.
    ("src/unused.cu", None),
    ("tables/generate.cmake", Some(&["polynomial"])),
    ("tables/polynomial.txt", Some(&["polynomial"])),
];

fn sample(name: &str) -> PathBuf {
    repository().join("testdata/sample-cuda").join(name)
}

/// Publishes the recordings with a map, fetches the record, and asks about every file.
fn check_every_file(context: &Context, map: &Path) {
    let (recordings, map) = (sample("recordings"), map.to_str().unwrap());
    let mut command = context.command();
    command.args([
        "publish", "--store", "store", "--commit", COMMIT, "--build", "1",
    ]);
    command.args([
        "--recordings",
        recordings.to_str().unwrap(),
        "--symbol-map",
        map,
    ]);
    let ran = context.run(&mut command);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stdout.contains("usable       8"), "{ran}");
    let ran = context.kernrec(["fetch", "--url", "store", "--backend", "cuda"]);
    assert_eq!(ran.status, 0, "{ran}");
    for (file, programs) in EXPECTED {
        let data = [
            "select",
            "--data",
            "coverage-data",
            "--format",
            "keys",
            "--changed-file",
        ];
        let ran = context.run(context.command().args(data).arg(file));
        let (status, answer) = match programs {
            Some(programs) => (0, serde_json::to_string(programs).unwrap() + "\n"),
            None => (6, String::new()),
        };
        assert_eq!(
            (ran.status, &ran.stdout),
            (status, &answer),
            "{file}: {ran}"
        );
    }
}

#[test]
fn each_file_selects_its_programs() {
    let mut files = BTreeSet::new();
    let project = sample("project");
    let mut folders = vec![project.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&project).unwrap().to_str().unwrap();
                files.insert(name.to_owned());
            }
        }
    }
    let expected = EXPECTED.map(|(file, _)| file.to_owned());
    assert_eq!(
        files,
        BTreeSet::from(expected),
        "the table names every file"
    );
    check_every_file(&Context::new(), &sample("kernel_symbol_map.json.gz"));
}

#[test]
fn the_project_built_here_gives_the_same_map() {
    let context = Context::new();
    build(&context);
    let tree = ["--build-root", "project/build", "--source-root", "project"];
    let mut command = context.command();
    command
        .args(["symbol-map", "--strict", "--backend", "cuda"])
        .args(tree);
    command.args(["--commit", COMMIT, "--recorded-at", "2026-11-30T00:00:00Z"]);
    let ran = context.run(command.args(["--out", "built.json"]));
    assert_eq!(ran.status, 0, "{ran}");

    let built = fs_err::read_to_string(context.path("built.json")).unwrap();
    let map = SymbolMap::parse(built.as_bytes()).unwrap();
    let recorded = artifact::read(&sample("kernel_symbol_map.json.gz"), u64::MAX).unwrap();
    let recorded = SymbolMap::parse(&recorded).unwrap();
    assert_eq!(described(&map), described(&recorded));

    let mut translated = built;
    for (ours, theirs) in hashed(&map).values().zip(hashed(&recorded).values()) {
        translated = translated.replace(ours.as_str(), theirs.as_str());
    }
    let translated = context.write("translated.json", translated);
    check_every_file(&context, &translated);
}

/// Builds the project as `testdata/sample-cuda/build.sh` does.
fn build(context: &Context) {
    run(tool("cp")
        .arg("-r")
        .arg(sample("project"))
        .arg(context.path("project")));
    let libraries = nvcc().parent().unwrap().join("../lib");
    let compiler = format!("-DCMAKE_CUDA_COMPILER={}", nvcc().display());
    run(tool("cmake")
        .env("LIBRARY_PATH", &libraries)
        .args([
            "-G",
            "Ninja",
            "-DCMAKE_CUDA_ARCHITECTURES=90",
            &compiler,
            "-S",
        ])
        .arg(context.path("project"))
        .arg("-B")
        .arg(context.path("project/build")));
    run(tool("ninja")
        .env("LIBRARY_PATH", &libraries)
        .arg("-C")
        .arg(context.path("project/build")));
}

/// What does not depend on where the project was built: no system headers, no hashes of paths.
fn described(map: &SymbolMap) -> Vec<MapObject> {
    let mut objects = map.objects.clone();
    for object in &mut objects {
        object.deps.retain(|path| !path.starts_with('/'));
        for name in &mut object.symbols {
            *name = KernelName::new(masked(name.as_str())).unwrap();
        }
    }
    objects
}

/// The names that hold a hash, by what the rest of them says.
fn hashed(map: &SymbolMap) -> BTreeMap<String, String> {
    let names = map.objects.iter().flat_map(|object| &object.symbols);
    let pair = |name: &KernelName| (masked(name.as_str()), name.as_str().to_owned());
    names
        .map(pair)
        .filter(|(masked, name)| masked != name)
        .collect()
}

/// nvcc puts a hash that depends on the source's absolute path into names of internal linkage.
fn masked(name: &str) -> String {
    let parts: Vec<&str> = name.split('_').collect();
    let is_hash = |index: usize| {
        index > 0
            && parts[index - 1].is_empty()
            && parts[index].len() == 8
            && parts[index].bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let shown = |index| if is_hash(index) { "HASH" } else { parts[index] };
    (0..parts.len()).map(shown).collect::<Vec<_>>().join("_")
}
