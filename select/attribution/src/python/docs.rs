//! Docstrings: text that is there to be read by people, unless the program reads it.

use tree_sitter::Node;

/// Words by which a program reads docstrings.
const READERS: [&str; 3] = ["__doc__", "getdoc", "doctest"];

/// Whether a file says anywhere that it reads docstrings.
pub(super) fn are_read(text: &str) -> bool {
    READERS.iter().any(|word| text.contains(word))
}

/// The docstring of a body: its first statement, if that is a plain string and nothing else.
pub(super) fn docstring<'t>(body: Node<'t>, text: &str) -> Option<Node<'t>> {
    let mut cursor = body.walk();
    let first = body
        .named_children(&mut cursor)
        .find(|child| !child.is_extra())?;
    if first.kind() != "expression_statement" || first.named_child_count() != 1 {
        return None;
    }
    let only = first.named_child(0)?;
    let is_plain = match only.kind() {
        "string" => is_plain_string(only, text),
        "concatenated_string" => {
            let mut cursor = only.walk();
            let mut parts = only.named_children(&mut cursor);
            parts.all(|part| part.kind() == "string" && is_plain_string(part, text))
        }
        _ => false,
    };
    (is_plain && first.child_count() == 1).then_some(first)
}

/// No bytes, no interpolation.
fn is_plain_string(string: Node<'_>, text: &str) -> bool {
    let start = string.child(0).map(|start| start.byte_range());
    let prefix = start.and_then(|range| text.get(range)).unwrap_or("b");
    prefix
        .chars()
        .all(|c| matches!(c, 'r' | 'R' | 'u' | 'U' | '"' | '\''))
}
