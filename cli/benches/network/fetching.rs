//! Fetching over HTTPS on loopback.

use crate::build;
use crate::turns::{compare, floor, time};
use kernrec_faulty_server::{Certificate, Files, Server};
use kernrec_schemas::Digest;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

struct Scene {
    folder: tempfile::TempDir,
    server: Server,
}

/// Cold and unchanged.
pub(crate) fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let written = build::write(folder.path(), 1);
    time(&mut build::publisher(&written, 1, store.to_str().unwrap()));
    let certificate = Certificate::good();
    fs_err::write(folder.path().join("ca.pem"), certificate.authority()).unwrap();
    let server = Server::https(Files::below(&store), &certificate);
    let scene = Scene { folder, server };
    scene.cold();
    scene.unchanged();
}

/// Decodes, hashes and loads a document while the file that it is kept in is made durable.
fn install(frame: &[u8], path: &Path) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs_err::File::create(path).unwrap();
            file.write_all(frame).unwrap();
            file.sync_all().unwrap();
        });
        let content = zstd::bulk::decompress(frame, 64 << 20).unwrap();
        black_box(Digest::of(&content));
        // Which half it is: the versions of tables and maps differ.
        if content.starts_with(br#"{"version":3"#) {
            black_box(KernelTable::parse(&content).unwrap());
        } else {
            black_box(SymbolMap::load(&content).unwrap());
        }
    });
}

impl Scene {
    fn fetcher(&self, out: &str) -> Command {
        let mut command =
            Command::new(build::program(env!("CARGO_BIN_EXE_ci-fetch-kernel-record")));
        command
            .args([
                "--url",
                &self.server.url(),
                "--backend",
                "cuda",
                "--ca-file",
            ])
            .arg(self.folder.path().join("ca.pem"))
            .arg("--out")
            .arg(self.folder.path().join(out));
        command
    }

    fn curl(&self) -> Command {
        let mut command = Command::new("curl");
        command.args(["--silent", "--no-progress-meter", "--fail", "--cacert"]);
        command.arg(self.folder.path().join("ca.pem"));
        command
    }

    fn cold(&self) {
        self.server.take_seen();
        time(&mut self.fetcher("first"));
        // The pair is what is large: everything else is the pointer and the manifest.
        let seen = self.server.take_seen();
        let pair: Vec<_> = seen.iter().filter(|seen| seen.bytes > 1 << 20).collect();
        assert_eq!(pair.len(), 2, "{seen:?}");
        let bytes: usize = pair.iter().map(|seen| seen.bytes).sum();
        println!("the pair: {} MiB", bytes >> 20);
        let ours = |round| time(&mut self.fetcher(&format!("cold-{round}")));
        let theirs = |_| {
            let mut curl = self.curl();
            curl.args(["--parallel", "--parallel-immediate"]);
            for (number, seen) in pair.iter().enumerate() {
                let file = self.folder.path().join(format!("curl-{number}"));
                curl.arg("--output").arg(file);
                curl.arg(format!("{}{}", self.server.url(), seen.path));
            }
            time(&mut curl)
        };
        let theirs = compare("cold fetch", 1.5, 15, ours, theirs);
        let frames = pair.iter().map(|seen| {
            let path = seen.path.trim_start_matches('/');
            fs_err::read(self.folder.path().join("store").join(path)).unwrap()
        });
        let frames: Vec<_> = frames.collect();
        floor("cold fetch", theirs, 15, || self.bare(&frames));
    }

    /// What verifying and installing the pair costs at the least: each half in a thread of its own, from memory.
    fn bare(&self, frames: &[Vec<u8>]) -> Duration {
        let start = Instant::now();
        thread::scope(|scope| {
            for (number, frame) in frames.iter().enumerate() {
                let path = self.folder.path().join(format!("bare-{number}"));
                scope.spawn(move || install(frame, &path));
            }
        });
        start.elapsed()
    }

    fn unchanged(&self) {
        let url = format!("{}/pointers/ci/cuda.json", self.server.url());
        let tags = self.folder.path().join("etag");
        let with_tags = |flag: &str, tags: &Path| {
            let mut curl = self.curl();
            curl.arg(flag).arg(tags).arg(&url);
            curl
        };
        time(&mut with_tags("--etag-save", &tags));
        compare(
            "unchanged",
            1.3,
            15,
            |_| time(&mut self.fetcher("first")),
            |_| time(&mut with_tags("--etag-compare", &tags)),
        );
    }
}
