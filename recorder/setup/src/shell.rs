//! The variables as lines for `eval`, in any shell of the Bourne family.

use crate::environment::Environment;
use crate::session::Session;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The lines that give a shell the session's variables; empty where nothing is to be set.
///
/// With `trap` the shell also finishes the session when it exits, in place of an EXIT trap it has.
/// Every value stands in single quotes, within which no character means anything to a shell.
pub fn shell_lines(session: &Session, environment: &Environment, trap: bool) -> Vec<u8> {
    let mut lines = Vec::new();
    for (name, value) in session.shell_variables() {
        lines.extend_from_slice(b"export ");
        lines.extend_from_slice(name.as_bytes());
        lines.push(b'=');
        lines.extend_from_slice(&quoted(value.as_bytes()));
        lines.push(b'\n');
    }
    if trap && !lines.is_empty() {
        let program = environment.executable().unwrap_or(Path::new("kernrec"));
        let mut command = quoted(program.as_os_str().as_bytes());
        command.extend_from_slice(b" finish --status \"$?\"");
        lines.extend_from_slice(b"trap ");
        lines.extend_from_slice(&quoted(&command));
        lines.extend_from_slice(b" EXIT\n");
    }
    lines
}

/// A value as one word.
fn quoted(value: &[u8]) -> Vec<u8> {
    let mut word = Vec::with_capacity(value.len() + 2);
    word.push(b'\'');
    for byte in value {
        match byte {
            b'\'' => word.extend_from_slice(br"'\''"),
            other => word.push(*other),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStringExt as _;
    use std::process::Command;

    fn through(shell: &str, value: &OsStr) -> Vec<u8> {
        let mut script = b"V=".to_vec();
        script.extend_from_slice(&quoted(value.as_bytes()));
        script.extend_from_slice(b"; printf %s \"$V\"");
        let output = Command::new(shell)
            .arg("-c")
            .arg(OsString::from_vec(script))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn shells_read_back_every_value(value in prop::collection::vec(1_u8..=255, 0..40)) {
            let value = OsString::from_vec(value);
            for shell in ["sh", "bash"] {
                prop_assert_eq!(through(shell, &value), value.as_bytes());
            }
        }
    }

    #[test]
    fn what_means_something_to_a_shell_means_nothing_quoted() {
        let value = OsStr::new("a'b\"c\n$(touch x)`id`\\ *~!#&|;'");
        for shell in ["sh", "bash"] {
            assert_eq!(through(shell, value), value.as_bytes());
        }
    }
}
