//! Fetching over HTTPS on loopback.

use crate::build;
use crate::turns::{compare, time};
use kernrec_faulty_server::{Certificate, Files, Server};
use std::path::Path;
use std::process::Command;

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

impl Scene {
    fn fetcher(&self, out: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ci-fetch-kernel-record"));
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
        compare("cold fetch", 1.5, 15, ours, theirs);
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
