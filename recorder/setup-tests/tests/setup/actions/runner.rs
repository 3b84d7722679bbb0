//! A runner, as far as its documentation says what composite actions meet: inputs with their defaults, a step after
//! another by `bash --noprofile --norc -eo pipefail FILE`, outputs and summaries through files, folders of the job's own.

use super::expression::{Contexts, shown};
use super::yaml;
use crate::bench::{Bench, HOST, shell_status, text};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A machine with a checkout, and a job on it.
pub(super) struct Runner {
    pub(super) bench: Bench,
    /// The contexts that do not depend on the action.
    pub(super) contexts: Value,
    /// Variables of the job.
    pub(super) environment: BTreeMap<String, String>,
}

/// How a step with `uses:` ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// The status of the first of its steps that failed.
    pub(super) status: i32,
    pub(super) outputs: BTreeMap<String, String>,
    /// What the first step wrote, on both streams.
    pub(super) stdout: String,
    /// What all of them wrote.
    pub(super) log: String,
    pub(super) summary: String,
}

impl Runner {
    /// With `kernrec` on the path, and `gpu NAME`, which launches a kernel of that name.
    pub(super) fn new() -> Self {
        let bench = Bench::new();
        for folder in ["bin", "temp", "tools", "work"] {
            fs_err::create_dir(bench.path(folder)).unwrap();
        }
        let runner = Self {
            bench,
            contexts: json!({
                "github": {"sha": "c0ffee", "event": {}},
                "strategy": {"job-index": 0, "job-total": 1},
            }),
            environment: BTreeMap::new(),
        };
        fs_err::os::unix::fs::symlink(HOST, runner.bench.path("bin/kernrec")).unwrap();
        let acts: Vec<String> = runner
            .bench
            .driver(&[])
            .iter()
            .map(|act| format!("'{}'", act.to_str().unwrap()))
            .collect();
        // Without a recorder it has nothing to do.
        let script = format!(
            "{} launch=${{1:-_Z1av}} 2>/dev/null || true",
            acts.join(" ")
        );
        runner.program("gpu", &script);
        runner
    }

    /// A matrix of so many jobs, of which this is one.
    pub(super) fn matrix(mut self, index: u64, total: u64) -> Self {
        self.contexts["strategy"] = json!({"job-index": index, "job-total": total});
        self
    }

    /// A script on the path.
    pub(super) fn program(&self, name: &str, script: &str) {
        let path = self.bench.path("bin").join(name);
        // Never through the link to the real one.
        let _ = fs_err::remove_file(&path);
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs the step `uses: .../actions/NAME`.
    pub(super) fn uses(&self, name: &str, with: &[(&str, &str)]) -> Ended {
        let folder = actions().join(name);
        let action = yaml::read(&folder.join("action.yml"));
        let mut contexts = self.contexts.clone();
        contexts["inputs"] = self.inputs(&action, with);
        contexts["steps"] = json!({});
        let mut ended = Ended {
            status: 0,
            outputs: BTreeMap::new(),
            stdout: String::new(),
            log: String::new(),
            summary: String::new(),
        };
        for (index, step) in action["runs"]["steps"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            let runs = match step.get("if") {
                None => ended.status == 0,
                Some(condition) => expressions(&contexts).holds(condition.as_str().unwrap()),
            };
            if !runs {
                continue;
            }
            let (status, stdout, stderr) = self.step(&folder, step, &contexts);
            // The commands' own, where the action runs any.
            if index == 0 || step["id"] == "run" {
                ended.stdout.clone_from(&stdout);
            }
            ended.log.extend([stdout, stderr]);
            ended.status = if ended.status == 0 {
                status
            } else {
                ended.status
            };
            if let Some(id) = step["id"].as_str() {
                contexts["steps"][id] = json!({"outputs": self.take_outputs()});
            }
        }
        for (name, output) in action["outputs"].as_object().unwrap() {
            let value = expressions(&contexts).text(output["value"].as_str().unwrap());
            ended.outputs.insert(name.clone(), value);
        }
        let summary = self.bench.path("summary");
        ended.summary = fs_err::read_to_string(&summary).unwrap_or_default();
        let _ = fs_err::remove_file(summary);
        ended
    }

    /// What the step's inputs are; one that is not declared is a mistake.
    fn inputs(&self, action: &Value, with: &[(&str, &str)]) -> Value {
        let declared = action["inputs"].as_object().unwrap();
        for (name, _) in with {
            assert!(declared.contains_key(*name), "no input `{name}`");
        }
        let contexts = expressions(&self.contexts);
        let value = |(name, input): (&String, &Value)| {
            let given = with.iter().find(|(given, _)| given == name);
            let default = || contexts.text(&shown(&input["default"]));
            let value = given.map_or_else(default, |(_, value)| (*value).to_owned());
            (name.clone(), Value::from(value))
        };
        Value::from(declared.iter().map(value).collect::<Map<_, _>>())
    }

    fn step(&self, action: &Path, step: &Value, contexts: &Value) -> (i32, String, String) {
        assert_eq!(step["shell"], "bash");
        let run = step["run"].as_str().unwrap();
        assert!(
            !run.contains("${{"),
            "what others wrote would be run: {run}"
        );
        let script = self.bench.path("step.sh");
        fs_err::write(&script, run).unwrap();
        let mut command = self.command("bash");
        command
            .args(["--noprofile", "--norc", "-eo", "pipefail"])
            .arg(script)
            .env("GITHUB_ACTION_PATH", action);
        if let Some(folder) = step["working-directory"].as_str() {
            let folder = expressions(contexts).text(folder);
            command.current_dir(self.bench.path("work").join(folder));
        }
        for (name, value) in step["env"].as_object().unwrap() {
            command.env(name, expressions(contexts).text(value.as_str().unwrap()));
        }
        let output = command.output().unwrap();
        (
            shell_status(&output),
            text(&output.stdout),
            text(&output.stderr),
        )
    }

    /// A program as the runner starts it in the job.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = self.bench.command(program);
        for variable in kernrec_cli::VARIABLES {
            command.env_remove(variable.name);
        }
        let path = std::env::var("PATH").unwrap();
        command
            .current_dir(self.bench.path("work"))
            .env(
                "PATH",
                format!("{}:{path}", self.bench.path("bin").display()),
            )
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .envs([
                ("CI", "true"),
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_JOB", "kernels"),
                ("GITHUB_RUN_ID", "77"),
                ("GITHUB_RUN_ATTEMPT", "1"),
                ("GITHUB_RUN_NUMBER", "41"),
                ("GITHUB_SHA", "c0ffee"),
                ("GITHUB_REF_NAME", "main"),
            ])
            .env("GITHUB_WORKSPACE", self.bench.path("work"))
            .env("GITHUB_OUTPUT", self.bench.path("output"))
            .env("GITHUB_ENV", self.bench.path("env"))
            .env("GITHUB_PATH", self.bench.path("path"))
            .env("GITHUB_STEP_SUMMARY", self.bench.path("summary"))
            .env("RUNNER_TEMP", self.bench.path("temp"))
            .env("RUNNER_TOOL_CACHE", self.bench.path("tools"))
            .envs(&self.environment);
        command
    }

    /// What a step wrote into its file of outputs: `name=value`, or `name<<END`, lines, and the end. The last of several
    /// counts.
    fn take_outputs(&self) -> Value {
        for file in ["env", "path"] {
            assert!(
                !self.bench.path(file).exists(),
                "the job's own {file} was changed"
            );
        }
        let path = self.bench.path("output");
        let text = fs_err::read_to_string(&path).unwrap_or_default();
        let _ = fs_err::remove_file(path);
        let pair = |line: &str| {
            let (name, value) = line.split_once('=').expect("name=value");
            (name.to_owned(), Value::from(value))
        };
        Value::from(text.lines().map(pair).collect::<Map<_, _>>())
    }
}

impl Ended {
    /// The files that the step's output `bundles` names, as actions/upload-artifact would find them.
    pub(super) fn uploaded(&self) -> Vec<PathBuf> {
        let (folder, pattern) = self.outputs["bundles"].rsplit_once('/').unwrap();
        assert_eq!(pattern, "*.tar.zst");
        // That action leaves out what is hidden.
        assert!(
            !folder.rsplit('/').next().unwrap().starts_with('.'),
            "{folder}"
        );
        let Ok(entries) = fs_err::read_dir(folder) else {
            return Vec::new();
        };
        let mut found: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_str().unwrap().ends_with(".tar.zst"))
            .collect();
        found.sort();
        found
    }
}

fn expressions(values: &Value) -> Contexts<'_> {
    Contexts {
        values,
        cancelled: false,
    }
}

/// The folder of the actions.
pub(super) fn actions() -> PathBuf {
    repository().join("actions")
}

/// The repository's root.
pub(super) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .and_then(Path::parent)
        .unwrap()
}
