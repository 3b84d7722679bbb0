//! `kernrec symbol-map`, on trees that real compilers build.

use crate::context::{COMMIT, Context, Ran, ggml};
use crate::toolchain::{nvcc, run, tool};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_store::artifact;
use std::time::{Duration, SystemTime};

/// One CUDA source, one host source, and what builds them.
fn built() -> Context {
    let context = Context::new();
    context.write(
        "src/k.cu",
        "#include \"k.cuh\"\n__global__ void scale(float *p) { *p *= factor(); }\n",
    );
    context.write(
        "src/k.cuh",
        "__device__ inline float factor() { return 2; }\n",
    );
    context.write(
        "src/host.cpp",
        "#include \"host.h\"\nint host() { return N; }\n",
    );
    context.write("src/host.h", "#define N 1\n");
    context.write(
        "src/build/build.ninja",
        format!(
            "rule cuda\n  command = {} -arch=sm_80 -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n\
             rule cxx\n  command = g++ -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n\
             build k.cu.o: cuda ../k.cu\nbuild host.o: cxx ../host.cpp\n",
            nvcc().display()
        ),
    );
    run(tool("ninja").arg("-C").arg(context.path("src/build")));
    context
}

const TREE: [&str; 4] = ["--build-root", "src/build", "--source-root", "src"];

/// `kernrec symbol-map` of the built tree.
fn map<const N: usize>(context: &Context, more: [&str; N]) -> Ran {
    let mut command = context.command();
    command.args(["symbol-map", "--backend", "cuda"]).args(TREE);
    context.run(command.args(more))
}

fn read(context: &Context, name: &str) -> SymbolMap {
    let bytes = artifact::read(&context.path(name), u64::MAX).unwrap();
    SymbolMap::parse(&bytes).unwrap()
}

/// Replaces an object and keeps its time, as damage does.
fn damage(context: &Context, name: &str) {
    let path = context.path(name);
    let time = fs_err::metadata(&path).unwrap().modified().unwrap();
    fs_err::write(&path, "garbage").unwrap();
    let file = fs_err::OpenOptions::new().append(true).open(&path).unwrap();
    file.file().set_modified(time).unwrap();
}

#[test]
fn a_build_becomes_a_map_and_the_same_build_the_same_bytes() {
    let context = built();
    let labels = [
        "--commit",
        "c0de",
        "--variant",
        "cu13",
        "--recorded-at",
        "2030-01-01T00:00:00Z",
        "--strict",
    ];
    let [commit, code, variant, name, at, time, strict] = labels;
    let more = |out| [commit, code, variant, name, at, time, strict, "--out", out];
    insta::assert_snapshot!("symbol_map", map(&context, more("map.json")));
    let written = read(&context, "map.json");
    written.accept().unwrap();
    let sources: Vec<_> = written
        .objects
        .iter()
        .map(|object| object.source.as_str())
        .collect();
    assert_eq!(sources, ["host.cpp", "k.cu"]);
    let kernel = &written.objects[1];
    assert!(kernel.deps.contains(&"k.cuh".into()), "{:?}", kernel.deps);

    assert_eq!(map(&context, more("map.json.gz")).status, 0);
    assert_eq!(map(&context, more("again.json.gz")).status, 0);
    let bytes = |name: &str| fs_err::read(context.path(name)).unwrap();
    assert_eq!(bytes("map.json.gz"), bytes("again.json.gz"));
    assert_eq!(
        read(&context, "map.json.gz").to_canonical(),
        bytes("map.json")
    );

    let mut command = context.command();
    command.args(["symbol-map", "--backend", "cuda"]).args(TREE);
    let ran = context.run(command.args(["--json", "--out", "map.json"]));
    insta::assert_snapshot!("symbol_map_json", ran);
    assert_eq!(context.kernrec(["show", "map.json"]).status, 0);
}

#[test]
fn a_variable_that_makes_no_sense_fails_no_image_build() {
    let context = built();
    for (name, value) in [
        ("SOURCE_DATE_EPOCH", "yesterday"),
        ("BUILDKITE_COMMIT", "not a commit"),
    ] {
        let run = |strict: &[&str]| {
            let mut command = context.command();
            command.args(["symbol-map", "--backend", "cuda"]).args(TREE);
            command.args(["--out", "m"]).args(strict).env(name, value);
            context.run(&mut command)
        };
        let ran = run(&[]);
        assert_eq!(ran.status, 0, "{ran}");
        assert!(ran.stderr.contains(value), "{ran}");
        let written = read(&context, "m");
        assert_eq!((written.commit, written.generated_at), (None, None));
        assert_eq!(run(&["--strict"]).status, 2, "{name}");
    }
}

#[test]
fn commit_and_time_come_from_flag_variable_or_clone_and_never_from_the_clock() {
    let context = built();
    assert_eq!(map(&context, ["--out", "m"]).status, 0);
    let bare = read(&context, "m");
    assert_eq!((bare.commit, bare.generated_at), (None, None));

    let mut command = context.command();
    command.args(["symbol-map", "--backend", "cuda"]).args(TREE);
    command
        .env("SOURCE_DATE_EPOCH", "1893456000")
        .env("BUILDKITE_COMMIT", "beef");
    assert_eq!(context.run(command.args(["--out", "m"])).status, 0);
    let stamped = read(&context, "m");
    assert_eq!(stamped.commit.unwrap().as_str(), "beef");
    assert_eq!(
        stamped.generated_at.unwrap().to_string(),
        "2030-01-01T00:00:00Z"
    );

    let git = |args: &[&str]| {
        let mut git = tool("git");
        git.current_dir(context.path("src")).args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.invalid",
        ]);
        run(git
            .env("GIT_COMMITTER_DATE", "2030-01-02T00:00:00Z")
            .args(args))
    };
    git(&["init", "--quiet"]);
    git(&["add", "k.cu"]);
    git(&["commit", "--quiet", "--message", "one"]);
    let head = git(&["rev-parse", "HEAD"]);
    let mut command = context.command();
    command.args(["symbol-map", "--backend", "cuda"]).args(TREE);
    command.args(["--repo", "src", "--commit", head.trim(), "--out", "m"]);
    // What a hook leaves in the environment is about another repository.
    command
        .env("GIT_DIR", "/nowhere")
        .env("GIT_COMMON_DIR", "/nowhere");
    assert_eq!(context.run(&mut command).status, 0);
    let time = read(&context, "m").generated_at.unwrap().to_string();
    assert_eq!(time, "2030-01-02T00:00:00Z");

    // A clone that cannot tell the time costs the map its time, and not the image.
    let ran = map(
        &context,
        ["--repo", "src", "--commit", "c0de", "--out", "m"],
    );
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stderr.contains("note: revision-unknown: "), "{ran}");
    assert_eq!(read(&context, "m").generated_at, None);
}

#[test]
fn an_unreadable_object_is_said_in_the_map_and_fails_the_build_only_when_asked_to() {
    let context = built();
    damage(&context, "src/build/k.cu.o");
    let ran = map(&context, ["--out", "m"]);
    insta::assert_snapshot!("symbol_map_unreadable_object", ran);
    let emptied = read(&context, "m");
    assert_eq!(emptied.reason.as_deref(), Some("unreadable-objects"));
    assert!(emptied.incomplete && emptied.objects.is_empty());
    assert_eq!(emptied.errors[0].source.as_deref(), Some("k.cu"));

    let strict = map(&context, ["--strict", "--out", "strict"]);
    assert_eq!(strict.status, 3, "{strict}");
    assert_eq!(read(&context, "strict"), emptied);

    // The damaged object's dependencies are known, so the rest of the map holds.
    let ran = map(&context, ["--partial", "--out", "m"]);
    insta::assert_snapshot!("symbol_map_partial", ran);
    let partial = read(&context, "m");
    partial.accept().unwrap();
    assert!(!partial.incomplete);
    assert_eq!(partial.objects.len(), 2);
    let strict = map(&context, ["--partial", "--strict", "--out", "strict"]);
    assert_eq!(strict.status, 3, "{strict}");
    assert_eq!(read(&context, "strict"), partial);
}

#[test]
fn a_partial_map_is_incomplete_where_it_does_not_know_what_an_object_was_made_of() {
    let context = built();
    let header = fs_err::OpenOptions::new()
        .append(true)
        .open(context.path("src/k.cuh"))
        .unwrap();
    let later = SystemTime::now() + Duration::from_mins(1);
    header.file().set_modified(later).unwrap();
    let ran = map(&context, ["--partial", "--out", "m"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stderr.contains("incomplete"), "{ran}");
    let partial = read(&context, "m");
    assert!(partial.incomplete);
    assert!(
        partial.errors[0].error.starts_with("stale-object: "),
        "{:?}",
        partial.errors
    );
}

#[test]
fn a_tree_that_is_no_build_gives_a_map_that_says_so() {
    let context = Context::new();
    context.write("src/build/readme", "nothing here");
    for (root, reason) in [
        ("src/build", "no-objects"),
        ("src/absent", "unreadable-build-record"),
    ] {
        let mut command = context.command();
        command.args(["symbol-map", "--backend", "rocm", "--source-root", "src"]);
        let ran = context.run(command.args(["--build-root", root, "--out", "m"]));
        assert_eq!(ran.status, 0, "{ran}");
        assert!(
            ran.stderr.contains(&format!("warning: {reason}: ")),
            "{ran}"
        );
        let map = read(&context, "m");
        assert_eq!(map.reason.as_deref(), Some(reason));
        map.accept().unwrap_err();
    }
}

#[test]
fn a_map_of_objects_alone_is_shown_and_not_published() {
    let context = built();
    context.write("text.o", "no object");
    let objects = [
        "symbol-map",
        "--backend",
        "cuda",
        "--commit",
        COMMIT,
        "--objects",
    ];
    let mut command = context.command();
    let ran = context.run(command.args(objects).args([
        "src/build/k.cu.o",
        "src/build/host.o",
        "text.o",
        "--out",
        "objects.json.gz",
    ]));
    insta::assert_snapshot!("symbol_map_objects", ran);
    let map = read(&context, "objects.json.gz");
    assert_eq!(map.reason.as_deref(), Some("no-sources"));
    assert!(map.incomplete);
    let kernel = map
        .objects
        .iter()
        .find(|object| !object.symbols.is_empty())
        .unwrap();
    assert_eq!(
        (kernel.source.as_str(), kernel.deps.len()),
        ("src/build/k.cu.o", 0)
    );
    assert_eq!(context.kernrec(["show", "objects.json.gz"]).status, 0);

    let recordings = ggml("recordings");
    let mut command = context.command();
    command.args([
        "publish", "--store", "store", "--commit", COMMIT, "--build", "1",
    ]);
    let ran = context.run(command.args([
        "--recordings",
        &recordings,
        "--symbol-map",
        "objects.json.gz",
        "--recorded-at",
        "2030-01-01T00:00:00Z",
    ]));
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stderr.contains("map-refused"), "{ran}");
    assert!(ran.stderr.contains("no-sources"), "{ran}");
}

#[test]
fn what_cannot_be_written_leaves_what_was_there() {
    let context = built();
    context.write("m", "the map of before");
    let before = context.files();
    let ran = map(&context, ["--out", "no/such/folder/m"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
    assert!(ran.stderr.starts_with("error: file-error: "), "{ran}");
    let ran = map(&context, ["--out", "src"]);
    assert_eq!(ran.status, 1, "{ran}");
    let ran = map(&context, ["--out", "m", "--recorded-at", "noon"]);
    assert_eq!(ran.status, 2, "{ran}");
    assert_eq!(context.files(), before);
}

#[test]
fn contradictory_arguments_are_usage_errors() {
    let context = Context::new();
    for (name, args) in [
        ("nothing", ""),
        ("both", "--build-root b --source-root s --objects a.o"),
        ("no_source_root", "--build-root b"),
        ("no_build_root", "--source-root s --objects a.o"),
        ("no_object", "--objects"),
        ("partial_objects", "--objects a.o --partial"),
        ("bad_variant", "--objects a.o --variant ../up"),
    ] {
        let mut command = context.command();
        command.args(["symbol-map", "--backend", "cuda", "--out", "m"]);
        let ran = context.run(command.args(args.split_whitespace()));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{name}: {ran}");
        insta::assert_snapshot!(format!("symbol_map_usage_{name}"), ran.stderr);
    }
    assert_eq!(context.files(), []);
}

#[test]
fn a_file_name_makes_no_line_of_its_own_in_the_log() {
    let context = Context::new();
    context.write("a\n::error::forged\u{1b}[2J.o", "no object");
    let ran = context.kernrec([
        "symbol-map",
        "--backend=cuda",
        "--objects",
        "a\n::error::forged\u{1b}[2J.o",
        "--out=map.json",
    ]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(
        ran.stderr
            .starts_with("error: `a\\n::error::forged\\u{1b}[2J.o`: "),
        "{ran}"
    );
    assert_eq!(ran.stderr.lines().count(), 2, "{ran}");
    // Nor in an error of the program.
    let ran = context.kernrec(["show", "gone\n::error::forged"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
}

#[test]
fn a_device_is_not_replaced_by_the_map() {
    let context = Context::new();
    context.write("a.o", "no object");
    let fifo = context.path("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let ran = context.kernrec([
        "symbol-map",
        "--backend=cuda",
        "--objects=a.o",
        "--out=pipe",
    ]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(
        ran.stderr
            .contains("error: file-error: replace `pipe`: it is not a regular file"),
        "{ran}"
    );
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(
        &fs_err::metadata(&fifo).unwrap().file_type()
    ));
}
