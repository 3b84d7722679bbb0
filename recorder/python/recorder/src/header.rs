//! `#start` and what it says of the process.

use crate::arguments::redact;
use crate::line::push_field;
use crate::setup::Setup;
use crate::variables::is_allowed;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest host name in a file name, in characters.
const MAX_HOST: usize = 32;

/// What the header says that no set-up knows.
#[derive(Debug)]
pub(crate) struct Birth<'a> {
    /// The short name of the machine.
    pub(crate) host: &'a str,
    /// Eight hexadecimal digits of the file's name.
    pub(crate) nonce: &'a str,
    /// The process that forked this one, if the recorder ran in it.
    pub(crate) forked_from: Option<u32>,
    /// The path of the first root, if it is known.
    pub(crate) root: &'a str,
}

/// The `#start` line with its end.
pub(crate) fn start_line(setup: &Setup, birth: &Birth<'_>) -> String {
    let mut line = String::from("#start");
    let mut field = |key: &str, value: &str| push_field(&mut line, key, value);
    field("pid", &std::process::id().to_string());
    field("ppid", &std::os::unix::process::parent_id().to_string());
    field("host", birth.host);
    field("nonce", birth.nonce);
    match birth.forked_from {
        Some(parent) => field("origin", &format!("fork:{parent}")),
        None => field("origin", "import"),
    }
    field("root", birth.root);
    field("root_env", &setup.roots.join(","));
    field("tool", &setup.tool);
    field("py", &setup.version);
    field("exe", &setup.executable);
    field("argv", &redact(&setup.arguments, Path::exists));
    field("t", &now());
    for (name, value) in &setup.variables {
        if is_allowed(name, value) {
            field(name, value);
        }
    }
    line.push('\n');
    line
}

/// Seconds since 1970 in a line's `t=`, for people; nothing is decided by it.
pub(crate) fn now() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}.{:03}", since.as_secs(), since.subsec_millis())
}

/// The machine's name up to its first dot, of letters that a file name may hold.
pub(crate) fn short_host(name: &str) -> String {
    let short: String = name
        .trim()
        .chars()
        .take_while(|&c| c != '.')
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
                c
            } else {
                '-'
            }
        })
        .take(MAX_HOST)
        .collect();
    if short.is_empty() {
        "host".to_owned()
    } else {
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_name_fits_a_file_name() {
        for (name, expected) in [
            ("n1.example.org\n", "n1"),
            ("", "host"),
            ("a/b c", "a-b-c"),
            (&"x".repeat(80), &"x".repeat(32)),
        ] {
            assert_eq!(short_host(name), expected);
        }
    }
}
