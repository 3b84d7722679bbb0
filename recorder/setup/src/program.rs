//! What a command runs: found as the shell would, through scripts to their interpreter.

use crate::elf::{self, Elf};
use crate::environment::Environment;
use kernrec_store::fsio;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Where programs are where `PATH` is not set, as the C library has it.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// A script's interpreter may be a script; the kernel follows as many.
const MAX_INTERPRETERS: usize = 4;

/// The program a command starts, as far as it can be told; `None` leaves everything open.
pub(crate) fn of_command(command: &[OsString], environment: &Environment) -> Option<Elf> {
    let (_, elf) = resolve(command, environment)?;
    Some(elf)
}

/// Where that program is, under the name that leads to it.
pub(crate) fn path_of_command(command: &[OsString], environment: &Environment) -> Option<PathBuf> {
    let (path, _) = resolve(command, environment)?;
    Some(path)
}

fn resolve(command: &[OsString], environment: &Environment) -> Option<(PathBuf, Elf)> {
    let mut program = find(command.first()?, environment)?;
    for _ in 0..=MAX_INTERPRETERS {
        if let Some(elf) = elf::read(&program).ok()? {
            return Some((program, elf));
        }
        program = interpreter(&program, environment)?;
    }
    None
}

/// The file name of the program a command names.
pub(crate) fn name(command: &[OsString]) -> Option<&str> {
    Path::new(command.first()?).file_name()?.to_str()
}

/// Where a program is that is named as a shell does.
pub(crate) fn find(program: &OsStr, environment: &Environment) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(environment.absolute(Path::new(program)));
    }
    let path = environment.set("PATH").unwrap_or(OsStr::new(DEFAULT_PATH));
    std::env::split_paths(path)
        .map(|folder| environment.absolute(&folder).join(program))
        .find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    fs_err::metadata(path)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The program named in a script's first line.
fn interpreter(script: &Path, environment: &Environment) -> Option<PathBuf> {
    let mut start = Vec::new();
    let file = fsio::open_regular(script).ok()?;
    file.take(256).read_to_end(&mut start).ok()?;
    let line = start.split(|byte| *byte == b'\n').next()?;
    let mut words = line
        .strip_prefix(b"#!")?
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let program = OsString::from_vec(words.next()?.to_vec());
    if Path::new(&program).file_name() != Some(OsStr::new("env")) {
        return find(&program, environment);
    }
    let named = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    find(OsStr::from_bytes(named), environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs_err::write(&path, text).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn scripts_lead_to_their_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        script(folder.path(), "one", "#!/bin/sh\nexit 0\n");
        script(folder.path(), "two", "#!/usr/bin/env -S one x\n");
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let environment = Environment::default().with("PATH", path);
        let sh = of_command(&command(&["/bin/sh"]), &environment);
        assert!(sh.is_some());
        for name in ["one", "two"] {
            assert_eq!(of_command(&command(&[name]), &environment), sh, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_left_open() {
        let folder = tempfile::tempdir().unwrap();
        script(folder.path(), "loop", "#!loop\n");
        script(folder.path(), "text", "hello\n");
        let environment = Environment::default()
            .with("PATH", folder.path())
            .in_folder(folder.path());
        for words in [&["loop"][..], &["text"], &["absent"], &["./absent"], &[]] {
            assert_eq!(of_command(&command(words), &environment), None);
        }
    }
}
