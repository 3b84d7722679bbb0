//! Ninja's records made here: both versions, and every defect.

use super::deps_log::RecordedTime;
use super::{BuildFile, BuildLog, DepsLog};
use crate::input::{Reason, Span};
use proptest::prelude::*;
use std::collections::HashMap;

/// A dependency log: paths are numbered in order, then one record.
fn log(version: u32, paths: &[&str], time: u64, numbers: &[u32]) -> Vec<u8> {
    let mut out = b"# ninjadeps\n".to_vec();
    out.extend(version.to_le_bytes());
    for (number, path) in (0_u32..).zip(paths) {
        let padded = path.len().next_multiple_of(4);
        out.extend(u32::try_from(padded + 4).unwrap().to_le_bytes());
        out.extend(path.as_bytes());
        out.resize(out.len() + padded - path.len(), 0);
        out.extend((!number).to_le_bytes());
    }
    let words = numbers.len() + if version == 3 { 1 } else { 2 };
    out.extend((u32::try_from(words * 4).unwrap() | 1 << 31).to_le_bytes());
    out.extend(numbers[0].to_le_bytes());
    if version == 3 {
        out.extend(u32::try_from(time).unwrap().to_le_bytes());
    } else {
        out.extend(time.to_le_bytes());
    }
    for number in &numbers[1..] {
        out.extend(number.to_le_bytes());
    }
    out
}

fn parse(bytes: &[u8]) -> Result<DepsLog, Reason> {
    DepsLog::parse(Span::new(bytes, 0)).map_err(|fault| fault.reason)
}

#[test]
fn both_versions_of_the_dependency_log() {
    let paths = ["a.o", "src/a.cu", "odd name.h"];
    let old = parse(&log(3, &paths, 1000, &[0, 1, 2])).unwrap();
    let inputs = vec!["src/a.cu", "odd name.h"];
    assert_eq!(
        old.inputs("a.o"),
        Some((RecordedTime::Seconds(1000), inputs.clone()))
    );
    let new = parse(&log(4, &paths, 1_000_000_000_001, &[0, 1, 2])).unwrap();
    assert_eq!(
        new.inputs("a.o"),
        Some((RecordedTime::Nanoseconds(1_000_000_000_001), inputs))
    );
    assert_eq!(new.inputs("src/a.cu"), None);
    assert_eq!(new.inputs("b.o"), None);
}

#[test]
fn a_later_record_replaces_an_earlier_one() {
    let mut bytes = log(4, &["a.o", "x", "y"], 5, &[0, 1]);
    bytes.extend(&log(4, &[], 9, &[0, 2])[16..]);
    let found = parse(&bytes).unwrap();
    assert_eq!(
        found.inputs("a.o"),
        Some((RecordedTime::Nanoseconds(9), vec!["y"]))
    );
}

#[test]
fn records_cover_outputs_that_are_not_newer() {
    assert!(RecordedTime::Nanoseconds(10).covers(10));
    assert!(RecordedTime::Nanoseconds(10).covers(9));
    assert!(!RecordedTime::Nanoseconds(10).covers(11));
    assert!(!RecordedTime::Nanoseconds(0).covers(-1));
    assert!(RecordedTime::Seconds(1).covers(1_999_999_999));
    assert!(!RecordedTime::Seconds(1).covers(2_000_000_000));
}

#[test]
fn broken_dependency_logs_are_errors() {
    let good = log(4, &["a.o", "x"], 5, &[0, 1]);
    for cut in (17..good.len()).filter(|cut| ![28, 40].contains(cut)) {
        assert!(parse(&good[..cut]).is_err(), "cut at {cut}");
    }
    assert_eq!(
        parse(b"# ninjalogs\n\x04\0\0\0").unwrap_err(),
        Reason::Malformed
    );
    assert_eq!(
        parse(b"# ninjadeps\n\x05\0\0\0").unwrap_err(),
        Reason::Unsupported
    );
    assert!(
        parse(&log(4, &["a.o"], 5, &[0, 1])).is_err(),
        "a number of no path"
    );
    assert!(
        parse(&log(4, &["a.o", "a.o"], 5, &[0])).is_err(),
        "a path twice"
    );
}

#[test]
fn the_build_log_lists_what_was_made() {
    for version in 4..=7 {
        let text = format!("# ninja log v{version}\n1\t2\t3\ta.o\tff\n3\t4\t5\tb c.o\tee\n");
        let log = BuildLog::parse(text.as_bytes()).unwrap();
        assert!(log.made("a.o") && log.made("b c.o") && !log.made("c.o"));
    }
    for text in [
        "",
        "# ninja log v3\n",
        "# ninja log v5\n1\t2\t3\n",
        "text\n",
    ] {
        assert!(BuildLog::parse(text.as_bytes()).is_err(), "{text:?}");
    }
}

fn build_file(text: &str) -> (BuildFile, Vec<String>) {
    let mut file = BuildFile::default();
    let included = file.parse(text, &mut HashMap::new()).unwrap();
    (file, included)
}

#[test]
fn build_statements_with_escapes_variables_and_continuations() {
    let (file, included) = build_file(concat!(
        "# comment\nninja_required_version = 1.5\nroot = /src\ninclude rules.ninja\n",
        "rule cc\n  command = gcc $in -o $out\n",
        "build a$ b.o | side.d: cc ${root}/a$ b.cu $root/x$:y.cu | $\n    dep.h || order $\n  only |@ check\n",
        "  FLAGS = --offload-arch=gfx90a $root\n\n",
        "build all: phony a$ b.o\ndefault all\n",
    ));
    assert_eq!(included, ["rules.ninja"]);
    let edge = file.maker("a b.o").unwrap();
    assert_eq!(edge.rule, "cc");
    assert_eq!(edge.outputs, ["a b.o", "side.d"]);
    assert_eq!(edge.inputs, ["/src/a b.cu", "/src/x:y.cu"]);
    assert_eq!(edge.implicit, ["dep.h"]);
    assert_eq!(
        edge.bindings,
        [("FLAGS".to_owned(), "--offload-arch=gfx90a /src".to_owned())]
    );
    assert_eq!(file.maker("side.d"), Some(edge));
    assert_eq!(file.maker("all").unwrap().rule, "phony");
}

proptest! {
    #[test]
    fn noise_never_panics(
        noise in prop::collection::vec(any::<u8>(), 0..300), text in "[a-z $:|={}\n\t]{0,200}",
    ) {
        let mut bytes = b"# ninjadeps\n\x04\0\0\0".to_vec();
        bytes.extend(&noise);
        let _ = parse(&bytes);
        let _ = BuildLog::parse(&noise);
        let _ = BuildFile::default().parse(&text, &mut HashMap::new());
        let _ = BuildFile::default().parse(&format!("build {text}"), &mut HashMap::new());
    }
}

#[test]
fn variables_that_double_with_every_line_end_in_an_error() {
    use std::fmt::Write as _;
    let mut text = String::from("v0 = 0123456789abcdef\n");
    for line in 1..=60 {
        let _ = writeln!(text, "v{line} = $v{0}$v{0}", line - 1);
    }
    let fault = BuildFile::default().parse(&text, &mut HashMap::new());
    assert_eq!(fault.unwrap_err().reason, Reason::TooLarge);
}
