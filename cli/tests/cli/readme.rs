//! The tours in the README and the pages about operations and rolling out, run literally: every command with the
//! output that stands below it.

use crate::context::{repository, without_times};
use crate::server::{BUCKET, Seaweed, WRITER};
use std::process::Command;

/// Set to write what the programs say into the README instead of comparing.
const UPDATE: &str = "KERNREC_UPDATE_DOCS";

#[test]
fn the_tour_prints_what_the_readme_says() {
    prints_what_it_says("README.md");
}

#[test]
fn looking_after_a_store_prints_what_the_page_says() {
    prints_what_it_says("docs/operations.md");
}

#[test]
fn rolling_out_prints_what_the_page_says() {
    prints_what_it_says("docs/rollout.md");
}

/// With a bucket `records` that anybody may read, and the collector's credentials in the environment.
fn prints_what_it_says(page: &str) {
    let server = Seaweed::start_public();
    let records = format!("{}/{BUCKET}/kernrec", server.endpoint);
    let bucket = [
        ("AWS_ENDPOINT_URL_S3", server.endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", WRITER.0),
        ("AWS_SECRET_ACCESS_KEY", WRITER.1),
        ("AWS_REGION", "us-east-1"),
        ("CI_SELECTOR_KERNEL_RECORD_URL", &records),
    ];
    let path = repository().join(page);
    let page = fs_err::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for part in ["testdata", "scripts"] {
        let link = folder.path().join(part);
        std::os::unix::fs::symlink(repository().join(part), link).unwrap();
    }
    let mut rewritten = String::new();
    let mut commands = 0;
    for (index, part) in page.split("```").enumerate() {
        if index > 0 {
            rewritten.push_str("```");
        }
        let Some(block) = part.strip_prefix("console\n").filter(|_| index % 2 == 1) else {
            rewritten.push_str(part);
            continue;
        };
        rewritten.push_str("console\n");
        for line in command_lines(block) {
            commands += 1;
            rewritten.extend(["$ ", line, "\n", &said(folder.path(), line, &bucket)]);
        }
    }
    assert!(commands >= 6, "the page has a tour");
    if std::env::var_os(UPDATE).is_some() {
        fs_err::write(&path, rewritten).unwrap();
        return;
    }
    let (found, expected) = (without_times(&page), without_times(&rewritten));
    if found != expected {
        let change = found
            .lines()
            .zip(expected.lines())
            .find(|(found, expected)| found != expected);
        panic!(
            "the page says, and the program: {change:#?}\nrun with {UPDATE}=1 and read the change"
        );
    }
}

fn command_lines(block: &str) -> impl Iterator<Item = &str> {
    block.lines().filter_map(|line| line.strip_prefix("$ "))
}

/// What the command prints, on both streams.
fn said(folder: &std::path::Path, line: &str, environment: &[(&str, &str)]) -> String {
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_kernrec"))
        .parent()
        .unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{{ {line}; }} 2>&1")])
        .current_dir(folder);
    for variable in kernrec_cli::VARIABLES {
        command.env_remove(variable.name);
    }
    let output = command
        .env("PATH", path)
        .envs(environment.iter().copied())
        .env("CI", "true")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}
