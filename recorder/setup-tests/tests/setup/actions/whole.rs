//! From the first recorded job to the first one left out: the three actions, one after the other.

use super::runner::{Ended, Runner};
use crate::bench::text;
use kernrec_faulty_server::{Answer, Request, Server, Service};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// GitHub's API, as far as a run's jobs and artifacts go.
#[derive(Default)]
struct GitHub {
    artifacts: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl GitHub {
    /// What actions/upload-artifact does with files.
    fn upload(&self, name: &str, files: &[impl AsRef<Path>]) {
        let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for file in files {
            let file = file.as_ref();
            let name = file.file_name().unwrap().to_str().unwrap();
            archive
                .start_file(name, SimpleFileOptions::default())
                .unwrap();
            archive.write_all(&fs_err::read(file).unwrap()).unwrap();
        }
        let bytes = archive.finish().unwrap().into_inner();
        self.artifacts
            .lock()
            .unwrap()
            .insert(name.to_owned(), bytes);
    }
}

impl Service for GitHub {
    fn answer(&self, request: &Request) -> Answer {
        assert_eq!(request.header("authorization"), Some("Bearer t0ken"));
        let artifacts = self.artifacts.lock().unwrap();
        let asked = request
            .path
            .strip_prefix("/repos/owner/name/actions/")
            .unwrap_or("");
        let said = match asked {
            "runs/77/jobs" => {
                let job = |name: &str| json!({"name": name, "status": "completed", "conclusion": "success", "run_attempt": 1});
                let jobs = ["image", "attention", "rope"].map(job);
                json!({ "jobs": jobs })
            }
            "runs/77/artifacts" => {
                let artifact = |(id, name): (usize, &String)| json!({"id": id, "name": name});
                json!({"artifacts": artifacts.keys().enumerate().map(artifact).collect::<Vec<_>>()})
            }
            "runs/77" => json!({"status": "in_progress"}),
            _ => {
                let id = asked
                    .strip_prefix("artifacts/")
                    .and_then(|rest| rest.strip_suffix("/zip"));
                let id = id.and_then(|id| id.parse::<usize>().ok());
                return match id.and_then(|id| artifacts.values().nth(id)) {
                    Some(bytes) => Answer::new(200, bytes.clone()),
                    None => Answer::new(404, "not there"),
                };
            }
        };
        Answer::new(200, said.to_string())
    }
}

/// A repository with two kernels, and a change to one of them.
const HISTORY: &str = "git init -q -b main repo && cd repo && mkdir src
git config user.name example && git config user.email example@localhost
for name in a b; do printf '__global__ void %s(float * x) {\\n    x[0] = 1.0f;\\n}\\n' $name >src/$name.cu; done
git add -A && git commit -qm base && git checkout -qb topic
sed -i s/1.0f/2.0f/ src/b.cu && git commit -qam 'b: another value'";

fn shell(runner: &Runner, script: &str) -> String {
    let output = runner
        .command("bash")
        .args(["-ec", script])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

fn good(ended: Ended) -> Ended {
    assert_eq!(ended.status, 0, "{ended:?}");
    ended
}

/// The image's symbol map.
fn image(runner: &Runner, github: &GitHub, base: &str) {
    let object = |name: &str| {
        json!({
            "source": format!("src/{name}.cu"), "object": format!("{name}.o"), "device": true,
            "symbols": [format!("_Z1{name}Pf")], "deps": [format!("src/{name}.cu")],
        })
    };
    let map = json!({
        "version": 2, "backend": "cuda", "commit": base, "generated_at": "2030-01-01T00:00:00+00:00",
        "objects": [object("a"), object("b")],
    });
    let path = runner.bench.path("kernel_symbol_map.json");
    fs_err::write(&path, map.to_string()).unwrap();
    github.upload("symbol-map", &[path]);
}

/// Two jobs, each with a kernel of its own.
fn gpu_jobs(runner: &Runner, github: &GitHub) {
    for (step, kernel) in [("attention", "_Z1aPf"), ("rope", "_Z1bPf")] {
        let commands = format!("gpu {kernel}");
        let with = [
            ("run", commands.as_str()),
            ("step", step),
            ("backend", "cuda"),
        ];
        let ended = good(runner.uses("record", &with));
        assert_eq!(ended.outputs["recorded"], "true", "{ended:?}");
        let bundles = ended.uploaded();
        github.upload(&format!("kernrec-{step}-1"), &bundles);
        // Each job has a machine of its own.
        for bundle in bundles {
            fs_err::remove_file(bundle).unwrap();
        }
    }
}

#[test]
fn what_main_recorded_decides_what_a_pull_request_runs() {
    let mut runner = Runner::new();
    shell(&runner, HISTORY);
    let base = shell(&runner, "git -C repo rev-parse main");
    let github = Arc::new(GitHub::default());
    let server = Server::http(Arc::clone(&github));
    runner.environment.extend([
        ("GITHUB_API_URL".to_owned(), server.url()),
        ("GITHUB_REPOSITORY".to_owned(), "owner/name".to_owned()),
        ("GITHUB_SHA".to_owned(), base.clone()),
    ]);
    runner.contexts["github"]["sha"] = json!(base);

    image(&runner, &github, &base);
    gpu_jobs(&runner, &github);

    let collect = [
        ("store", "store"),
        ("backend", "cuda"),
        ("steps", "attention rope"),
        ("only-branch", "main"),
        ("repository-path", "repo"),
        ("token", "t0ken"),
    ];
    let ended = good(runner.uses("collect", &collect));
    assert_eq!(ended.outputs["outcome"], "published", "{ended:?}");
    assert!(ended.summary.contains("cuda"), "{ended:?}");

    runner.contexts["github"]["event"] = json!({"pull_request": {"base": {"sha": base}}});
    shell(&runner, "git -C repo checkout -q topic");
    let select = [
        ("url", "store"),
        ("all-keys", "attention rope lint"),
        ("repository-path", "repo"),
    ];
    let ended = good(runner.uses("select", &select));
    assert_eq!(ended.outputs["keys"], r#"["rope","lint"]"#, "{ended:?}");
    assert_eq!(ended.outputs["skipped"], r#"["attention"]"#, "{ended:?}");

    // On another branch the collector stops before the store.
    runner
        .environment
        .insert("GITHUB_REF_NAME".to_owned(), "topic".to_owned());
    let ended = good(runner.uses("collect", &collect));
    assert_eq!(ended.outputs["outcome"], "skipped", "{ended:?}");
}
