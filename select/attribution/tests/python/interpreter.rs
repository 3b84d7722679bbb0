//! Held against the interpreter itself: its names, its lines, and what its compiler says has changed.

use kernrec_attribution::{CodeObject, CodeObjectKind, PythonAttribution, PythonReader, PythonWhy};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every construct that makes a code object, or might.
const SAMPLE: &str = include_str!("sample.py");

/// How many edits of each file are compared.
const EDITS: &str = "3";

/// What `scripts/install-python-tests.sh` installed.
fn installed() -> PathBuf {
    std::env::var_os("KERNREC_PYTHON_TESTS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.python-tests"),
        PathBuf::from,
    )
}

fn pythons() -> [PathBuf; 2] {
    ["3.12", "3.13"].map(|version| {
        let python = installed().join(format!("venv-{version}/bin/python"));
        assert!(
            python.is_file(),
            "no {}: run scripts/install-python-tests.sh",
            python.display()
        );
        python
    })
}

/// A real library of pure Python.
fn library() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![installed().join("source/docutils")];
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 100, "only {} files", files.len());
    files
}

fn run<T: DeserializeOwned>(
    python: &Path,
    script: &str,
    arguments: &[&str],
    files: &[PathBuf],
) -> Vec<T> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/python")
        .join(script);
    let output = Command::new(python)
        .arg("-I")
        .arg(script)
        .args(arguments)
        .args(files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[derive(Deserialize)]
struct Compiled {
    file: PathBuf,
    /// Name, where it starts, and the first and last line that any of its code is from.
    objects: Vec<(String, u32, u32, u32)>,
}

fn is_found(object: &(String, u32, u32, u32), found: &[CodeObject]) -> bool {
    let (name, start, first, last) = object;
    // An annotation's code is told by its value's line, which need not be the line that it starts at here.
    found.iter().any(|candidate| {
        candidate.name == *name
            && (candidate.first_line == *start || candidate.kind == CodeObjectKind::Annotation)
            && candidate.first_line <= *first
            && candidate.last_line >= *last
    })
}

/// Every code object of the files has its name and lines; how many there were.
fn check_code_objects(python: &Path, files: &[PathBuf]) -> usize {
    let mut reader = PythonReader::default();
    let mut count = 0;
    for compiled in run::<Compiled>(python, "code_objects.py", &[], files) {
        let text = fs_err::read(&compiled.file).unwrap();
        let found = reader.code_objects(&text);
        let found = found.unwrap_or_else(|why| panic!("{}: {why}", compiled.file.display()));
        for object in &compiled.objects {
            assert!(
                is_found(object, &found),
                "{}: {object:?}\n{:#?}",
                compiled.file.display(),
                found
                    .iter()
                    .map(|o| format!("{} {}-{}", o.name, o.first_line, o.last_line))
                    .collect::<Vec<_>>()
            );
        }
        count += compiled.objects.len();
    }
    count
}

#[test]
fn every_code_object_of_a_library_has_its_name_and_lines() {
    for python in pythons() {
        assert!(check_code_objects(&python, &library()) > 3000);
    }
}

#[test]
fn every_construct_that_makes_a_code_object_has_its_name_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sample.py");
    fs_err::write(&file, SAMPLE).unwrap();
    for python in pythons() {
        assert!(check_code_objects(&python, std::slice::from_ref(&file)) > 60);
    }
}

#[derive(Deserialize)]
struct Edited {
    file: PathBuf,
    head: String,
    changed: Vec<String>,
}

/// What the compiler says has changed is never missing (3.12: later ones put the line into a class). Random edits of real code and of every construct.
#[test]
fn no_change_that_the_compiler_sees_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let sample = folder.path().join("sample.py");
    fs_err::write(&sample, SAMPLE).unwrap();
    let mut reader = PythonReader::default();
    let mut files = library();
    files.extend(std::iter::repeat_n(sample, 40));
    let (mut edits, mut whole, mut named) = (0, 0, 0);
    for edit in run::<Edited>(&pythons()[0], "edits.py", &["1", EDITS], &files) {
        let base = fs_err::read(&edit.file).unwrap();
        edits += 1;
        match reader.compare(&base, edit.head.as_bytes()) {
            PythonAttribution::Whole(PythonWhy::SyntaxError) => whole += 1,
            PythonAttribution::Whole(why) => panic!("{}: {why}", edit.file.display()),
            PythonAttribution::Functions(found) => {
                let objects = reader.code_objects(&base).unwrap();
                for name in edit
                    .changed
                    .iter()
                    .filter(|name| is_function(name, &objects))
                {
                    named += 1;
                    assert!(
                        found.names.contains(name),
                        "{}: `{name}` is not in {:?}; what the edit made:\n{}",
                        edit.file.display(),
                        found.names,
                        difference(&base, &edit.head)
                    );
                }
            }
        }
    }
    assert!(
        edits > 400 && named > edits / 2,
        "{named} changes in {edits} edits"
    );
    // The grammar is not the interpreter's; what it cannot read counts whole, and must stay rare.
    assert!(
        whole * 20 < edits,
        "{whole} of {edits} edits could not be read"
    );
}

/// What annotations are compiled to is part of what surrounds it.
fn is_function(name: &str, objects: &[CodeObject]) -> bool {
    let mut named = objects.iter().filter(|object| object.name == name);
    named.all(|object| object.kind != CodeObjectKind::Annotation)
}

/// Where the sides begin to differ.
fn difference(base: &[u8], head: &str) -> String {
    let base = String::from_utf8_lossy(base);
    let same = base.lines().zip(head.lines()).take_while(|(b, h)| b == h);
    let at = same.count();
    let around = |text: &str| {
        let lines = text.lines().skip(at.saturating_sub(2)).take(8);
        lines.collect::<Vec<_>>().join("\n")
    };
    format!("{}\n---\n{}", around(&base), around(head))
}
