//! Every command of ours in the docs is one that the programs understand: the blocks of shell are run by bash with
//! programs in the place of ours that say what they were given, which then is parsed as ours would.

use crate::docs::pages;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// What the blocks of a page expect around them, and nothing else: no other program is found.
const PRELUDE: &str = r#"
PATH=$STANDINS
SHA=c0ffee
git() { echo c0ffee; }
command_not_found_handle() { return 0; }
# A container's command comes last.
docker() {
    while [ "${1##*/}" != kernrec ]; do shift || return; done
    "${1##*/}" "${@:2}"
}
"#;

/// Says its name and arguments, each with an end that no text has.
const STAND_IN: &str = r#"#!/bin/bash
printf '%s\x1f' "${0##*/}" "$@" >>"$SAID"
printf '\x1e' >>"$SAID"
"#;

#[test]
fn every_command_in_the_docs_is_one_that_the_programs_understand() {
    let mut blocks = 0;
    for (page, text) in pages() {
        for block in fenced(&text, "sh") {
            blocks += 1;
            let given = run(block);
            let named = named(block);
            assert_eq!(
                given.len(),
                named,
                "{page}: {named} commands of ours stand in\n{block}\nand these were run: {given:#?}"
            );
            for arguments in given {
                understood(&arguments).unwrap_or_else(|error| {
                    panic!("{page}: {arguments:?}: {error}\n{block}");
                });
            }
        }
    }
    assert!(blocks > 10, "{blocks} blocks");
}

#[test]
fn what_is_not_understood_is_seen() {
    let given = run("SHA=1 kernrec select --diff $(kernrec-publish) | kernrec frobnicate 'a b'\n");
    let given: Vec<String> = given.iter().map(|arguments| arguments.join(" ")).collect();
    assert_eq!(given.len(), 3, "{given:?}");
    assert!(
        given.contains(&"kernrec frobnicate a b".to_owned()),
        "{given:?}"
    );
    let arguments = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert!(understood(&arguments("kernrec frobnicate")).is_err());
    assert!(understood(&arguments("kernrec select --diff a...b --no-such-flag")).is_err());
    assert!(understood(&arguments("kernrec select --diff a...b")).is_ok());
    assert_eq!(
        named("kernrec run -- x # kernrec run\ny | kernrec arm\nz=$(kernrec-publish --x)"),
        3
    );
}

/// The blocks of a language.
fn fenced<'a>(page: &'a str, language: &'a str) -> impl Iterator<Item = &'a str> {
    page.split("```")
        .skip(1)
        .step_by(2)
        .filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}

/// How many commands of ours a block has.
fn named(block: &str) -> usize {
    let [kernrec, ..] = kernrec_cli::command_lines();
    let subcommands: Vec<&str> = kernrec
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    let of_line = |line: &str| {
        let line = line.split(" # ").next().unwrap();
        let words: Vec<&str> = line.split([' ', '(', ')', '"', ';', '/']).collect();
        let is_ours = |at: usize| match words[at] {
            "kernrec" => words
                .get(at + 1)
                .is_some_and(|next| subcommands.contains(next)),
            "kernrec-publish" | "ci-fetch-kernel-record" => true,
            _ => false,
        };
        (0..words.len()).filter(|&at| is_ours(at)).count()
    };
    block
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(of_line)
        .sum()
}

/// What our programs are given when the block is run.
fn run(block: &str) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let standins = folder.path().join("standins");
    fs_err::create_dir(&standins).unwrap();
    for program in kernrec_cli::command_lines() {
        stand_in(&standins.join(program.get_name()));
    }
    let said = folder.path().join("said");
    let output = Command::new("bash")
        .args(["-c", &format!("{PRELUDE}\n{block}")])
        .current_dir(folder.path())
        .env_clear()
        .env("STANDINS", &standins)
        .env("SAID", &said)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("syntax error"), "{stderr}\n{block}");
    let said = fs_err::read_to_string(said).unwrap_or_default();
    let arguments = |command: &str| {
        command
            .split_terminator('\x1f')
            .map(str::to_owned)
            .collect()
    };
    said.split_terminator('\x1e').map(arguments).collect()
}

fn stand_in(path: &Path) {
    fs_err::write(path, STAND_IN).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Parses what a program was given, its name first.
fn understood(given: &[String]) -> Result<(), clap::Error> {
    let program = kernrec_cli::command_lines()
        .into_iter()
        .find(|program| program.get_name() == given[0])
        .unwrap();
    program.try_get_matches_from(given).map(drop)
}
