//! When the waiting ends, and what is said of the steps.

use crate::buildkite::{IMAGE, STEPS, Scene, complete};

#[test]
fn a_build_that_is_over_is_published_and_said_so() {
    let scene = Scene::new();
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(scene.published(), Some(1));
    insta::assert_snapshot!("first", ended.annotation);
    assert_eq!(scene.annotated(), "info kernrec-collect-cuda\n");
    let uploaded = fs_err::read_to_string(scene.path("agent/uploaded")).unwrap();
    assert_eq!(
        uploaded,
        "kernel_table.json.gz;result.json;annotation.md;jobs.json\n"
    );
    assert_eq!(ended.result["expected_jobs"], 3);
    assert_eq!(ended.count("delivered_jobs"), 3);

    let again = scene.collect(&[]);
    assert_eq!(again.end(), (0, "unchanged"), "{}", again.stderr);
    let scene = scene.next();
    let next = scene.collect(&[]);
    assert_eq!(next.end(), (0, "published"), "{}", next.stderr);
    assert_eq!(scene.published(), Some(2));
    insta::assert_snapshot!("next", next.annotation);
}

#[test]
fn a_slow_step_is_waited_for() {
    let scene = Scene::new();
    let states = [
        "waiting_for_dependencies",
        "ready",
        "running",
        "failing",
        "running",
        "finished",
    ];
    scene.step("beta", &states, "passed");
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert!(ended.result["waited"]["polls"].as_u64().unwrap() >= 6);
    assert!(
        ended.stderr.contains("waiting for 1 step\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn at_the_deadline_the_rest_is_published_and_the_late_ones_named() {
    let scene = Scene::new();
    scene.step("beta", &["running"], "neutral");
    scene.without_job(&scene.job_id("beta"));
    let ended = scene.collect(&["--deadline", "300ms"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.step_ends(), ["ended", "late", "ended"]);
    assert_eq!(ended.count("rows"), 2);
    assert_eq!(scene.annotated(), "warning kernrec-collect-cuda\n");
    insta::assert_snapshot!("late", ended.annotation);
}

#[test]
fn steps_that_never_run_are_not_waited_for() {
    for state in [
        "blocked",
        "canceled",
        "skipped",
        "waiting_failed",
        "ignored",
        "broken",
    ] {
        let scene = Scene::new();
        scene.step("gamma", &[state], "neutral");
        scene.without_job(&scene.job_id("gamma"));
        let ended = scene.collect(&[]);
        assert_eq!(ended.end(), (0, "published"), "{state}: {}", ended.stderr);
        assert_eq!(
            ended.step_ends(),
            ["ended", "ended", "cannot-run"],
            "{state}"
        );
    }
    let scene = Scene::new();
    scene.without_step("gamma");
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.step_ends(), ["ended", "ended", "absent"]);
    assert!(
        ended.annotation.contains("Not in the build"),
        "{}",
        ended.annotation
    );
}

#[test]
fn without_an_image_nothing_is_waited_for_or_published() {
    let scene = Scene::new();
    scene.step(IMAGE, &["running", "canceled"], "neutral");
    scene.without_job("image");
    for step in STEPS {
        scene.step(step, &["waiting_for_dependencies"], "neutral");
        scene.without_job(&scene.job_id(step));
    }
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(ended.reasons(), ["map-missing"]);
    assert_eq!(ended.step_ends(), ["cannot-run"; 3]);
    assert_eq!(scene.published(), None);
    assert_eq!(scene.annotated(), "error kernrec-collect-cuda\n");
    insta::assert_snapshot!("no_image", ended.annotation);
}

#[test]
fn questions_without_an_answer_are_asked_again_and_counted() {
    let scene = Scene::new();
    scene.fail("step get state --step alpha", 2);
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.result["waited"]["failed_polls"], 2);
    let said = ended.result["waited"]["last_failure"].as_str().unwrap();
    assert!(said.contains("503 Service Unavailable"), "{said}");
}

#[test]
fn too_few_jobs_are_refused_and_the_record_stays() {
    let scene = Scene::new();
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    let scene = scene.next();
    for step in ["beta", "gamma"] {
        scene.without_job(&scene.job_id(step));
    }
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert!(
        ended.reasons().contains(&"too-few-jobs"),
        "{:?}",
        ended.reasons()
    );
    assert_eq!(scene.published(), Some(1));
    insta::assert_snapshot!("too_few", ended.annotation);
}

#[test]
fn a_sharded_step_is_short_of_what_did_not_come() {
    let scene = Scene::new();
    let ended = scene.collect(&["--step", "delta=4"]);
    // Three of seven.
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(ended.result["expected_jobs"], 7);
    assert_eq!(ended.result["short"][0]["step"], "delta");
    assert_eq!(ended.result["short"][0]["expected"], 4);
}

#[test]
fn a_step_without_all_its_jobs_is_not_usable_whatever_its_recordings_say() {
    let scene = Scene::new();
    let mut command = crate::buildkite::collector(&scene.path(""));
    scene.environment(&mut command);
    command.args([
        "--step",
        "alpha=2",
        "--step",
        "beta",
        "--step",
        "gamma",
        "--map-step",
        IMAGE,
    ]);
    let ended = scene.run(&mut command);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (3, 2));
    assert_eq!(ended.result["folded"]["unusable"]["job-missing"], 1);
    // As while a job is tried again.
    scene.step("beta", &["running"], "neutral");
    let ended = scene.collect(&["--deadline", "200ms", "--store", "other"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (3, 2));
}

#[test]
fn another_branch_leaves_the_artifacts_and_touches_no_store() {
    for branch in ["feature/x", ""] {
        let scene = Scene::new();
        let mut command = scene.collector();
        command
            .env("BUILDKITE_BRANCH", branch)
            .args(["--only-branch", "main"]);
        let ended = scene.run(&mut command);
        assert_eq!(ended.end(), (0, "skipped"), "{}", ended.stderr);
        assert!(scene.out("kernel_table.json.gz").is_file());
        assert!(!scene.path("store").exists());
        assert_eq!(ended.count("usable_rows"), 3);
        if !branch.is_empty() {
            insta::assert_snapshot!("another_branch", ended.annotation);
        }
    }
}

#[test]
fn a_pull_request_touches_no_store_whatever_its_branch_is_called() {
    for (variable, value, end) in [
        ("BUILDKITE_PULL_REQUEST", "7", "skipped"),
        ("BUILDKITE_PULL_REQUEST", "false", "published"),
        ("GITHUB_EVENT_NAME", "pull_request_target", "skipped"),
    ] {
        let scene = Scene::new();
        let mut command = scene.collector();
        command
            .env("BUILDKITE_BRANCH", "main")
            .env(variable, value)
            .args(["--only-branch", "main"]);
        let ended = scene.run(&mut command);
        assert_eq!(
            ended.end(),
            (0, end),
            "{variable}={value}: {}",
            ended.stderr
        );
        assert_eq!(scene.path("store").exists(), end == "published");
    }
}

#[test]
fn annotating_is_not_collecting() {
    let scene = Scene::new();
    scene.fail("annotate --style", 9);
    scene.fail("artifact upload", 9);
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.result["announcing"].as_array().unwrap().len(), 2);
    assert!(
        ended.stderr.contains("note: not shown: "),
        "{}",
        ended.stderr
    );
}

#[test]
fn without_the_agent_it_ends_at_the_deadline() {
    let scene = Scene::new();
    let mut command = scene.collector();
    command
        .env("PATH", "/nonexistent")
        .args(["--deadline", "200ms", "--retries", "0"]);
    let ended = scene.run(&mut command);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(ended.lost(), ["search-failed"; 4]);
}

#[test]
fn what_is_wrong_with_the_command_line_is_said_before_the_waiting() {
    let scene = Scene::new();
    for (args, problem) in [
        (&["--store", "ftp://x"][..], "scheme"),
        (&["--step", "a=0"], "number of jobs"),
        (&["--step", "--build=x"], "--step"),
        (&["--map-step", "a b"], "expected a key"),
        (&["--sign-key", "absent.pem"], "absent.pem"),
    ] {
        let output = complete(scene.collector().args(args)).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{args:?}");
        assert!(stderr.contains(problem), "{args:?}: {stderr}");
    }
    assert_eq!(scene.calls(), "");
}
