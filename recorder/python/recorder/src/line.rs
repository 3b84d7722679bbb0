//! Lines of fields between tabs.

use std::fmt::Write as _;

/// Whether text can stand in a field as it is. A reader splits at tabs and line ends; anything that some
/// reader takes for a line's end is left out with them.
pub(crate) fn is_plain(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}

/// Whether text reads back as itself, and is what the interpreter said.
pub(crate) fn is_writable(text: &str) -> bool {
    is_plain(text) && !text.is_empty() && !text.starts_with('#') && !text.contains('\u{fffd}')
}

/// Appends text with what would end a field or line as `%0A`.
fn push_escaped(line: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(line, "%{byte:02X}");
            }
        } else {
            line.push(c);
        }
    }
}

/// Appends `<tab>key=value`.
pub(crate) fn push_field(line: &mut String, key: &str, value: &str) {
    line.push('\t');
    line.push_str(key);
    line.push('=');
    push_escaped(line, value);
}
