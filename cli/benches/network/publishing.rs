//! Publishing to a real S3 server.

use crate::build;
use crate::server::{BUCKET, Seaweed, WRITER};
use crate::turns::{compare, floor, time};
use kernrec_schemas::Digest;
use kernrec_schemas::recording::Recording;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_store::objects;
use std::borrow::Cow;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

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
    let theirs = compare("publish", 1.5, 5, ours, theirs);
    let inputs = folder.path().join("build-1");
    let recording = fs_err::read(inputs.join("recordings/job/kern.7.txt")).unwrap();
    let map = fs_err::read(inputs.join("map.json")).unwrap();
    floor("publish", theirs, 5, || bare(&recording, &map));
}

/// What making the record costs at the least: each half in a thread of its own, from memory.
fn bare(recording: &[u8], map: &[u8]) -> Duration {
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            let names = Recording::read(recording).names;
            let names: Vec<String> = names.into_iter().map(Cow::into_owned).collect();
            store(&serde_json::to_vec(&names).unwrap());
        });
        scope.spawn(|| store(&SymbolMap::parse(map).unwrap().to_canonical()));
    });
    start.elapsed()
}

/// Hashes and compresses a document.
fn store(document: &[u8]) {
    black_box(Digest::of(document));
    black_box(objects::compress(document));
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
