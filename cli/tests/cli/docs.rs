//! What the docs name exists in the programs. (The reverse holds because `docs/cli.md` is generated.)

use crate::context::repository;
use std::collections::BTreeSet;

/// Flags of other programs that the docs call.
const FOREIGN_FLAGS: [&str; 17] = [
    "--compress-mode",
    "--release",
    "--build-arg",
    "--target",
    "--output",
    "--no-install-recommends",
    "--install",
    "--format",
    "--from",
    "--locked",
    "--bench",
    "--workspace",
    "--gpus",
    "--tensor-parallel-size",
    "--unshallow",
    "--rounds",
    "--starts",
];

/// Variables of other programs that the docs name, and what looks like one.
const FOREIGN_VARIABLES: [&str; 8] = [
    "LD_LIBRARY_PATH",
    "ASAN_OPTIONS",
    "AWS_ACCESS_KEY_ID",
    "ROCPROFILER_REGISTER_ENABLED",
    "TRITON_CUPTI_LIB_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "STO_CUDA_ENTRY",
];

/// The script of ours that the docs call, which has flags and variables of its own.
const SCRIPT: &str = "scripts/cross-build.sh";

/// The start of the Python recorder, which reads variables of its own.
const PYTHON: &str = "recorder/python/payload/files/_kernrec_python/__init__.py";

#[test]
fn every_flag_in_the_docs_exists() {
    let mut known: BTreeSet<String> = FOREIGN_FLAGS.map(str::to_owned).into();
    for mut command in kernrec_cli::command_lines() {
        command.build();
        flags(&command, &mut known);
    }
    let script = fs_err::read_to_string(repository().join(SCRIPT)).unwrap();
    each_page(|page, text| {
        for flag in tokens(text, |c| c.is_ascii_lowercase() || c == '-') {
            let is_flag =
                flag.starts_with("--") && flag[2..].starts_with(|c: char| c.is_ascii_lowercase());
            let is_known = known.contains(flag) || script.contains(&format!("    {flag})"));
            assert!(!is_flag || is_known, "{page} names `{flag}`");
        }
    });
}

#[test]
fn every_variable_in_the_docs_is_read() {
    let known: BTreeSet<&str> = kernrec_cli::VARIABLES
        .iter()
        .map(|variable| variable.name)
        .chain(kernrec_setup::variables::SET.map(|variable| variable.name))
        .chain(kernrec_setup::variables::READ.map(|variable| variable.name))
        .chain(FOREIGN_VARIABLES)
        .collect();
    let script = fs_err::read_to_string(repository().join(SCRIPT)).unwrap();
    let python = fs_err::read_to_string(repository().join(PYTHON)).unwrap();
    each_page(|page, text| {
        for quoted in text.split('`').skip(1).step_by(2) {
            let name = quoted.trim_start_matches('$');
            let is_variable = name.contains('_')
                && name
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            let is_known = known.contains(name)
                || script.contains(&format!("${{{name}:-"))
                || python.contains(&format!("\"{name}\""));
            assert!(!is_variable || is_known, "{page} names `{name}`");
        }
    });
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    each_page(|page, text| {
        let folder = repository().join(page);
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let path = folder.parent().unwrap().join(file);
            assert!(path.exists(), "{page} links to `{link}`");
        }
    });
}

#[test]
fn every_command_of_the_programs_is_in_the_readme() {
    let readme = fs_err::read_to_string(repository().join("README.md")).unwrap();
    let [kernrec, publish, fetch] = kernrec_cli::command_lines();
    for command in kernrec.get_subcommands() {
        let name = format!("kernrec {}", command.get_name());
        assert!(
            readme.contains(&name),
            "the README does not mention `{name}`"
        );
    }
    for program in [publish, fetch] {
        assert!(
            readme.contains(program.get_name()),
            "{}",
            program.get_name()
        );
    }
}

fn each_page(check: impl Fn(&str, &str)) {
    for (page, text) in pages() {
        check(&page, &text);
    }
}

/// Every page that people read, by its path, and its text.
pub(crate) fn pages() -> Vec<(String, String)> {
    let root = repository();
    let mut paths = vec![root.join("README.md"), root.join("CHANGELOG.md")];
    for entry in fs_err::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
    let page = |path: std::path::PathBuf| {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        (name, fs_err::read_to_string(path).unwrap())
    };
    paths.into_iter().map(page).collect()
}

fn flags(command: &clap::Command, known: &mut BTreeSet<String>) {
    for argument in command.get_arguments() {
        known.extend(argument.get_long().map(|long| format!("--{long}")));
    }
    for sub in command.get_subcommands() {
        flags(sub, known);
    }
}

/// Maximal runs of the characters that belong to a token.
fn tokens(text: &str, belongs: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    text.split(move |c| !belongs(c))
        .filter(|token| !token.is_empty())
}
