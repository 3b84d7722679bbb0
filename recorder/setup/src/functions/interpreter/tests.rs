use super::*;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;

fn script(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What an interpreter that answers this is taken for.
fn asked(answer: &str) -> Result<Interpreter, Unavailable> {
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("python3");
    script(&python, answer);
    ask(&python, Some(Path::new("/lib.so")))
}

fn word(answer: &str) -> &'static str {
    asked(answer).unwrap_err().word()
}

/// The line of a Python of this version and make.
fn is(version: &str, rest: &str) -> String {
    format!(
        r#"echo 'kernrec-python {{"version":[{version}],"implementation":"cpython","free_threaded":false,"site_packages":"/site"{rest}}}'"#
    )
}

#[test]
fn an_answer_is_read_from_among_other_output() {
    let loaded = r#"echo 'kernrec-loaded {"problem":null}'"#;
    let answer = format!("echo 'a start-up file'; {}; {loaded}", is("3,14,0", ""));
    let found = asked(&answer).unwrap();
    assert_eq!(found.version, "3.14.0");
    assert_eq!(found.site_packages, Path::new("/site"));
}

#[test]
fn why_an_interpreter_cannot_be_recorded() {
    assert_eq!(word(&is("3,11,9", "")), "python-too-old");
    assert_eq!(word(&is("2,7,18", "")), "python-too-old");
    let pypy = is("3,12,0", "").replace("cpython", "pypy");
    assert_eq!(word(&pypy), "python-not-supported");
    let free = is("3,13,0", "").replace("false", "true");
    assert_eq!(word(&free), "python-not-supported");
    for mute in ["exit 3", "echo kernrec-python nothing", "kill -9 $$"] {
        assert_eq!(word(mute), "python-not-usable", "{mute}");
    }
    let refused = format!(
        "{}; echo 'kernrec-loaded {{\"problem\":\"no GLIBC_2.99\"}}'",
        is("3,12,1", "")
    );
    let error = asked(&refused).unwrap_err();
    assert_eq!(error.word(), "recorder-not-loadable");
    assert!(error.to_string().contains("no GLIBC_2.99"), "{error}");
    // The library took the process along.
    let crashed = format!("{}; kill -11 $$", is("3,12,1", ""));
    assert_eq!(word(&crashed), "recorder-not-loadable");
    assert_eq!(
        ask(Path::new("/nowhere/python3"), None).unwrap_err().word(),
        "python-not-usable"
    );
}

#[test]
fn which_interpreter_is_the_steps() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // ELF files: a command that is a script leads to its interpreter.
    for path in [
        "own/bin/python3.12",
        "venv/bin/python3",
        "bin/python3",
        "only/python",
    ] {
        fs_err::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs_err::copy("/proc/self/exe", at(path)).unwrap();
        fs_err::set_permissions(at(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let tool = at("own/bin/pytest");
    fs_err::write(&tool, format!("#!{}\n", at("own/bin/python3.12").display())).unwrap();
    fs_err::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let shell = Environment::default()
        .with("PATH", at("bin"))
        .in_folder(folder.path());
    let found = |named: Option<&str>, environment: &Environment, command: &[&str]| {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        find(
            named.map(Path::new),
            environment,
            Purpose::Command(&command),
        )
    };
    let activated = shell.clone().with("VIRTUAL_ENV", at("venv"));
    let pytest = tool.to_str().unwrap();
    let cases = [
        (
            found(Some("only/python"), &activated, &[pytest]),
            "only/python",
        ),
        (found(Some("python3"), &activated, &[pytest]), "bin/python3"),
        (found(None, &activated, &[pytest]), "own/bin/python3.12"),
        (found(None, &activated, &["/bin/sh"]), "venv/bin/python3"),
        (found(None, &shell, &["/bin/sh"]), "bin/python3"),
        (find(None, &shell, Purpose::Shell), "bin/python3"),
    ];
    for (found, expected) in cases {
        assert_eq!(found.unwrap(), at(expected));
    }
    let older = shell.clone().with("PATH", at("only"));
    assert_eq!(
        find(None, &older, Purpose::Shell).unwrap(),
        at("only/python")
    );
    let none = shell.with("PATH", at("own"));
    for named in [None, Some("python3"), Some("./absent")] {
        let error = find(named.map(Path::new), &none, Purpose::Shell).unwrap_err();
        assert_eq!(error.word(), "python-missing", "{named:?}");
    }
}
