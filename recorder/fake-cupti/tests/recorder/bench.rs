//! A folder with the libraries under the names the recorder looks for, and runs of the host program.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};

use kernrec_fake_host::build_faults;
pub(crate) use kernrec_fake_host::{Left, assert_success, built_library as library, compile};
use tempfile::TempDir;

/// A place to run the host program in.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) forwarders: bool,
    pub(crate) flush_ms: &'static str,
    /// A further library to preload.
    preload: Option<PathBuf>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fake = library("libkernrec_fake_cupti.so");
        // One file under two names: the loader tells libraries apart by inode.
        for name in ["libcupti.so.13", "libcuda.so.1"] {
            fs_err::os::unix::fs::symlink(&fake, folder.path().join(name)).unwrap();
        }
        // Another inode is another copy.
        fs_err::copy(&fake, folder.path().join("libcupti.so.12")).unwrap();
        Self {
            folder,
            forwarders: true,
            flush_ms: "0",
            preload: None,
        }
    }

    /// One in which what the recorder asks of the C library can be made to fail.
    pub(crate) fn with_faults() -> Self {
        let mut bench = Self::new();
        let faults = build_faults(bench.folder.path(), "libkernrec_cupti.so");
        bench.preload = Some(faults);
        bench
    }

    pub(crate) fn cupti(&self) -> String {
        format!("load={}", self.path("libcupti.so.13").display())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn recordings_folder(&self) -> PathBuf {
        self.path("recordings")
    }

    /// Runs the acts after mapping CUPTI and starting CUDA.
    pub(crate) fn run(&self, acts: &[&str]) -> Output {
        let cupti = self.cupti();
        let mut all = vec![cupti.as_str(), "init"];
        all.extend(acts);
        self.run_acts(&all)
    }

    pub(crate) fn run_acts(&self, acts: &[&str]) -> Output {
        self.command(acts).output().unwrap()
    }

    pub(crate) fn command(&self, acts: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-driver"));
        command
            .args(acts)
            .env("CUDA_INJECTION64_PATH", library("libkernrec_cupti.so"))
            .env("KERNREC_DIR", self.recordings_folder())
            .env("KERNREC_FLUSH_MS", self.flush_ms)
            .env("LD_LIBRARY_PATH", self.folder.path());
        let forwarders = self
            .forwarders
            .then(|| library("libkernrec_cupti_forwarders.so"));
        let preloaded: Vec<_> = forwarders.into_iter().chain(self.preload.clone()).collect();
        if !preloaded.is_empty() {
            command.env("LD_PRELOAD", std::env::join_paths(preloaded).unwrap());
        }
        command
    }

    /// A library that is linked against CUPTI, as a profiler's is, and has nothing in it.
    pub(crate) fn profiler(&self) -> PathBuf {
        let library = self.path("libprofiler.so");
        let mut compiler = Command::new("cc");
        compiler
            .args(["-shared", "-nostdlib", "-x", "c", "/dev/null", "-o"])
            .arg(&library)
            .args(["-Wl,--no-as-needed", "-l:libcupti.so.13", "-L"]);
        compile(compiler.arg(self.path(".")));
        library
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

pub(crate) fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
