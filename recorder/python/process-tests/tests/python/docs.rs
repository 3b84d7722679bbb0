//! What the documentation says of the recorder's words.

use kernrec_python_payload::Layout;
use kernrec_python_recorder::Trouble;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_error_word_has_a_row_and_every_row_a_word() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/python-recorder.md");
    let text = fs_err::read_to_string(path).unwrap();
    let table = text.split("<!-- error-words -->").nth(1).unwrap();
    let table = table.split("<!-- end of error-words -->").next().unwrap();
    let rows: BTreeSet<String> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(word, _)| word.to_owned())
        .filter(|word| word != "#error")
        .collect();
    let mut words: BTreeSet<String> = Trouble::ALL.map(|t| t.word().to_owned()).into();
    for (path, text) in Layout::Path.files() {
        if path == "_kernrec_python/_watch.py" {
            words.extend(returned(&text));
        }
    }
    assert_eq!(rows, words);
}

/// The words that the bootstrap's functions give for what is in the way.
fn returned(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim);
    lines.filter_map(|line| {
        let word = line
            .strip_prefix("return \"")
            .or(line.strip_prefix("trouble = \""))?;
        Some(word.strip_suffix('"')?.to_owned())
    })
}
