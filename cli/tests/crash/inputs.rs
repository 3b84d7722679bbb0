//! Small records: each build has its own commit, kernels and symbol map.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What one build delivers to a publisher.
pub(crate) struct Build {
    pub(crate) number: u64,
    folder: PathBuf,
}

impl Build {
    /// Writes recordings of three steps and a symbol map below `root`.
    pub(crate) fn write(root: &Path, number: u64) -> Self {
        let folder = root.join(format!("build-{number}"));
        let commit = commit(number);
        for step in ["alpha", "beta", "gamma"] {
            let job = folder.join(format!("recordings/job-{number}-{step}"));
            fs_err::create_dir_all(&job).unwrap();
            fs_err::write(job.join("kern.7.txt"), recording(step, number)).unwrap();
            fs_err::write(job.join("kernrec.json"), sidecar(step, number, &commit)).unwrap();
        }
        fs_err::write(folder.join("map.json"), map(number, &commit)).unwrap();
        Self { number, folder }
    }

    /// The publisher for this build, ready to run.
    pub(crate) fn publisher(&self, store: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernrec-publish"));
        command
            .arg("--store")
            .arg(store)
            .args([
                "--commit",
                &commit(self.number),
                "--build",
                &self.number.to_string(),
            ])
            .arg("--recordings")
            .arg(self.folder.join("recordings"))
            .arg("--symbol-map")
            .arg(self.folder.join("map.json"))
            .env_remove("SOURCE_DATE_EPOCH");
        command
    }

    /// Publishes and expects success.
    pub(crate) fn publish(&self, store: &Path) {
        let output = self.publisher(store).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// The fetcher for a store and a local folder, ready to run.
pub(crate) fn fetcher(store: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ci-fetch-kernel-record"));
    command
        .arg("--url")
        .arg(store)
        .args(["--backend", "cuda"])
        .arg("--out")
        .arg(out);
    command
}

pub(crate) fn commit(build: u64) -> String {
    format!("{build:040x}")
}

fn kernel(step: &str, build: u64) -> String {
    format!(
        "_Z{}kernel_{step}_{build:04}v",
        "kernel__0000".len() + step.len()
    )
}

fn recording(step: &str, build: u64) -> String {
    let name = kernel(step, build);
    format!(
        "# kernrec v1 backend=cuda recorder=cupti pid=7 ppid=1 exe=/bin/test\n{name}\n\
         # end records=3 unique=1 dropped=0 errors=0 unresolved=0\n"
    )
}

fn sidecar(step: &str, build: u64, commit: &str) -> String {
    format!(
        r#"{{"step_key":"{step}","label":"{step}","job_id":"job-{build}-{step}","build":"{build}",
            "commit":"{commit}","parallel_job":"","parallel_job_count":"","exit_status":0,"host":"h",
            "backend":"cuda","recorder":"cupti","collection_available":true,"collection_error":null}}"#
    )
}

fn map(build: u64, commit: &str) -> String {
    let objects: Vec<String> = ["alpha", "beta", "gamma"]
        .iter()
        .map(|step| {
            let symbol = kernel(step, build);
            format!(
                r#"{{"source":"src/{step}.cu","target":"t","object":"{step}.o","device":true,
                    "symbols":["{symbol}"],"deps":["src/{step}.cu"]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"version":2,"backend":"cuda","commit":"{commit}","generated_at":"2030-01-01T00:00:00+00:00",
            "incomplete":false,"errors":[],"build_dirs":["build"],"objects":[{}]}}"#,
        objects.join(",")
    )
}
