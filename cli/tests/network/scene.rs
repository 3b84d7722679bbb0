//! A local store behind a web server, and a folder that it is fetched to.

use crate::inputs::Build;
use kernrec_faulty_server::{Certificate, Files, Protocol, Server};
use kernrec_fetch::installed;
use kernrec_schemas::Backend;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

pub(crate) struct Scene {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) server: Server,
}

/// How a program ended, and its JSON document.
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) document: Value,
    pub(crate) stderr: String,
}

impl Scene {
    /// An empty store behind plain HTTP.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::http(Files::below(&folder.path().join("store")));
        Self { folder, server }
    }

    /// An empty store behind TLS. The authority is in `ca.pem`.
    pub(crate) fn with_tls(certificate: &Certificate) -> Self {
        Self::speaking(certificate, Protocol::Unsaid)
    }

    /// The same, behind a server that says in the handshake what it speaks.
    pub(crate) fn speaking(certificate: &Certificate, protocol: Protocol) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("ca.pem"), certificate.authority()).unwrap();
        let files = Files::below(&folder.path().join("store"));
        let server = Server::speaking(files, certificate, protocol);
        Self { folder, server }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Publishes a build into the store behind the server.
    pub(crate) fn publish(&self, number: u64) {
        Build::write(self.folder.path(), number).publish(&self.path("store"));
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.path("out")
    }

    /// `ci-fetch-kernel-record` with the server's URL.
    pub(crate) fn fetcher(&self) -> Command {
        self.fetcher_of("cuda")
    }

    pub(crate) fn fetcher_of(&self, backend: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ci-fetch-kernel-record"));
        command
            .args(["--json", "--url", &self.server.url(), "--backend", backend])
            .arg("--out")
            .arg(self.out())
            .env("NO_PROXY", "127.0.0.1");
        command
    }

    /// Fetches and expects that this build is in place afterwards.
    pub(crate) fn fetch(&self, build: u64) -> Ended {
        let ended = run(&mut self.fetcher());
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        assert_eq!(self.installed(), Some(build));
        ended
    }

    /// The build that is installed, every digest checked.
    pub(crate) fn installed(&self) -> Option<u64> {
        match installed::open(&self.out(), Backend::Cuda) {
            Ok(pair) => Some(pair.record.build.0),
            Err(error) if error.is_never_installed() => None,
            Err(error) => panic!("what is installed is whole: {error}"),
        }
    }
}

pub(crate) fn run(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        status: output.status.code().unwrap(),
        document: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ended {
    /// The reason word of the only backend.
    pub(crate) fn reason(&self) -> &str {
        let backend = &self.document["backends"][0];
        backend["failure"]["reason"].as_str().unwrap_or("none")
    }
}
