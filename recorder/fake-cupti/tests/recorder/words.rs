//! Every error word of a recording stands in docs/recording.md, and some test of this crate or of the trace writer makes
//! it happen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What stands before a word where it is made.
const MAKERS: [&str; 7] = [
    "INVALID_NAME: &str = \"",
    "error(\"",
    "drain(cupti, \"",
    "Memory(\"",
    "Full => \"",
    "=> Some(\"",
    "b\"# error=",
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
    let made = ["cupti/src", "cupti-watch/src", "trace-writer/src"]
        .map(|folder| sources(&recorder().join(folder)));
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
    // Of AMD recordings only.
    words.remove("lost");
    words
}

#[test]
fn every_error_word_is_documented_and_made_to_happen() {
    let page = fs_err::read_to_string(recorder().join("../docs/recording.md")).unwrap();
    let tests = sources(&recorder().join("fake-cupti/tests"))
        + &sources(&recorder().join("trace-writer/tests"));
    let words = words();
    assert!(words.len() > 30, "the words are found: {words:?}");
    for word in words {
        assert!(page.contains(&format!("`{word}`")), "no row for {word}");
        let tested = [format!("\"{word}\""), format!("error={word}")];
        assert!(
            tested.iter().any(|text| tests.contains(text.as_str())),
            "no test for {word}"
        );
    }
}
