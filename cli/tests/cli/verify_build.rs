//! `kernrec verify build`, over small libraries that the C compiler makes.

use crate::context::{Context, Ran};
use std::process::Command;

/// Makes a shared library without a C library below it.
fn library(context: &Context, name: &str, source: &str, flags: &[&str]) {
    let source = context.write("source.c", source);
    let output = context.write(name, "");
    let status = Command::new("cc")
        .args(["-shared", "-nostdlib", "-fPIC", "-Wl,--build-id=none", "-o"])
        .args([&output, &source])
        .args(flags)
        .current_dir(context.path("."))
        .status()
        .unwrap();
    assert!(
        status.success(),
        "the C compiler that builds this workspace"
    );
}

/// The folders `a` and `b` with the same library, but for what it returns.
fn two_builds(first: u32, second: u32) -> Context {
    let context = Context::new();
    for (folder, value) in [("a", first), ("b", second)] {
        let source = format!("int f(void) {{ return {value}; }}");
        library(&context, &format!("{folder}/libx.so"), &source, &[]);
    }
    context
}

fn says(ran: &Ran, status: i32, words: &[&str]) {
    assert_eq!(ran.status, status, "{ran}");
    let row = ran
        .stdout
        .lines()
        .find(|line| line.trim_start().starts_with("lib"));
    let found: Vec<&str> = row.unwrap_or_default().split_whitespace().collect();
    assert!(
        words.iter().all(|word| found.contains(word)),
        "{words:?} in {ran}"
    );
}

#[test]
fn two_builds_are_compared_section_by_section() {
    let same = two_builds(1, 1);
    says(
        &same.kernrec(["verify", "build", "a", "b"]),
        0,
        &["libx.so", "same"],
    );
    let other = two_builds(1, 2);
    says(
        &other.kernrec(["verify", "build", "a", "b"]),
        3,
        &["libx.so", "different", ".text"],
    );
    other.write("b/more", "text");
    let ran = other.kernrec(["verify", "build", "b", "a"]);
    assert!(ran.stdout.contains("only-in-a"), "{ran}");
    // Nothing but the header's padding, which belongs to no section.
    let mut bytes = fs_err::read(other.path("a/libx.so")).unwrap();
    bytes[9] = 1;
    other.write("b/libx.so", bytes);
    let ran = other.kernrec(["verify", "build", "a", "b"]);
    says(&ran, 3, &["different", "outside-sections"]);
}

#[test]
fn digests_that_were_recorded_are_expected() {
    let context = two_builds(1, 2);
    context.write("a/program", "not a library");
    let ran = context.kernrec(["verify", "build", "a", "--record", "digests"]);
    assert_eq!(ran.status, 0, "{ran}");
    let written = fs_err::read_to_string(context.path("digests")).unwrap();
    assert!(
        written.contains("\nlibx.so b3:") && written.contains(" sha256:"),
        "{written}"
    );
    assert!(!written.contains("program"), "{written}");
    let expect = |folder| context.kernrec(["verify", "build", folder, "--expect", "digests"]);
    says(&expect("a"), 0, &["libx.so", "same"]);
    let ran = expect("b");
    says(&ran, 3, &["libx.so", "different", ".text"]);
    assert!(
        ran.stderr
            .contains("`scripts/cross-build.sh --libraries --record`"),
        "{ran}"
    );
}

#[test]
fn digests_of_no_library_are_not_recorded() {
    let context = Context::new();
    context.write("a/program", "not a library");
    context.write("digests", "what was expected\n");
    let ran = context.kernrec(["verify", "build", "a", "--record", "digests"]);
    assert_eq!(ran.status, 3, "{ran}");
    let kept = fs_err::read_to_string(context.path("digests")).unwrap();
    assert_eq!(kept, "what was expected\n");
}

#[test]
fn the_programs_own_digests_are_the_default() {
    let context = two_builds(1, 1);
    let ran = context.kernrec(["verify", "build", "a"]);
    assert_eq!(ran.status, 3, "{ran}");
    let libraries = [
        "libkernrec_cupti.so",
        "libkernrec_cupti_forwarders.so",
        "libkernrec_rocprofiler.so",
    ];
    for name in libraries {
        let mut lines = ran.stdout.lines();
        assert!(
            lines.any(|line| line.contains(name) && line.contains("missing")),
            "{ran}"
        );
    }
}

#[test]
fn what_it_is_linked_against_is_looked_at() {
    let context = Context::new();
    library(&context, "libcupti.so.13", "int c(void) { return 1; }", &[]);
    let flags = ["-Wl,--no-as-needed", "-L.", "-l:libcupti.so.13"];
    library(&context, "a/libx.so", "int f(void) { return 1; }", &flags);
    let ran = context.kernrec(["verify", "build", "a", "a"]);
    says(&ran, 3, &["same", "linked-against-libcupti.so.13"]);
}

#[test]
fn the_c_library_it_needs_is_looked_at() {
    let context = Context::new();
    let source = "int getpid(void); int f(void) { return getpid(); }";
    library(&context, "a/libx.so", source, &["-lc"]);
    let floor = |version| context.kernrec(["verify", "build", "a", "a", "--glibc", version]);
    says(&floor("99.1"), 0, &["same"]);
    says(&floor("2.2"), 3, &["same", "glibc-2.2.5"]);
    assert_eq!(floor("new").status, 2);
}

#[test]
fn what_is_no_build_is_refused() {
    let context = two_builds(1, 1);
    let bytes = fs_err::read(context.path("a/libx.so")).unwrap();
    context.write("cut/libx.so", &bytes[..bytes.len() / 2]);
    fs_err::create_dir(context.path("empty")).unwrap();
    context.write("digests", "libx.so b3:12 sha256:34\n");
    let made = Command::new("mkfifo").arg(context.path("fifo")).status();
    assert!(made.unwrap().success());
    for (arguments, status, word) in [
        (["cut", "a"], 1, "bad-elf"),
        (["empty", "a"], 3, "nothing-built"),
        (["absent", "a"], 1, "file-error"),
        (["a", "--expect=digests"], 1, "bad-digests"),
        (["a", "--expect=absent"], 1, "file-error"),
        (["a", "--expect=fifo"], 1, "not-a-regular-file"),
    ] {
        let [first, second] = arguments;
        let ran = context.kernrec(["verify", "build", first, second]);
        assert_eq!(ran.status, status, "{ran}");
        assert!(ran.stderr.contains(&format!("error: {word}: ")), "{ran}");
    }
}

#[test]
fn a_file_that_claims_more_than_it_holds_is_refused() {
    // Forty thousand sections of one name, each with the whole file: what is hashed would be without end.
    let sections: u16 = 40_000;
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend([3_u16, 62].map(u16::to_le_bytes).concat());
    bytes.extend([1_u32, 0, 0, 0, 0].map(u32::to_le_bytes).concat());
    bytes.extend(64_u64.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend([64, 0, 0, 64, sections, 1].map(u16::to_le_bytes).concat());
    let size = 64 * (u64::from(sections) + 1);
    let section = |name: u32, kind: u32, at: u64, size: u64| {
        let numbers = [0, 0, at, size, 0, 1, 0].map(u64::to_le_bytes).concat();
        [[name, kind].map(u32::to_le_bytes).concat(), numbers].concat()
    };
    bytes.extend([0; 64]);
    bytes.extend(section(0, 3, size, 64));
    for _ in 2..sections {
        bytes.extend(section(1, 1, 0, size));
    }
    bytes.extend(b"\0.same\0");
    bytes.resize(usize::try_from(size + 64).unwrap(), 0);
    let context = Context::new();
    context.write("a/libx.so", &bytes);
    let ran = context.kernrec(["verify", "build", "a", "a"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("bad-elf"), "{ran}");
    assert!(ran.stderr.contains("more than the file"), "{ran}");
}

#[test]
fn sections_of_one_name_are_told_apart_by_their_order() {
    let context = two_builds(1, 1);
    for (folder, value) in [("a", 3), ("b", 4)] {
        let source = format!(
            "__asm__(\".section .twice,\\\"a\\\",@note,unique,1;.byte 1;.section .twice,\\\"a\\\",@progbits,unique,2;.byte {value}\");int f(void) {{ return 1; }}"
        );
        let source = context.write("source.c", &source);
        let status = Command::new("cc")
            .args(["-c", "-o"])
            .args([&context.path(&format!("{folder}/libx.so")), &source])
            .status()
            .unwrap();
        assert!(status.success());
    }
    let ran = context.kernrec(["verify", "build", "a", "b"]);
    says(&ran, 3, &["different", ".twice#2"]);
}
