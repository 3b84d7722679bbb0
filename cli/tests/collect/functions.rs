//! The functions that Python entered: collected like kernels, beside them, and without a symbol map.

use crate::buildkite::{Ended, Scene, collector_of, complete};
use crate::inputs::commit;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const TIME: [&str; 2] = ["--recorded-at", "2030-01-01T00:00:00Z"];
const NOTES: &str = "{\"event\":\"collected\",\"selected\":1,\"deselected\":0}\n{\"event\":\"session\",\"passed\":1,\"selected\":1}\n";

/// Adds what Python leaves of the step's job, in which it entered these functions and ran a test.
fn record(scene: &Scene, step: &str, functions: &[&str]) {
    let job = scene.job_id(step);
    let folder = scene.build_file(&format!("recordings/{job}"));
    let mut text =
        "#start\tpid=1\tpy=3.12.1\texe=/opt/py/bin/python\n#root\t/site/vllm/\tt=1\n#tests\t/co/tests/\n"
            .to_owned();
    for function in functions {
        writeln!(text, "/site/vllm/a.py\t{function}\t1").unwrap();
    }
    let count = functions.len();
    writeln!(
        text,
        "#end\troot={count}\tother=0\terrors=0\tlast_error=\tt=2"
    )
    .unwrap();
    let sidecar = serde_json::json!({
        "step_key": step, "job_id": job, "build": scene.number.to_string(), "commit": commit(scene.number),
        "exit_status": 0, "backend": "python", "recorder": "sys.monitoring", "collection_available": true,
    });
    for (name, content) in [
        ("fn.n.0.1.txt", text.as_str()),
        ("fnrec.json", &sidecar.to_string()),
        ("pytest.installed", ""),
        ("pytest.1.jsonl", NOTES),
    ] {
        fs_err::write(folder.join(name), content).unwrap();
    }
    upload(scene, step);
}

/// Takes files away from the step's job.
fn without(scene: &Scene, step: &str, files: &[&str]) {
    let job = scene.job_id(step);
    for file in files {
        fs_err::remove_file(scene.build_file(&format!("recordings/{job}/{file}"))).unwrap();
    }
    upload(scene, step);
}

/// Uploads the bundle of the step's job as it is now.
fn upload(scene: &Scene, step: &str) {
    let job = scene.job_id(step);
    fs_err::remove_dir_all(scene.path(&format!("packed/{job}"))).unwrap();
    let bundle = scene.pack(&job);
    let name = bundle.file_name().unwrap().to_str().unwrap();
    scene.job(&job, step, &[(&format!(".kernrec/{name}"), &bundle)]);
}

/// `alpha` with Python alone, `beta` with both, `gamma` with kernels alone.
fn scene(build: Option<Scene>) -> Scene {
    let scene = build.map_or_else(Scene::new, Scene::next);
    record(&scene, "alpha", &["f", "g"]);
    without(&scene, "alpha", &["kern.7.txt", "kernrec.json"]);
    record(&scene, "beta", &["g", "A.h"]);
    scene
}

fn collector(scene: &Scene, steps: &[&str]) -> Command {
    let mut command = collector_of("python", &scene.path(""));
    scene.environment(&mut command);
    for step in steps {
        command.args(["--step", step]);
    }
    command
}

fn collect(scene: &Scene, steps: &[&str]) -> Ended {
    scene.run(collector(scene, steps).args(TIME))
}

#[test]
fn functions_are_published_without_a_map_and_compared() {
    let first = scene(None);
    let ended = collect(&first, &["alpha", "beta"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(first.published_of("python"), Some(1));
    assert_eq!(first.published(), None);
    assert_eq!(first.annotated(), "info kernrec-collect-python\n");
    let uploaded = fs_err::read_to_string(first.path("agent/uploaded")).unwrap();
    assert_eq!(
        uploaded,
        "function_table.json.zst;result.json;annotation.md;jobs.json\n"
    );
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (2, 2));
    assert_eq!(ended.count("functions"), 3);
    assert_eq!(ended.result["folded"].get("kernels"), None);
    insta::assert_snapshot!("functions", ended.annotation);
    let again = collect(&first, &["alpha", "beta"]);
    assert_eq!(again.end(), (0, "unchanged"), "{}", again.stderr);

    let next = scene(Some(first));
    record(&next, "gamma", &["new"]);
    next.without_job(&next.job_id("alpha"));
    let ended = collect(&next, &["alpha", "beta", "gamma"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    let changes = &ended.result["changes"];
    assert_eq!(changes["rows_gained"], serde_json::json!(["gamma"]));
    assert_eq!(changes["rows_lost"], serde_json::json!(["alpha"]));
    // `f` and `new`.
    assert_eq!(
        (&changes["functions_gained"], &changes["functions_lost"]),
        (&1.into(), &1.into())
    );
    insta::assert_snapshot!("functions_next", ended.annotation);
}

#[test]
fn a_kernel_collector_looks_past_what_python_left_and_the_other_way_round() {
    let scene = scene(None);
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (2, 2));
    assert_eq!(ended.result["short"][0]["step"], "alpha");
    let ended = collect(&scene, &["alpha", "beta", "gamma"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (2, 2));
    assert_eq!(ended.count("delivered_jobs"), 2);
    assert_eq!(ended.result["short"][0]["step"], "gamma");
    assert_eq!(
        (scene.published(), scene.published_of("python")),
        (Some(1), Some(1))
    );
}

#[test]
fn a_thin_row_is_published_and_is_not_usable() {
    let scene = scene(None);
    without(&scene, "alpha", &["pytest.installed", "pytest.1.jsonl"]);
    let ended = collect(&scene, &["alpha", "beta"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (2, 1));
    assert_eq!(
        ended.result["folded"]["unusable"],
        serde_json::json!({ "ran-no-tests": 1 })
    );
    assert!(
        ended.annotation.contains("`ran-no-tests`: 1 row"),
        "{}",
        ended.annotation
    );
}

#[test]
fn a_missing_job_leaves_its_step_to_be_run() {
    let whole = scene(None);
    let ended = collect(&whole, &["alpha", "beta=2"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (2, 1));
    assert_eq!(ended.result["folded"]["unusable"]["job-missing"], 1);
    let lost = scene(None);
    lost.without_job(&lost.job_id("beta"));
    let ended = collect(&lost, &["alpha", "beta"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (1, 1));
    assert_eq!(ended.result["short"][0]["step"], "beta");
}

#[test]
fn where_python_was_recorded_nowhere_the_record_stays() {
    let scene = Scene::new();
    let ended = collect(&scene, &["alpha", "beta"]);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(scene.published_of("python"), None);
}

#[test]
fn the_time_is_that_of_the_commit_in_the_clone_it_runs_in() {
    let scene = scene(None);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/python-sample/commit.sh");
    let made = Command::new(root)
        .arg(scene.path("clone"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let tested = String::from_utf8(made.stdout).unwrap();
    // The recordings are of another commit, so only what is told of the time counts.
    let mut command = collector(&scene, &["alpha"]);
    command
        .current_dir(scene.path("clone"))
        .env("BUILDKITE_COMMIT", tested.trim())
        .args(["--out", "../.kernrec-collect", "--store", "../store"]);
    let ended = scene.run(&mut command);
    let time = &ended.result["publish"]["recorded_at"];
    assert_eq!(time, "2030-01-01T00:00:00Z", "{}", ended.stderr);
}

#[test]
fn what_functions_have_no_place_for_is_said_before_the_waiting() {
    let scene = scene(None);
    let timed = |more: [&'static str; 2]| [more, TIME].concat();
    for (args, problem) in [
        (timed(["--map-step", "image-build"]), "no symbol map"),
        (timed(["--layout", "upstream"]), "no place for functions"),
        (vec!["--repo", "."], "--recorded-at"),
    ] {
        let mut command = collector(&scene, &["alpha"]);
        let output = complete(command.args(&args)).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{args:?}");
        assert!(stderr.contains(problem), "{args:?}: {stderr}");
    }
    assert_eq!(scene.calls(), "");
}
