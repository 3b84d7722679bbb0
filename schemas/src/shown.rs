//! Text of others, for people: what recordings, documents and file names say must not steer a terminal.

use std::borrow::Cow;

/// The text with every character escaped that a terminal would act on or that hides what follows: control
/// characters, line ends included, and those that set the direction of text or have no width.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, steers)
}

/// As [`printable`], for a text of several lines: line ends stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && steers(c))
}

fn escaped(text: &str, escape: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&escape) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if escape(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Control characters; and of Unicode's format characters those of bidirectional text and of no width.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{printable, printable_lines};
    use std::borrow::Cow;

    #[test]
    fn plain_text_stays_as_it_is() {
        for text in ["", "_Z3foov", "op-äöü 核 …", "a b`c'\\"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn what_a_terminal_acts_on_is_spelled_out() {
        assert_eq!(printable("a\u{1b}[2J\nb"), "a\\u{1b}[2J\\nb");
        assert_eq!(
            printable("gpj.\u{202e}exe\u{200b}"),
            "gpj.\\u{202e}exe\\u{200b}"
        );
        assert_eq!(printable("\u{9b}1m\r\t\0"), "\\u{9b}1m\\r\\t\\u{0}");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(printable_lines("a\nb\rc"), "a\nb\\rc");
    }
}
