//! A folder with the SDK under its name, and runs of the host program.

use std::iter;
use std::path::PathBuf;
use std::process::{Command, Output};

pub(crate) use kernrec_fake_host::{Left, assert_success};
use kernrec_fake_host::{build_faults, built_library};
use tempfile::TempDir;

/// A place to run the host program in.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) flush_ms: &'static str,
    /// Knobs of the fake SDK, as `name=value,…`.
    pub(crate) knobs: &'static str,
    /// A further library to preload.
    preload: Option<PathBuf>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fake = built_library("libkernrec_fake_rocprofiler.so");
        fs_err::copy(&fake, folder.path().join("librocprofiler-sdk.so")).unwrap();
        Self {
            folder,
            flush_ms: "0",
            knobs: "",
            preload: None,
        }
    }

    /// One in which what the recorder asks of the C library can be made to fail.
    pub(crate) fn with_faults() -> Self {
        let mut bench = Self::new();
        let faults = build_faults(bench.folder.path(), "libkernrec_rocprofiler.so");
        bench.preload = Some(faults);
        bench
    }

    pub(crate) fn with(knobs: &'static str) -> Self {
        let mut bench = Self::new();
        bench.knobs = knobs;
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn recordings_folder(&self) -> PathBuf {
        self.path("recordings")
    }

    /// Runs the acts after starting HIP, with the SDK preloaded.
    pub(crate) fn run(&self, acts: &[&str]) -> Output {
        let all: Vec<&str> = ["init"].iter().chain(acts).copied().collect();
        self.command(&all).output().unwrap()
    }

    pub(crate) fn command(&self, acts: &[&str]) -> Command {
        let sdk = self.path("librocprofiler-sdk.so");
        let preloaded: Vec<_> = iter::once(sdk).chain(self.preload.clone()).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-hip"));
        command
            .args(acts)
            .env("LD_PRELOAD", std::env::join_paths(preloaded).unwrap())
            .env("ROCP_TOOL_LIBRARIES", recorder())
            .env("KERNREC_DIR", self.recordings_folder())
            .env("KERNREC_FLUSH_MS", self.flush_ms)
            .env("FAKE_ROCPROFILER", self.knobs);
        command
    }

    /// Every recording, in no particular order.
    pub(crate) fn left(&self) -> Vec<Left> {
        Left::all(&self.recordings_folder())
    }

    /// The one recording.
    pub(crate) fn one(&self) -> Left {
        let mut left = self.left();
        assert_eq!(left.len(), 1, "{left:#?}");
        left.remove(0)
    }
}

pub(crate) fn recorder() -> PathBuf {
    built_library("libkernrec_rocprofiler.so")
}
