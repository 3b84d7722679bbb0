//! Dependency files, commands and names.

use super::cmake;
use super::compile_db::{offload_archs, split_shell};
use super::depfile::parse;
use super::files::Files;
use super::folder::Folder;
use super::hipify::HipNames;
use super::provenance::{Origin, Origins};
use kernrec_schemas::Backend;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;

#[test]
fn dependency_files_of_the_compilers() {
    let rule = parse(b"a.o: a.cu \\\n  odd\\ name.h \\\n\tc$$d.h e\\#f.h\n\nodd\\ name.h:\nx.h:\n")
        .unwrap();
    assert_eq!(rule.targets, ["a.o"]);
    assert_eq!(rule.inputs, ["a.cu", "odd name.h", "c$d.h", "e#f.h"]);
    let nvcc = parse(b"x/a.cu.o : x/a.cu \\\n    b.h\n").unwrap();
    assert_eq!(nvcc.targets, ["x/a.cu.o"]);
    assert_eq!(nvcc.inputs, ["x/a.cu", "b.h"]);
}

#[test]
fn dependency_files_that_say_nothing_are_errors() {
    for text in [
        "",
        "\n",
        "a.o:\n",
        "a.o a.cu\n",
        ": a.cu\n",
        "a.o: a.cu\nb.o: b.cu\n",
    ] {
        assert!(parse(text.as_bytes()).is_err(), "{text:?}");
    }
}

#[test]
fn commands_are_split_as_a_shell_does() {
    let words = split_shell(
        r#"clang++ -DX=\"a\ b\" '-I/a b' "-DY=\"q\"" --offload-arch=gfx90a:xnack-,gfx942 -c"#,
    );
    assert_eq!(words[1], r#"-DX="a b""#);
    assert_eq!(words[2], "-I/a b");
    assert_eq!(words[3], r#"-DY="q""#);
    let archs = offload_archs(words.iter().map(String::as_str));
    assert_eq!(
        archs.into_iter().collect::<Vec<_>>(),
        ["gfx90a:xnack-", "gfx942"]
    );
}

#[test]
fn objects_as_cmake_names_them() {
    let object = "sub/CMakeFiles/my.target.dir/csrc/a.cu.o";
    assert_eq!(cmake::target(object), "my.target");
    assert!(cmake::names_source(
        object,
        Path::new("/repo/sub/csrc/a.cu")
    ));
    assert!(!cmake::names_source(
        object,
        Path::new("/repo/sub/other/a.cu")
    ));
    let above = "CMakeFiles/t.dir/__/__/lib/b.cu.o";
    assert!(cmake::names_source(above, Path::new("/repo/lib/b.cu")));
    assert_eq!(cmake::target("plain.o"), "");
    assert!(cmake::is_probe("/b/CMakeFiles/3.25.1/CompilerIdCUDA/a.o"));
    assert!(!cmake::is_probe("/b/CMakeFiles/t.dir/a.o"));
}

#[test]
fn names_of_translated_files() {
    let folder = tempfile::TempDir::new().unwrap();
    for name in [
        "csrc/a.cu",
        "csrc/a.h",
        "csrc/cuda/b.cu",
        "csrc/cuda_c.h",
        "csrc/d.py",
    ] {
        let path = folder.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, "").unwrap();
    }
    let names = HipNames::index(folder.path(), &[]);
    let original = |name: &str| match names.originals(Path::new(name)) {
        [one] => one
            .strip_prefix(folder.path())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned(),
        other => format!("{} originals", other.len()),
    };
    assert_eq!(original("csrc/a.hip"), "csrc/a.cu");
    assert_eq!(original("csrc/a_hip.h"), "csrc/a.h");
    assert_eq!(original("csrc/hip/b.hip"), "csrc/cuda/b.cu");
    assert_eq!(original("csrc/hip_c.h"), "csrc/cuda_c.h");
    assert_eq!(original("csrc/a.cu"), "0 originals");
    assert_eq!(original("csrc/d_hip.py"), "0 originals");
}

proptest! {
    #[test]
    fn noise_never_panics(text in "[a-z \\\\:$#'\"\n]{0,200}") {
        let _ = parse(text.as_bytes());
        let _ = split_shell(&text);
    }
}

#[test]
fn a_file_that_changed_is_not_what_it_was() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.o");
    fs_err::write(&path, "one").unwrap();
    let known = Files::default().known(&path).unwrap();
    assert!(Files::is_still(&path, &known));
    let file = fs_err::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert!(!Files::is_still(&path, &known));
    fs_err::remove_file(&path).unwrap();
    assert!(!Files::is_still(&path, &known));
}

#[test]
fn generators_that_share_their_inputs_are_followed_once_each() {
    let folder = TempDir::new().unwrap();
    let root = fs_err::canonicalize(folder.path()).unwrap();
    let build = root.join("build");
    fs_err::create_dir(&build).unwrap();
    // Ten files a level, each made from all of the next: 10^14 ways down.
    let level = |level: u32| -> Vec<String> { (0..10).map(|n| format!("l{level}.{n}")).collect() };
    let mut lines = vec!["build top: gen l0.0\n".to_owned()];
    lines.extend((0..14).map(|at| {
        let (made, from) = (level(at).join(" "), level(at + 1).join(" "));
        format!("build {made}: gen {from}\n")
    }));
    fs_err::write(build.join("build.ninja"), lines.concat()).unwrap();
    let folders = [Folder::read(&build).unwrap()];
    let (files, roots) = (Files::default(), [build.clone()]);
    let origins = Origins::new(Backend::Cuda, &root, &roots, &folders, &files);
    let last: BTreeSet<_> = (0..10).map(|n| build.join(format!("l14.{n}"))).collect();
    assert_eq!(origins.of(&build.join("top")).unwrap(), Origin::Made(last));
}
