//! The command line, for people who ask what a process was, without anything that could be a secret.

use std::path::Path;

/// The longest text of a command line, in characters.
const MAX_CHARS: usize = 160;
/// A longer option's name is no option's name.
const MAX_OPTION: usize = 48;
/// What stands for an argument that is not shown.
const HIDDEN: &str = "***";

/// Of each argument what cannot be a secret: the program's file name, the names of long options, the letter
/// of a short one, and arguments that name a file or folder that is there. Nothing else, so that no list of
/// suspicious words has to be complete.
pub(crate) fn redact(arguments: &[String], exists: impl Fn(&Path) -> bool) -> String {
    let mut words = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        words.push(if index == 0 {
            program(argument)
        } else {
            word(argument, &exists)
        });
    }
    let text: String = words.join(" ");
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    text.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}

fn program(argument: &str) -> String {
    let name = argument.rsplit('/').next().unwrap_or_default();
    quote(name)
}

fn word(argument: &str, exists: &impl Fn(&Path) -> bool) -> String {
    if let Some(option) = argument.strip_prefix("--") {
        return long_option(option);
    }
    if let Some(option) = argument.strip_prefix('-') {
        return short_option(option);
    }
    // `tests/a.py::test_b` names a test of a file.
    let (file, test) = argument.split_once("::").unwrap_or((argument, ""));
    if file.is_empty() || !exists(Path::new(file)) {
        return HIDDEN.to_owned();
    }
    let mut shown = quote(file);
    if !test.is_empty() {
        shown.push_str("::");
        shown.push_str(HIDDEN);
    }
    shown
}

fn long_option(option: &str) -> String {
    let (name, value) = option
        .split_once('=')
        .map_or((option, None), |(name, value)| (name, Some(value)));
    let is_name = name.len() <= MAX_OPTION
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_'));
    match (is_name, value) {
        (true, None) => format!("--{name}"),
        (true, Some(_)) => format!("--{name}={HIDDEN}"),
        (false, _) => format!("--{HIDDEN}"),
    }
}

fn short_option(option: &str) -> String {
    let mut letters = option.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_alphanumeric() => format!("-{letter}"),
        (Some(letter), Some(_)) if letter.is_ascii_alphanumeric() => format!("-{letter}{HIDDEN}"),
        _ => "-".to_owned() + if option.is_empty() { "" } else { HIDDEN },
    }
}

fn quote(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "/._-+@,".contains(c));
    if is_plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        redact(&arguments, |path| {
            ["tests/a.py", "my tests"].map(Path::new).contains(&path)
        })
    }

    #[test]
    fn only_what_cannot_be_a_secret_is_shown() {
        for (arguments, expected) in [
            (
                &["/opt/py/bin/pytest", "-x", "tests/a.py"][..],
                "pytest -x tests/a.py",
            ),
            (&["serve", "--api-key", "hunter2"], "serve --api-key ***"),
            (&["serve", "--api-key=hunter2"], "serve --api-key=***"),
            (&["mysql", "-phunter2"], "mysql -p***"),
            (&["run", "http://u:hunter2@host/"], "run ***"),
            (&["run", "--HUNTER2", "--hunter2"], "run --*** --***"),
            (
                &["pytest", "tests/a.py::test[hunter2]"],
                "pytest tests/a.py::***",
            ),
            (&["pytest", "my tests"], "pytest 'my tests'"),
            (&["-c"], "-c"),
            (&[""], "''"),
            (&[], ""),
        ] {
            assert_eq!(shown(arguments), expected, "{arguments:?}");
        }
    }

    #[test]
    fn a_long_command_line_is_cut() {
        let arguments = vec!["tests/a.py"; 100];
        let text = shown(&arguments);
        assert_eq!(text.chars().count(), MAX_CHARS);
        assert!(text.ends_with('…'));
    }
}
