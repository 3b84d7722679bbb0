//! Publishing to a real S3 server.

use crate::build;
use crate::server::{BUCKET, Seaweed, WRITER};
use crate::turns::{compare, time};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Against the bare uploads of the same files and a HEAD of each.
pub(crate) fn measure() {
    let server = Seaweed::start();
    let folder = tempfile::tempdir().unwrap();
    let number = |round: usize| u64::try_from(round).unwrap() + 1;
    let ours = |round| {
        let written = build::write(folder.path(), number(round));
        let mut command = build::publisher(&written, number(round), &format!("s3://{BUCKET}/ours"));
        time(with_identity(
            command.args(["--endpoint", &server.endpoint]),
        ))
    };
    let theirs = |round| {
        // The same record in a local store: its files are what is uploaded.
        let local = folder.path().join(format!("local-{round}"));
        let written = folder.path().join(format!("build-{}", number(round)));
        let store = local.to_str().unwrap();
        time(&mut build::publisher(&written, number(round), store));
        let mut files = Vec::new();
        files_below(&local, &mut files);
        time(&mut curl(&server, round, &files))
    };
    compare("publish", 1.5, 5, ours, theirs);
}

fn with_identity(command: &mut Command) -> &mut Command {
    command
        .env("AWS_ACCESS_KEY_ID", WRITER.0)
        .env("AWS_SECRET_ACCESS_KEY", WRITER.1)
}

/// One process for all of it, so that it keeps its connection.
fn curl(server: &Seaweed, round: usize, files: &[PathBuf]) -> Command {
    let mut command = Command::new("curl");
    for (number, file) in files.iter().enumerate() {
        let url = format!("{}/{BUCKET}/theirs/{round}/{number}", server.endpoint);
        for head in [false, true] {
            if number > 0 || head {
                command.arg("--next");
            }
            command.args(["--silent", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3"]);
            command.args(["--user", &format!("{}:{}", WRITER.0, WRITER.1)]);
            if head {
                command.arg("--head");
            } else {
                command.arg("--upload-file").arg(file);
            }
            command.arg(&url);
        }
    }
    command
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else if fs_err::metadata(&path).unwrap().len() > 0 {
            files.push(path);
        }
    }
}
