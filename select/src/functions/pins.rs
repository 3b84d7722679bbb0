//! Lists of requirements: which distributions have another pin.

use super::libraries::normal;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a file is a list of requirements: `requirements*.txt`, `constraints*.txt`, or any `.txt` in a folder
/// `requirements`.
pub(super) fn is_requirements(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_text = name.strip_suffix(".txt");
    let is_named = |start: &str| name.starts_with(start);
    is_text.is_some()
        && (is_named("requirements")
            || is_named("constraints")
            || folder.rsplit('/').next() == Some("requirements"))
}

/// The distributions, by normal name, whose pins differ; `None` if anything else in the list does. Comments and the
/// order of pins do not count.
pub(super) fn changed_pins(base: &[u8], head: &[u8]) -> Option<BTreeSet<String>> {
    let base = List::read(base)?;
    let head = List::read(head)?;
    if base.others != head.others {
        return None;
    }
    let names = base.pins.keys().chain(head.pins.keys());
    let differing = names.filter(|&name| base.pins.get(name) != head.pins.get(name));
    Some(differing.cloned().collect())
}

#[derive(Default)]
struct List {
    /// By normal name, all that each pin of it says.
    pins: BTreeMap<String, BTreeSet<String>>,
    /// Lines of any other kind, in their order.
    others: Vec<String>,
}

impl List {
    fn read(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        if text.chars().any(ends_lines_for_some) {
            return None;
        }
        let mut list = Self::default();
        for line in joined(text) {
            let line = without_comment(&line);
            if line.is_empty() {
                continue;
            }
            match pin(line) {
                Some((name, rest)) => _ = list.pins.entry(name).or_default().insert(rest),
                None => list.others.push(line.to_owned()),
            }
        }
        Some(list)
    }
}

/// Whether pip, as Python does, ends a line at a character at which others do not.
fn ends_lines_for_some(c: char) -> bool {
    let is_plain = matches!(c, '\t' | '\n' | '\r');
    (c.is_control() && !is_plain) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The lines as pip joins them: one that ends in a backslash goes on, but never a comment, and never past one.
fn joined(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut begun: Option<String> = None;
    for line in text
        .split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
    {
        let is_comment = line.trim_start().starts_with('#');
        match line.strip_suffix('\\') {
            Some(start) if !is_comment => begun.get_or_insert_default().push_str(start),
            _ => {
                let mut whole = begun.take().unwrap_or_default();
                // So that the comment is one, wherever it was joined to.
                whole.push_str(if is_comment { " " } else { "" });
                whole.push_str(line);
                lines.push(whole);
            }
        }
    }
    lines.extend(begun);
    lines
}

/// A `#` at the start, or after white space.
fn without_comment(line: &str) -> &str {
    let mut starts = line.match_indices('#').map(|(at, _)| at);
    let is_start = |at: &usize| {
        line[..*at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace)
    };
    let end = starts.find(is_start).unwrap_or(line.len());
    line[..end].trim()
}

/// `name[extras]==version`, perhaps with a marker and hashes: the normal name, and everything else.
fn pin(line: &str) -> Option<(String, String)> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = line.find(|c| !is_of_name(c))?;
    let (name, mut rest) = line.split_at(end);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    rest = rest.trim_start();
    let mut said = String::new();
    if let Some(extras) = rest.strip_prefix('[') {
        let (extras, after) = extras.split_once(']')?;
        said.extend(["[", extras, "]"]);
        rest = after.trim_start();
    }
    let version = rest
        .strip_prefix("==")?
        .trim_start_matches('=')
        .trim_start();
    let is_of_version = |c: char| c.is_ascii_alphanumeric() || "-_.+!*".contains(c);
    let end = version.find(|c| !is_of_version(c)).unwrap_or(version.len());
    let (version, rest) = version.split_at(end);
    let rest = rest.trim_start();
    let is_pin = is_name && !version.is_empty();
    let is_known_rest = rest.is_empty() || rest.starts_with(';') || rest.starts_with("--hash=");
    said.extend(["==", version, rest]);
    (is_pin && is_known_rest).then(|| (normal(name), said))
}

#[cfg(test)]
mod tests {
    use super::{changed_pins, is_requirements};

    fn changed(base: &str, head: &str) -> Option<String> {
        let names = changed_pins(base.as_bytes(), head.as_bytes())?;
        Some(names.into_iter().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_list_of_requirements_is_told_by_its_name() {
        for path in [
            "requirements.txt",
            "requirements-cuda.txt",
            "a/requirements/rocm.txt",
            "constraints.txt",
        ] {
            assert!(is_requirements(path), "{path}");
        }
        for path in [
            "requirements.md",
            "docs/notes.txt",
            "requirements/a.in",
            "pyproject.toml",
        ] {
            assert!(!is_requirements(path), "{path}");
        }
    }

    #[test]
    fn only_pins_are_understood() {
        let base = "# about\n-r other.txt\ntorch==2.9.0\nnumpy[all] == 1.26 ; python_version < '3.13'  # why\nxformers>=1\n";
        for (from, to, expected) in [
            ("torch==2.9.0", "torch==2.9.1", Some("torch")),
            ("torch==2.9.0", "Torch===2.9.1", Some("torch")),
            ("1.26 ;", "2.0 ;", Some("numpy")),
            ("< '3.13'", "< '3.14'", Some("numpy")),
            ("torch==2.9.0\n", "", Some("torch")),
            ("torch==2.9.0", "torch==2.9.0\naiter-x==1", Some("aiter-x")),
            ("# about", "# other", Some("")),
            (
                "torch==2.9.0",
                "torch==2.9.0 --hash=sha256:00",
                Some("torch"),
            ),
            (
                "torch==2.9.0",
                "torch==2.9.0 \\\n    --hash=sha256:00",
                Some("torch"),
            ),
            ("torch==2.9.0", "torch>=2.9.0", None),
            ("torch==2.9.0", "torch @ https://host/x.whl", None),
            ("torch==2.9.0", "torch==2.9.0 -- what", None),
            ("torch==2.9.0", "torch==2.9.0,<3", None),
            ("-r other.txt", "-r another.txt", None),
            ("xformers>=1", "xformers>=2", None),
            ("xformers>=1", "xformers==2", None),
            // A comment does not go on, and nothing goes on past one.
            ("torch==2.9.0", "# note \\\ntorch==2.9.1", Some("torch")),
            (
                "torch==2.9.0",
                "bar==1 \\\n  # note \\\ntorch==2.9.1",
                Some("bar torch"),
            ),
            ("torch==2.9.0", "tor\\\nch==2.9.1", Some("torch")),
            // Python ends lines at more characters than others do.
            ("# about", "# about\u{c}foo==1", None),
            ("# about", "# about\u{2028}foo==1", None),
        ] {
            let head = base.replacen(from, to, 1);
            assert_eq!(changed(base, &head).as_deref(), expected, "{to}");
            assert_eq!(changed(&head, base).as_deref(), expected, "{to}, back");
        }
        assert_eq!(changed_pins(b"\xff", b""), None);
    }
}
