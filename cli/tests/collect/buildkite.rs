//! A build as the scripted agent sees it, and a collection from it.

use crate::inputs::{Build, commit};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The steps that [`Build`] records.
pub(crate) const STEPS: [&str; 3] = ["alpha", "beta", "gamma"];
/// The step that builds the image.
pub(crate) const IMAGE: &str = "image-build";

/// A build of three steps with a job each and an image build, all over and whole; tests spoil it.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
    pub(crate) number: u64,
    /// Where the steps and jobs of the build are described.
    root: PathBuf,
}

/// How a collection ended.
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) result: Value,
    pub(crate) annotation: String,
    pub(crate) stderr: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap(), 1, "agent")
    }

    /// What a scene leaves, as a build of another number in the same place.
    pub(crate) fn next(self) -> Self {
        let number = self.number + 1;
        fs_err::remove_dir_all(self.path("agent")).unwrap();
        Self::of(self.folder, number, "agent")
    }

    /// The same with nothing in the build itself: all of it belongs to the build `source`.
    pub(crate) fn elsewhere() -> Self {
        let scene = Self::of(tempfile::tempdir().unwrap(), 1, "agent/builds/source");
        fs_err::create_dir_all(scene.path("agent/faults")).unwrap();
        scene
    }

    fn of(folder: tempfile::TempDir, number: u64, root: &str) -> Self {
        Build::write(folder.path(), number);
        let scene = Self {
            root: folder.path().join(root),
            folder,
            number,
        };
        fs_err::create_dir_all(scene.root.join("faults")).unwrap();
        for step in STEPS {
            scene.step(step, &["finished"], "passed");
            let job = format!("job-{number}-{step}");
            let bundle = scene.pack(&job);
            let name = bundle.file_name().unwrap().to_str().unwrap().to_owned();
            scene.job(&job, step, &[(&format!(".kernrec/{name}"), &bundle)]);
        }
        scene.step(IMAGE, &["finished"], "passed");
        let map = scene.build_file("map.json");
        scene.job("image", IMAGE, &[("kernel_symbol_map.json", &map)]);
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file of what the build delivers.
    pub(crate) fn build_file(&self, name: &str) -> PathBuf {
        self.path(&format!("build-{}", self.number)).join(name)
    }

    pub(crate) fn job_id(&self, step: &str) -> String {
        format!("job-{}-{step}", self.number)
    }

    /// The bundle of a recorded job.
    pub(crate) fn pack(&self, job: &str) -> PathBuf {
        let out = self.path(&format!("packed/{job}"));
        let output = Command::new(env!("CARGO_BIN_EXE_kernrec"))
            .arg("pack")
            .arg(self.build_file(&format!("recordings/{job}")))
            .arg("--out")
            .arg(&out)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut found = fs_err::read_dir(&out).unwrap();
        found.next().unwrap().unwrap().path()
    }

    /// What the agent says of a step, question by question.
    pub(crate) fn step(&self, step: &str, states: &[&str], outcome: &str) {
        let dir = self.root.join("steps").join(step);
        fs_err::create_dir_all(&dir).unwrap();
        fs_err::write(dir.join("state"), states.join("\n") + "\n").unwrap();
        fs_err::write(dir.join("outcome"), outcome).unwrap();
    }

    /// A step that the build does not have.
    pub(crate) fn without_step(&self, step: &str) {
        fs_err::remove_dir_all(self.root.join("steps").join(step)).unwrap();
        self.without_job(&self.job_id(step));
    }

    /// What a job uploaded.
    pub(crate) fn job(&self, job: &str, step: &str, artifacts: &[(&str, &Path)]) {
        let dir = self.root.join("jobs").join(job);
        fs_err::create_dir_all(&dir).unwrap();
        fs_err::write(dir.join("step"), step).unwrap();
        let lines: Vec<String> = artifacts
            .iter()
            .map(|(path, file)| format!("{path}\t{}\n", file.display()))
            .collect();
        fs_err::write(dir.join("artifacts"), lines.concat()).unwrap();
    }

    pub(crate) fn without_job(&self, job: &str) {
        fs_err::remove_dir_all(self.root.join("jobs").join(job)).unwrap();
    }

    pub(crate) fn retried(&self, job: &str) {
        fs_err::write(self.root.join("jobs").join(job).join("retried"), "").unwrap();
    }

    /// The raw folder of a job, as artifacts.
    pub(crate) fn raw(&self, job: &str) -> Vec<(String, PathBuf)> {
        let folder = self.build_file(&format!("recordings/{job}"));
        let mut found: Vec<(String, PathBuf)> = fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap();
                (format!(".kernrec/{job}/{name}"), path.clone())
            })
            .collect();
        found.sort();
        found
    }

    /// So many of the calls fail that mention this.
    pub(crate) fn fail(&self, part: &str, times: u32) {
        let name = part.replace('/', "_slash_");
        fs_err::write(self.path("agent/faults").join(name), times.to_string()).unwrap();
    }

    /// The commit that the first checkout of the build noted.
    pub(crate) fn checked_out(&self, commit: &str) {
        fs_err::write(self.root.join("commit"), commit).unwrap();
    }

    pub(crate) fn calls(&self) -> String {
        fs_err::read_to_string(self.path("agent/calls")).unwrap_or_default()
    }

    pub(crate) fn annotated(&self) -> String {
        fs_err::read_to_string(self.path("agent/annotated")).unwrap_or_default()
    }

    /// The collector of the build, ready to run.
    pub(crate) fn collector(&self) -> Command {
        let mut command = collector(self.folder.path());
        self.environment(&mut command);
        for step in STEPS {
            command.args(["--step", step]);
        }
        command.args(["--map-step", IMAGE]);
        command
    }

    /// What a job of the build has in its environment.
    pub(crate) fn environment(&self, command: &mut Command) {
        command
            .env("BUILDKITE", "true")
            .env("BUILDKITE_COMMIT", commit(self.number))
            .env("BUILDKITE_BUILD_NUMBER", self.number.to_string())
            .env("BUILDKITE_BRANCH", "main")
            .env("FAKE_BUILDKITE", self.path("agent"));
    }

    /// Collects with more arguments.
    pub(crate) fn collect(&self, more: &[&str]) -> Ended {
        self.run(self.collector().args(more))
    }

    pub(crate) fn run(&self, command: &mut Command) -> Ended {
        ended(self.folder.path(), command)
    }

    /// The folder that a collection leaves.
    pub(crate) fn out(&self, name: &str) -> PathBuf {
        self.path(".kernrec-collect").join(name)
    }

    /// The build that the store's pointer names.
    pub(crate) fn published(&self) -> Option<u64> {
        self.published_of("cuda")
    }

    /// The build that the store's pointer of this backend names.
    pub(crate) fn published_of(&self, backend: &str) -> Option<u64> {
        let bytes = fs_err::read(self.path(&format!("store/pointers/ci/{backend}.json"))).ok()?;
        let pointer: Value = serde_json::from_slice(&bytes).unwrap();
        pointer["current"]["build"].as_u64()
    }
}

/// `kernrec collect` for CUDA in this folder, in no CI system, with the scripted agent in front of the PATH.
pub(crate) fn collector(folder: &Path) -> Command {
    collector_of("cuda", folder)
}

/// The same for any backend.
pub(crate) fn collector_of(backend: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kernrec"));
    for variable in kernrec_cli::VARIABLES {
        command.env_remove(variable.name);
    }
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/collect");
    let path = std::env::var("PATH").unwrap();
    command
        .current_dir(folder)
        .env("PATH", format!("{agent}:{path}"))
        .args(["collect", "--backend", backend, "--json"]);
    command
}

/// Says what the test has not said.
pub(crate) fn complete(command: &mut Command) -> &mut Command {
    for (name, value) in [
        ("--poll", "40ms"),
        ("--deadline", "60s"),
        ("--store", "store"),
    ] {
        if !command.get_args().any(|arg| arg == name) {
            command.args([name, value]);
        }
    }
    command
}

pub(crate) fn ended(folder: &Path, command: &mut Command) -> Ended {
    let output = complete(command).output().unwrap();
    let read = |name: &str| fs_err::read(folder.join(".kernrec-collect").join(name));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let result = read("result.json").unwrap_or_else(|_| panic!("{stderr}"));
    Ended {
        status: output.status.code().unwrap(),
        result: serde_json::from_slice(&result).unwrap(),
        annotation: String::from_utf8(read("annotation.md").unwrap()).unwrap(),
        stderr,
    }
}

impl Ended {
    /// Status and outcome.
    pub(crate) fn end(&self) -> (i32, &str) {
        (self.status, self.result["outcome"].as_str().unwrap())
    }

    /// The words of what kept it from publishing.
    pub(crate) fn reasons(&self) -> Vec<&str> {
        let words = |list: &'static str, within: &Value| {
            let list = within[list].as_array().cloned().unwrap_or_default();
            list.into_iter()
                .filter_map(|one| one["reason"].as_str().map(str::to_owned))
                .collect::<Vec<_>>()
        };
        let mut all = words("obstacles", &self.result);
        all.extend(words("refusals", &self.result["publish"]));
        all.into_iter().map(|word| &*word.leak()).collect()
    }

    /// The words of what did not arrive.
    pub(crate) fn lost(&self) -> Vec<&str> {
        let lost = self.result["lost"].as_array().unwrap();
        lost.iter()
            .map(|lost| lost["reason"].as_str().unwrap())
            .collect()
    }

    /// How each armed step ended.
    pub(crate) fn step_ends(&self) -> Vec<&str> {
        let steps = self.result["waited"]["steps"].as_array().unwrap();
        steps
            .iter()
            .map(|step| step["end"].as_str().unwrap())
            .collect()
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        self.result["folded"][name].as_u64().unwrap()
    }
}
