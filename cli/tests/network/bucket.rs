//! Publishing into a bucket with the real programs.

use crate::inputs::Build;
use crate::scene::{Ended, run};
use kernrec_store::remote::{Credentials, RemoteOptions, open_remote};
use kernrec_store::{Store, pointers};
use std::path::Path;
use std::process::Command;

/// A service, a bucket in it, and who asks.
pub(crate) struct Bucket<'a> {
    pub(crate) endpoint: String,
    pub(crate) name: &'a str,
    pub(crate) identity: (&'a str, &'a str),
}

impl Bucket<'_> {
    pub(crate) fn url(&self) -> String {
        format!("s3://{}/ci", self.name)
    }

    /// `kernrec-publish` of a build into this bucket.
    pub(crate) fn publisher(&self, build: &Build) -> Command {
        let mut command = build.publisher(Path::new(&self.url()));
        command.arg("--json");
        self.address(&mut command);
        command
    }

    /// `ci-fetch-kernel-record` from this bucket.
    pub(crate) fn fetcher(&self, out: &Path) -> Command {
        let mut command = crate::inputs::fetcher(Path::new(&self.url()), out);
        command.arg("--json");
        self.address(&mut command);
        command
    }

    fn address(&self, command: &mut Command) {
        command
            .args(["--endpoint", &self.endpoint])
            .env("AWS_ACCESS_KEY_ID", self.identity.0)
            .env("AWS_SECRET_ACCESS_KEY", self.identity.1)
            .env_remove("AWS_SESSION_TOKEN")
            .env("NO_PROXY", "127.0.0.1");
    }

    pub(crate) fn publish(&self, build: &Build) -> Ended {
        run(&mut self.publisher(build))
    }

    /// Build and generation that the pointer names, and how many records came before.
    pub(crate) fn pointer(&self) -> Option<(u64, u64, usize)> {
        let found = pointers::read(
            &*self.open(),
            &"ci".parse().unwrap(),
            "cuda".parse().unwrap(),
        );
        let pointer = found.unwrap()?.pointer;
        let build = pointer.current.build.0;
        Some((build, pointer.generation.0, pointer.history.len()))
    }

    pub(crate) fn open(&self) -> Box<dyn Store> {
        let options = RemoteOptions {
            endpoint: Some(self.endpoint.clone()),
            credentials: Some(Credentials {
                key_id: self.identity.0.to_owned(),
                secret: self.identity.1.to_owned(),
            }),
            ..RemoteOptions::default()
        };
        open_remote(&self.url(), &options).unwrap()
    }
}

/// How a publish of one backend ended: status, outcome, reason.
pub(crate) fn end(ended: &Ended) -> (i32, &str, &str) {
    let report = &ended.document["backends"][0];
    (
        ended.status,
        report["outcome"].as_str().unwrap_or("none"),
        report["failure"]["reason"].as_str().unwrap_or("none"),
    )
}
