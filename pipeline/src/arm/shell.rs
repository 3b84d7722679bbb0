//! Which texts a sub-shell can be put around without changing what they do.

/// Why a text must be left alone: the stable word.
pub(super) fn not_wrappable(text: &str) -> Option<&'static str> {
    if has_open_here_document(text) {
        // It would take what follows for its own.
        return Some("open-here-document");
    }
    // A shell reads a sub-shell to its end before it runs any of it, so a new word is not known within.
    let parts = text.split(['\n', ';', '&', '|', '{', '(']);
    let defines = |part: &str| {
        let mut words = part.split_whitespace();
        words.next() == Some("alias") && words.next().is_some_and(|word| word.contains('='))
    };
    parts.clone().any(defines).then_some("alias")
}

/// Whether a here-document may have no end. What only looks like one counts as one.
fn has_open_here_document(text: &str) -> bool {
    let mut pending: Vec<(bool, String)> = Vec::new();
    for line in text.lines() {
        if let Some((tabs, word)) = pending.first() {
            let line = if *tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line == word {
                pending.remove(0);
            }
            continue;
        }
        pending = here_documents(line);
    }
    !pending.is_empty()
}

/// The here-documents that begin in a line: whether tabs are stripped, and the word that ends each.
fn here_documents(line: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find("<<") {
        rest = &rest[at + 2..];
        if let Some(after) = rest.strip_prefix('<') {
            rest = after;
            continue;
        }
        let tabs = rest.starts_with('-');
        let word = rest.trim_start_matches('-').trim_start();
        let end = word
            .find(|c: char| c.is_whitespace() || ";&|<>()".contains(c))
            .unwrap_or(word.len());
        let word: String = word[..end]
            .chars()
            .filter(|c| !"'\"\\".contains(*c))
            .collect();
        found.push((tabs, word));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_sub_shell_would_change_is_left_alone() {
        for (text, expected) in [
            ("pytest a # comment", None),
            ("cat <<EOF\nx\nEOF", None),
            ("cat <<'A' <<-\"B\"\n1\nA\n2\n\tB\necho", None),
            ("cat <<< word", None),
            ("cat <<EOF\nx", Some("open-here-document")),
            ("cat <<EOF\n EOF", Some("open-here-document")),
            ("cat <<A <<B\nA", Some("open-here-document")),
            ("echo $((1<<2))", Some("open-here-document")),
            ("alias python=python3\npython x", Some("alias")),
            ("true && alias a='b c'", Some("alias")),
            ("echo alias; type alias", None),
        ] {
            assert_eq!(not_wrappable(text), expected, "{text}");
        }
    }
}
