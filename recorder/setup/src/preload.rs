//! Whether a library of ours goes into `LD_PRELOAD`.

use crate::elf::{self, Elf};
use crate::environment::Environment;
use crate::options::{Options, Purpose};
use crate::program;
use crate::reason::Unavailable;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

pub(crate) const VARIABLE: &str = "LD_PRELOAD";

/// Variables that configure a sanitizer: what this environment starts is built with one.
const SANITIZER_OPTIONS: [&str; 5] = [
    "ASAN_OPTIONS",
    "HWASAN_OPTIONS",
    "LSAN_OPTIONS",
    "MSAN_OPTIONS",
    "TSAN_OPTIONS",
];

/// Why a library is left out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoPreload {
    #[error("not-asked-for: LD_PRELOAD was to be left alone")]
    NotAskedFor,
    #[error("unusable: {0}")]
    Unusable(String),
    #[error("path: LD_PRELOAD cannot hold `{0}`, which has a space or a colon")]
    Path(String),
    #[error("sanitizer: {0}; its library must come first")]
    Sanitizer(String),
    #[error("abi: the program {0}")]
    Abi(String),
}

impl NoPreload {
    /// The note in the sidecar.
    pub(crate) fn text(&self) -> String {
        format!("no-preload-{self}")
    }
}

/// The value with our library first.
pub(crate) fn decide(
    library: Result<&Path, &Unavailable>,
    options: &Options,
    environment: &Environment,
    purpose: Purpose<'_>,
) -> Result<OsString, NoPreload> {
    if options.no_preload {
        return Err(NoPreload::NotAskedFor);
    }
    let library = library.map_err(|reason| NoPreload::Unusable(reason.text()))?;
    let path = library.as_os_str();
    // The loader splits at both.
    if path
        .as_bytes()
        .iter()
        .any(|byte| matches!(byte, b' ' | b':'))
    {
        return Err(NoPreload::Path(library.display().to_string()));
    }
    sanitizer_in(environment)?;
    program_agrees(program_of(environment, purpose))?;
    Ok(put_first(path, environment.set(VARIABLE)))
}

fn sanitizer_in(environment: &Environment) -> Result<(), NoPreload> {
    let preload = environment
        .set(VARIABLE)
        .unwrap_or_default()
        .to_string_lossy();
    if let Some(name) = preload
        .split([' ', ':'])
        .find(|name| elf::is_sanitizer(name))
    {
        return Err(NoPreload::Sanitizer(format!("LD_PRELOAD names `{name}`")));
    }
    let set = |name: &&str| environment.set(name).is_some();
    match SANITIZER_OPTIONS.into_iter().find(set) {
        Some(name) => Err(NoPreload::Sanitizer(format!("`{name}` is set"))),
        None => Ok(()),
    }
}

/// A shell stands for what it will start: they share the system's C library.
fn program_of(environment: &Environment, purpose: Purpose<'_>) -> Option<Elf> {
    match purpose {
        Purpose::Command(command) => program::of_command(command, environment),
        Purpose::Shell => program::of_command(&[OsString::from("/bin/sh")], environment),
    }
}

fn program_agrees(program: Option<Elf>) -> Result<(), NoPreload> {
    let Some(elf) = program else {
        return Ok(());
    };
    if let Some(found) = elf.foreign {
        return Err(NoPreload::Abi(format!("is for {found}")));
    }
    if elf.is_musl() {
        return Err(NoPreload::Abi("uses musl".to_owned()));
    }
    match elf.sanitizer {
        Some(name) => Err(NoPreload::Sanitizer(format!("the program needs `{name}`"))),
        None => Ok(()),
    }
}

fn put_first(ours: &OsStr, existing: Option<&OsStr>) -> OsString {
    let existing = existing.unwrap_or_default();
    let is_there = existing
        .as_bytes()
        .split(|byte| matches!(byte, b' ' | b':'))
        .any(|entry| Path::new(OsStr::from_bytes(entry)) == Path::new(ours));
    if is_there {
        return existing.to_owned();
    }
    let mut value = ours.as_bytes().to_vec();
    if !existing.is_empty() {
        value.push(b':');
        value.extend_from_slice(existing.as_bytes());
    }
    OsString::from_vec(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(environment: &Environment, command: &[&str]) -> Result<OsString, String> {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let purpose = Purpose::Command(&command);
        let library = Ok(Path::new("/k/f.so"));
        decide(library, &Options::default(), environment, purpose).map_err(|why| why.text())
    }

    #[test]
    fn ours_comes_first_and_once() {
        let none = Environment::default();
        assert_eq!(decided(&none, &["/bin/sh"]).unwrap(), "/k/f.so");
        let other = none.clone().with(VARIABLE, "/a.so /b.so");
        assert_eq!(
            decided(&other, &["/bin/sh"]).unwrap(),
            "/k/f.so:/a.so /b.so"
        );
        let ours = none.with(VARIABLE, "/a.so:/k/f.so");
        assert_eq!(decided(&ours, &["/bin/sh"]).unwrap(), "/a.so:/k/f.so");
    }

    #[test]
    fn a_sanitizer_keeps_its_place() {
        let none = Environment::default();
        for (name, value) in [
            (VARIABLE, "/usr/lib/gcc/libasan.so"),
            (VARIABLE, "/a.so:/usr/lib/libclang_rt.tsan-x86_64.so"),
            ("ASAN_OPTIONS", "detect_leaks=0"),
        ] {
            let text = decided(&none.clone().with(name, value), &["/bin/sh"]).unwrap_err();
            assert!(text.starts_with("no-preload-sanitizer: "), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_preloaded_is_not() {
        let missing = Unavailable::LibraryMissing {
            library: "f.so",
            searched: vec!["/k".into()],
        };
        let unset = Options::default();
        let off = Options {
            no_preload: true,
            ..Options::default()
        };
        for (library, options, word) in [
            (
                Err(&missing),
                &unset,
                "no-preload-unusable: recorder-missing",
            ),
            (Ok(Path::new("/a b/f.so")), &unset, "no-preload-path: "),
            (Ok(Path::new("/k/f.so")), &off, "no-preload-not-asked-for: "),
        ] {
            let decided = decide(library, options, &Environment::default(), Purpose::Shell);
            let text = decided.unwrap_err().text();
            assert!(text.starts_with(word), "{text}");
        }
    }

    #[test]
    fn programs_of_another_abi_are_left_alone() {
        let musl = Elf {
            interpreter: Some("/lib/ld-musl-x86_64.so.1".to_owned()),
            ..Elf::default()
        };
        let foreign = Elf {
            foreign: Some("a 32-bit machine of number 3".to_owned()),
            ..Elf::default()
        };
        for program in [musl, foreign] {
            let text = program_agrees(Some(program)).unwrap_err().text();
            assert!(text.starts_with("no-preload-abi: "), "{text}");
        }
    }
}
