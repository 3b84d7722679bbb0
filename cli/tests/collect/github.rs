//! A run of a workflow as a scripted API of GitHub tells it.

use crate::buildkite::{Ended, Scene, collector, ended};
use crate::inputs::commit;
use kernrec_faulty_server::{Answer, Fault, Request, Rule, Server, Service};
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

const TOKEN: &str = "the-token";

/// The API, and beside it the place where artifacts are kept.
#[derive(Default)]
struct Api {
    /// Jobs, poll by poll; the last stays.
    polls: Mutex<Vec<Vec<Value>>>,
    artifacts: Mutex<Vec<(String, Vec<u8>)>>,
    head: Mutex<String>,
    /// Where artifacts are; with the token nothing is answered there.
    place: Mutex<String>,
    asked_place: Mutex<Vec<bool>>,
}

impl Service for Api {
    fn answer(&self, request: &Request) -> Answer {
        if let Some(id) = request.path.strip_prefix("/blob/") {
            let has_token = request.header("authorization").is_some();
            self.asked_place.lock().unwrap().push(has_token);
            let id: usize = id.parse().unwrap();
            return Answer::new(200, self.artifacts.lock().unwrap()[id].1.clone());
        }
        let token = format!("Bearer {TOKEN}");
        if request.header("authorization") != Some(&token) {
            return Answer::new(401, "{}");
        }
        let Some(path) = request.path.strip_prefix("/repos/owner/name/actions/") else {
            return Answer::new(404, "{}");
        };
        match path {
            "runs/77" => {
                document(&json!({"status": "completed", "head_sha": *self.head.lock().unwrap()}))
            }
            "runs/77/jobs" => self.jobs(request),
            "runs/77/artifacts" => self.listing(request),
            path => {
                let id = path
                    .strip_prefix("artifacts/")
                    .and_then(|rest| rest.strip_suffix("/zip"));
                match id {
                    Some(id) => {
                        let place = format!("{}/blob/{id}", self.place.lock().unwrap());
                        Answer::new(302, "").with("location", place)
                    }
                    None => Answer::new(404, "{}"),
                }
            }
        }
    }
}

fn document(document: &Value) -> Answer {
    Answer::new(200, document.to_string())
}

/// One page of a list of ten a page at most.
fn page(request: &Request, name: &str, all: &[Value]) -> Answer {
    let page = request.query.split("page=").last().unwrap();
    let page: usize = page.parse().unwrap();
    let items: Vec<&Value> = all.iter().skip((page - 1) * 100).take(100).collect();
    document(&json!({"total_count": all.len(), name: items}))
}

impl Api {
    fn jobs(&self, request: &Request) -> Answer {
        let mut polls = self.polls.lock().unwrap();
        let now = polls.first().cloned().unwrap_or_default();
        let is_all = request.query.contains("filter=all");
        if polls.len() > 1 && !is_all {
            polls.remove(0);
        }
        page(request, "jobs", &now)
    }

    fn listing(&self, request: &Request) -> Answer {
        let artifacts = self.artifacts.lock().unwrap();
        let listed: Vec<Value> = artifacts
            .iter()
            .enumerate()
            .map(|(id, (name, bytes))| {
                json!({"id": id, "name": name, "size_in_bytes": bytes.len(), "expired": bytes.is_empty()})
            })
            .collect();
        page(request, "artifacts", &listed)
    }
}

/// A run of the steps of a build, all over and whole.
struct Run {
    scene: Scene,
    api: Arc<Api>,
    server: Server,
}

impl Run {
    fn new() -> Self {
        let scene = Scene::new();
        let api = Arc::new(Api::default());
        let server = Server::http(Arc::clone(&api));
        server.url().clone_into(&mut api.place.lock().unwrap());
        *api.head.lock().unwrap() = commit(1);
        let run = Self { scene, api, server };
        run.jobs(&[[
            job("alpha", "completed", "success"),
            job("beta", "completed", "success"),
            job("gamma", "completed", "success"),
        ]]);
        for step in crate::buildkite::STEPS {
            let bundle = run.bundle(step);
            run.artifact(
                &format!("kernrec-{step}-1"),
                &[(bundle.file_name().unwrap().to_str().unwrap(), &bundle)],
            );
        }
        let map = run.scene.build_file("map.json");
        run.artifact("kernel-symbol-map", &[("kernel_symbol_map.json", &map)]);
        run.artifact("coverage", &[("huge", &map)]);
        run
    }

    /// What a job of the step leaves, under the id that it has on GitHub.
    fn bundle(&self, step: &str) -> PathBuf {
        let from = self
            .scene
            .build_file(&format!("recordings/{}", self.scene.job_id(step)));
        let id = format!("77-1-{step}");
        let to = self.scene.build_file(&format!("recordings/{id}"));
        fs_err::create_dir_all(&to).unwrap();
        for name in ["kern.7.txt", "kernrec.json"] {
            let text = fs_err::read_to_string(from.join(name)).unwrap();
            fs_err::write(to.join(name), text.replace(&self.scene.job_id(step), &id)).unwrap();
        }
        self.scene.pack(&id)
    }

    fn jobs<const N: usize>(&self, polls: &[[Value; N]]) {
        *self.api.polls.lock().unwrap() = polls.iter().map(|jobs| jobs.to_vec()).collect();
    }

    fn artifact(&self, name: &str, files: &[(&str, &Path)]) {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, file) in files {
            writer
                .start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            writer.write_all(&fs_err::read(file).unwrap()).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        self.api
            .artifacts
            .lock()
            .unwrap()
            .push((name.to_owned(), bytes));
    }

    fn collector(&self) -> Command {
        let folder = self.scene.path("");
        let mut command = collector(&folder);
        command
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_API_URL", self.server.url())
            .env("GITHUB_REPOSITORY", "owner/name")
            .env("GITHUB_RUN_ID", "77")
            .env("GITHUB_RUN_NUMBER", "1")
            .env("GITHUB_SHA", commit(1))
            .env("GITHUB_REF_NAME", "main")
            .env("GITHUB_TOKEN", TOKEN)
            .env("GITHUB_STEP_SUMMARY", self.scene.path("summary"))
            .env("NO_PROXY", "127.0.0.1");
        for step in crate::buildkite::STEPS {
            command.args(["--step", step]);
        }
        command
    }

    fn collect(&self, more: &[&str]) -> Ended {
        ended(&self.scene.path(""), self.collector().args(more))
    }
}

fn job(name: &str, status: &str, conclusion: &str) -> Value {
    json!({"id": 1, "name": name, "status": status, "conclusion": conclusion, "run_attempt": 1})
}

#[test]
fn a_run_is_waited_for_published_and_summed_up() {
    let run = Run::new();
    let done = |name| job(name, "completed", "success");
    run.jobs(&[
        [
            job("alpha", "queued", ""),
            job("other", "in_progress", ""),
            job("nightly / gamma", "in_progress", ""),
        ],
        [done("alpha"), job("beta", "in_progress", ""), done("gamma")],
        [done("alpha"), done("beta"), done("gamma")],
    ]);
    let ended = run.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert!(ended.result["waited"]["polls"].as_u64().unwrap() >= 3);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (3, 3));
    let summary = fs_err::read_to_string(run.scene.path("summary")).unwrap();
    assert_eq!(summary, ended.annotation);
    let listed = fs_err::read_to_string(run.scene.out("jobs.json")).unwrap();
    assert!(
        listed.contains("77-1-alpha") && listed.contains("passed"),
        "{listed}"
    );
    let asked = run.api.asked_place.lock().unwrap();
    assert_eq!(
        *asked, [false; 4],
        "the token is shown to the API alone, and no other artifact is asked for"
    );
}

#[test]
fn what_the_api_answers_badly_is_asked_again() {
    for fault in [
        Fault::Status(502),
        Fault::RetryAfter(429, 1),
        Fault::HangUp,
        Fault::LoginPage,
    ] {
        let run = Run::new();
        run.server.set([
            Rule::every(fault.clone()).at("/artifacts").times(2),
            Rule::every(fault.clone()).at("/blob/").times(0),
        ]);
        let ended = run.collect(&[]);
        assert_eq!(ended.end(), (0, "published"), "{fault:?}: {}", ended.stderr);
        assert_eq!(ended.count("usable_rows"), 3, "{fault:?}");
    }
    for fault in [Fault::Status(503), Fault::Cut(40)] {
        let run = Run::new();
        run.server
            .set([Rule::every(fault.clone()).at("/blob/").times(2)]);
        let ended = run.collect(&[]);
        assert_eq!(ended.end(), (0, "published"), "{fault:?}: {}", ended.stderr);
    }
}

#[test]
fn an_artifact_that_never_arrives_refuses_the_record() {
    for fault in [Fault::Status(404), Fault::Status(500), Fault::WrongByte] {
        let run = Run::new();
        run.server.set([Rule::every(fault.clone()).at("/blob/1")]);
        let ended = run.collect(&["--retries", "1"]);
        assert_eq!(ended.end(), (3, "refused"), "{fault:?}: {}", ended.stderr);
        assert_eq!(ended.lost().len(), 1, "{fault:?}");
        assert!(
            ended.reasons().contains(&"artifacts-lost"),
            "{:?}",
            ended.reasons()
        );
        assert_eq!(run.scene.published(), None);
    }
    let run = Run::new();
    run.api.artifacts.lock().unwrap()[0].1.clear();
    let ended = run.collect(&[]);
    assert_eq!(
        (ended.end(), ended.lost()),
        ((3, "refused"), vec!["artifact-expired"])
    );
}

#[test]
fn a_place_on_another_machine_without_tls_is_not_asked() {
    let run = Run::new();
    "http://192.0.2.1".clone_into(&mut run.api.place.lock().unwrap());
    let ended = run.collect(&["--retries", "0"]);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert!(
        ended.annotation.contains("plain HTTP"),
        "{}",
        ended.annotation
    );
}

#[test]
fn skipped_jobs_and_a_denied_token() {
    let run = Run::new();
    run.jobs(&[[
        job("alpha", "completed", "success"),
        job("beta", "completed", "success"),
        job("gamma", "completed", "skipped"),
    ]]);
    run.api.artifacts.lock().unwrap().remove(2);
    let result = run.collect(&[]);
    assert_eq!(result.end(), (0, "published"), "{}", result.stderr);
    assert_eq!(result.step_ends(), ["ended", "ended", "cannot-run"]);
    let mut command = run.collector();
    command
        .env("GITHUB_TOKEN", "wrong")
        .args(["--deadline", "200ms"]);
    let denied = ended(&run.scene.path(""), &mut command);
    assert_eq!(denied.end(), (3, "refused"), "{}", denied.stderr);
    assert!(
        denied.annotation.contains("401 Unauthorized"),
        "{}",
        denied.annotation
    );
}

#[test]
fn hostile_names_in_an_archive_lead_nowhere() {
    let run = Run::new();
    let evil = run.scene.path("evil");
    fs_err::write(&evil, "evil").unwrap();
    run.artifact(
        "kernrec-evil",
        &[
            ("../../../escaped/kern.1.txt", &evil),
            ("/tmp/kern.1.txt", &evil),
        ],
    );
    let ended = run.collect(&[]);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(ended.lost(), ["unsafe-name"; 2]);
    assert!(!run.scene.path("escaped").exists());
    let ended = run.collect(&["--allow-unreadable"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
}

#[test]
fn another_run_of_the_same_commit_is_collected_from() {
    let run = Run::new();
    let elsewhere = |head: &str| {
        head.clone_into(&mut run.api.head.lock().unwrap());
        let mut command = run.collector();
        command
            .env("GITHUB_RUN_ID", "78")
            .args(["--source-build", "77"]);
        ended(&run.scene.path(""), &mut command)
    };
    let other = elsewhere(&commit(5));
    assert_eq!(
        (other.end(), other.reasons()),
        ((3, "refused"), vec!["source-build-differs"])
    );
    let same = elsewhere(&commit(1));
    assert_eq!(same.end(), (0, "published"), "{}", same.stderr);
}
