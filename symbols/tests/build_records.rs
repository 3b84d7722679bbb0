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

/// What a map says against each file, by its name.
fn against(map: &SymbolMap) -> Vec<(&str, &str)> {
    let said = map.errors.iter().map(|error| {
        let name = error.object.as_deref().unwrap().rsplit('/').next().unwrap();
        (name, error.error.split(':').next().unwrap())
    });
    said.collect()
}

#[test]
fn a_dependency_file_that_ends_early_or_is_older_than_what_it_lists_is_doubted() {
    for depfile in ["a.o: ../a.cpp \\\n", "a.o: ../a.cpp"] {
        let project = with_depfiles();
        project.write("build/a.o.d", depfile);
        assert_eq!(words(&project.map()), ["unreadable-dependencies"]);
    }
    // The object was made again since, by something that did not write the list.
    let project = with_depfiles();
    project.age("build/a.o.d");
    assert_eq!(words(&project.map()), ["stale-dependencies"]);
}

#[test]
fn an_object_whose_step_names_no_inputs_or_hides_them_is_not_taken_for_a_link() {
    for step in [
        "build b.o: make",
        "build b.o: make a.o | ../b.cu",
        "build b.o: make image.fatbin",
        "build b.o: make ../b.so.cu",
    ] {
        let project = Project::host();
        let file = fs_err::read_to_string(project.build().join("build.ninja")).unwrap();
        let rule = "rule make\n  command = cp a.o b.o\n";
        project.write("build/build.ninja", &format!("{file}{rule}{step} || a.o\n"));
        for name in ["b.cu", "b.so.cu", "build/image.fatbin"] {
            project.write(name, "");
        }
        project.ninja();
        let map = project.map();
        assert_eq!(map.reason.as_deref(), Some("unreadable-objects"), "{step}");
        assert!(
            against(&map).iter().any(|(name, _)| *name == "b.o"),
            "{step}"
        );
    }
    // Objects put together compile nothing.
    let project = Project::host();
    let file = fs_err::read_to_string(project.build().join("build.ninja")).unwrap();
    let rule = "rule join\n  command = cp a.o b.o\nbuild b.o: join a.o | libx.so.1.2\n";
    project.write("build/build.ninja", &format!("{file}{rule}"));
    project.write("build/libx.so.1.2", "");
    project.ninja();
    assert_eq!(project.map().errors, []);
}

#[test]
fn device_code_that_was_compiled_to_no_object_is_said() {
    let project = Project::host();
    let file = fs_err::read_to_string(project.build().join("build.ninja")).unwrap();
    let rules =
        "rule make\n  command = echo > $out\nrule whole\n  command = g++ -shared $in -o $out\n";
    let steps = "build k.cubin: make ../k.cu\nbuild k.ptx: make\nbuild never.fatbin: make ../k.cu\n\
                 build merged.fatbin: make k.cubin k.ptx\nbuild notes.txt: make ../k.cu\n\
                 build libhost.so: whole ../a.cpp\ndefault a.o merged.fatbin notes.txt libhost.so\n";
    project.write("build/build.ninja", &format!("{file}{rules}{steps}"));
    project.write("k.cu", "");
    project.ninja();
    let map = project.map();
    let unsupported = "unsupported";
    assert_eq!(
        against(&map),
        [("k.cubin", unsupported), ("k.ptx", unsupported)]
    );
    assert!(map.objects.is_empty() && map.incomplete);

    let database = r#"[{"directory": ".", "file": "../k.cu", "output": "k.hsaco"}]"#;
    project.write("build/compile_commands.json", database);
    project.write("build/k.hsaco", "");
    assert!(against(&project.map()).contains(&("k.hsaco", unsupported)));
}

#[test]
fn a_program_with_kernels_that_was_made_in_one_step_is_said() {
    let project = Project::host();
    let file = fs_err::read_to_string(project.build().join("build.ninja")).unwrap();
    let nvcc = toolchain::nvcc().display().to_string();
    let flags = "-arch=sm_80 -cudart=none -shared -Xcompiler=-fPIC";
    let rule = format!("rule whole\n  command = {nvcc} {flags} -o $out $in\n");
    let step = "build libk.so: whole ../k.cu\n";
    project.write("build/build.ninja", &format!("{file}{rule}{step}"));
    project.write("k.cu", "__global__ void k(int *p) { *p = 1; }\n");
    project.ninja();
    assert_eq!(against(&project.map()), [("libk.so", "unsupported")]);
}
