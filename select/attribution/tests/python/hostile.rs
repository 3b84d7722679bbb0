//! Texts that nobody writes.

use kernrec_attribution::{PythonAttribution, PythonReader, PythonWhy};
use proptest::prelude::*;

fn whole(text: &str) -> Option<PythonWhy> {
    match PythonReader::default().compare(b"x = 1\n", text.as_bytes()) {
        PythonAttribution::Whole(why) => Some(why),
        PythonAttribution::Functions(_) => None,
    }
}

#[test]
fn nesting_without_end_counts_whole() {
    for (open, inner, close) in [
        ("(", "x", ")"),
        ("[", "x", "]"),
        ("lambda x=", "1", ": 1"),
        ("(", "x", " for x in y)"),
        ("f(", "x", ")"),
        ("not ", "x", ""),
    ] {
        let text = format!("y = {}{inner}{}\n", open.repeat(5000), close.repeat(5000));
        assert!(whole(&text).is_some(), "{open}");
    }
    let blocks = (0..600).map(|depth| " ".repeat(depth) + "if x:\n");
    let blocks: String = blocks.collect();
    assert!(whole(&format!("{blocks}{}x\n", " ".repeat(600))).is_some());
}

/// What is written for two levels at once may not double at every one.
#[test]
fn a_file_takes_no_more_than_its_share_of_memory() {
    let inner = "a + ".repeat(100) + "a";
    let long = format!("[{}]", vec![inner; 2000].join(", "));
    let nested = format!(
        "y = {}{long}{}\n",
        "(".repeat(90),
        " for x in z)".repeat(90)
    );
    assert_eq!(whole(&nested), Some(PythonWhy::TooLarge));
}

proptest! {
    /// Any text has an answer, and a file that did not change has none.
    #[test]
    fn any_text_is_read_or_counts_whole(parts in prop::collection::vec(
        prop::sample::select(vec![
            "def f", "(", ")", ":", "\n", "\n    ", "class C", "lambda x", "@d\n", "\"\"\"", "'", "f'{", "}'", "for x in y",
            "if TYPE_CHECKING", "from typing import TYPE_CHECKING\n", "[", "]", "=", "x", ",", "#", "\\\n", "\t", "\u{c}",
            "async ", "type X", "match x", "case _", "global x", "yield", "*", "\u{e9}", "\u{feff}", "0", ".", "-> ",
        ]),
        0..60,
    )) {
        let text = parts.concat();
        let mut reader = PythonReader::default();
        let same = reader.compare(text.as_bytes(), text.as_bytes());
        let is_nothing = match same {
            PythonAttribution::Functions(found) => found.names.is_empty(),
            PythonAttribution::Whole(_) => true,
        };
        prop_assert!(is_nothing);
        let _ = reader.compare(text.as_bytes(), b"def f(): pass\n");
        let _ = reader.code_objects(text.as_bytes());
    }
}
