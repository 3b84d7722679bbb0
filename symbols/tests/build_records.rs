//! Records of builds in the forms that few builds have, and what is wrong with them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod project;
mod toolchain;

use kernrec_schemas::symbol_map::SymbolMap;
use project::{Project, object};

/// The stable words of a map's errors.
fn words(map: &SymbolMap) -> Vec<&str> {
    assert!(map.incomplete && map.objects.is_empty());
    map.errors
        .iter()
        .map(|error| error.error.split(':').next().unwrap())
        .collect()
}

/// The dependencies of a source that lie in the project.
fn own(map: &SymbolMap, source: &str) -> Vec<String> {
    let deps = object(map, source).deps.iter().map(ToString::to_string);
    deps.filter(|path| !path.starts_with('/')).collect()
}

/// A build whose dependencies stay in the files that the compiler wrote.
fn with_depfiles() -> Project {
    let project = Project::host();
    let rule = "rule cxx\n  command = g++ -MD -MF $out.d -c $in -o $out\nbuild a.o: cxx ../a.cpp\n";
    project.write("build/build.ninja", rule);
    project.ninja();
    project
}

#[test]
fn dependency_files_are_read_and_doubted() {
    let project = with_depfiles();
    assert_eq!(own(&project.map(), "a.cpp"), ["a.cpp", "a.h"]);
    for (depfile, word) in [
        ("a.o: ../a.h\n", "short-dependencies"),
        ("no rule\n", "unreadable-dependencies"),
        ("a.o: ../a.cpp ../a.h ../gone.h\n", "dependency-missing"),
        ("a.o: ../a.cpp ../all.h.gch\n", "precompiled-header"),
    ] {
        let project = with_depfiles();
        project.write("all.h.gch", "");
        project.age("all.h.gch");
        project.write("build/a.o.d", depfile);
        assert_eq!(words(&project.map()), [word]);
    }
    let project = with_depfiles();
    fs_err::remove_file(project.build().join("a.o.d")).unwrap();
    assert_eq!(words(&project.map()), ["no-dependency-record"]);
}

#[test]
fn a_source_that_is_gone_makes_no_claim() {
    let project = with_depfiles();
    fs_err::remove_file(project.root().join("a.cpp")).unwrap();
    assert_eq!(words(&project.map()), ["source-missing"]);
}

#[test]
fn a_build_within_a_build_has_records_of_its_own() {
    let project = Project::host();
    let outer = fs_err::read_to_string(project.build().join("build.ninja")).unwrap();
    let sub = "rule sub\n  command = ninja -C inner && touch $out\nbuild inner.stamp: sub\n";
    project.write("build/build.ninja", &format!("{outer}{sub}"));
    project.write("lib/b.cpp", "#include \"b.h\"\nint b() { return B; }\n");
    project.write("lib/b.h", "#include \"../a.h\"\n#define B A\n");
    let inner = outer.replace("build a.o: cxx ../a.cpp", "build b.o: cxx ../../lib/b.cpp");
    project.write("build/inner/build.ninja", &inner);
    project.ninja();
    // An outer database may name the inner objects too, from where it stands.
    let database = r#"[{"directory": ".", "file": "../lib/b.cpp", "output": "inner/b.o"}]"#;
    project.write("build/compile_commands.json", database);

    let map = project.map();
    assert_eq!(map.errors, []);
    assert_eq!(map.build_dirs, ["build", "build/inner"]);
    assert_eq!(map.objects.len(), 2);
    assert_eq!(own(&map, "a.cpp"), ["a.cpp", "a.h"]);
    assert_eq!(own(&map, "lib/b.cpp"), ["a.h", "lib/b.cpp", "lib/b.h"]);

    // The inner build's own doubts empty the whole map.
    fs_err::remove_file(project.build().join("inner/.ninja_deps")).unwrap();
    assert_eq!(words(&project.map()), ["no-dependency-record"]);
}

/// A dependency log of version 4 as an older ninja would have written it: seconds instead of nanoseconds.
fn version_3(log: &[u8]) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(log[at..at + 4].try_into().unwrap());
    assert_eq!(word(12), 4, "ninja writes version 4");
    let mut out = log[..12].to_vec();
    out.extend(3_u32.to_le_bytes());
    let mut at = 16;
    while at < log.len() {
        let size = (word(at) & !(1 << 31)) as usize;
        let record = &log[at + 4..at + 4 + size];
        if word(at) & 1 << 31 == 0 {
            out.extend(&log[at..at + 4 + size]);
        } else {
            let nanoseconds = u64::from_le_bytes(record[4..12].try_into().unwrap());
            let seconds = u32::try_from(nanoseconds / 1_000_000_000).unwrap();
            out.extend((word(at) - 4).to_le_bytes());
            out.extend(&record[..4]);
            out.extend(seconds.to_le_bytes());
            out.extend(&record[12..]);
        }
        at += 4 + size;
    }
    out
}

#[test]
fn the_dependency_log_of_an_older_ninja() {
    let project = Project::host();
    project.ninja();
    let new = project.map();
    let path = project.build().join(".ninja_deps");
    let log = version_3(&fs_err::read(&path).unwrap());
    fs_err::write(&path, log).unwrap();
    assert_eq!(project.map().to_canonical(), new.to_canonical());
    project.touch("build/a.o");
    assert_eq!(words(&project.map()), ["stale-dependencies"]);
}

#[test]
fn roots_given_through_links_name_the_same_files() {
    let project = Project::host();
    project.ninja();
    let direct = project.map();
    let elsewhere = tempfile::TempDir::new().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(project.root(), &link).unwrap();
    assert_eq!(
        project.map_from(&link).to_canonical(),
        direct.to_canonical()
    );
    let winding = project.build().join("../build/..");
    assert_eq!(
        project.map_from(&winding).to_canonical(),
        direct.to_canonical()
    );
}
