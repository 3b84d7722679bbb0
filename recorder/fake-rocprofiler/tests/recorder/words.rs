//! Every error word of an AMD recording stands in docs/rocm.md, and some test makes it happen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What stands before a word where it is made.
const MAKERS: [&str; 14] = [
    "INVALID_NAME: &str = \"",
    "FAILED: &str = \"",
    "INVALID: &str = \"",
    "REPEATED: &str = \"",
    "ZERO: &str = \"",
    "SCATTERED: &str = \"",
    "error(\"",
    "failed(\"",
    "failure(\"",
    "guarded(\"",
    "Err(\"",
    "|_| \"",
    "Full => \"",
    "b\"# error=",
];

/// A bug of the recorder makes these, and no test can.
const OF_BUGS: [&str; 3] = [
    "panic",
    "symbol_callback_exception",
    "dispatch_callback_exception",
];

fn recorder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of every source file in a folder.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                text.push_str(&fs_err::read_to_string(path).expect("a source"));
            }
        }
    }
    text
}

fn words() -> BTreeSet<String> {
    let made =
        ["rocprofiler/src", "trace-writer/src"].map(|folder| sources(&recorder().join(folder)));
    let mut words = BTreeSet::new();
    for (source, maker) in made
        .iter()
        .flat_map(|text| MAKERS.map(|maker| (text, maker)))
    {
        let found = source.split(maker).skip(1);
        words.extend(
            found.filter_map(|rest| rest.split(['"', '\\', ' ']).next().map(str::to_owned)),
        );
    }
    // Where the word is a variable.
    words.remove("");
    words
}

#[test]
fn every_error_word_is_documented_and_made_to_happen() {
    let page = fs_err::read_to_string(recorder().join("../docs/rocm.md")).unwrap();
    let tests = ["fake-rocprofiler/tests", "trace-writer/tests"]
        .map(|folder| sources(&recorder().join(folder)))
        .concat()
        + &fs_err::read_to_string(recorder().join("rocprofiler/src/tests.rs")).unwrap();
    let words = words();
    assert!(words.len() > 30, "the words are found: {words:?}");
    for word in words {
        assert!(page.contains(&format!("`{word}`")), "no row for {word}");
        let tested = [format!("\"{word}\""), format!("error={word}")];
        assert!(
            OF_BUGS.contains(&word.as_str())
                || tested.iter().any(|text| tests.contains(text.as_str())),
            "no test for {word}"
        );
    }
}
