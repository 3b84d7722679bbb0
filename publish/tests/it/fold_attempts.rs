//! Retries: when the last attempt alone decides, and when all jobs do.

use crate::support::{Job, clean, dropped, kernels, killed, row, table_of, words};

fn attempt(retry: u64, status: i64) -> Job {
    Job::new(&format!("j{retry}"), "s").retry(retry, status)
}

fn reasons(jobs: &[Job]) -> Vec<String> {
    words(row(&table_of(jobs, None), "s"))
}

#[test]
fn the_last_attempt_decides_and_every_attempt_adds_its_names() {
    let first = attempt(0, 1).recordings(&[&killed(&["seen-once"]), &dropped(&["lost"])]);
    let last = attempt(1, 0).recordings(&[&clean(&["k"])]);
    let table = table_of(&[first, last], None);
    let row = row(&table, "s");
    assert!(row.is_usable(), "{:?}", row.reasons);
    assert_eq!((row.jobs, row.processes, row.dropped), (2, 3, 0));
    assert_eq!(row.health.clone().unwrap().clean, 1);
    assert_eq!(kernels(&table, "s"), ["k", "lost", "seen-once"]);
}

#[test]
fn an_unhealthy_last_attempt_spoils_the_row() {
    let last = attempt(1, 0).recordings(&[&killed(&["k"])]);
    assert_eq!(reasons(&[attempt(0, 1), last]), ["no-footer"]);
    assert_eq!(reasons(&[attempt(0, 1), attempt(1, 1)]), ["not-passed"]);
}

#[test]
fn jobs_that_cannot_be_attempts_are_all_counted() {
    let not_passed = ["not-passed"];
    let gap = [attempt(0, 1), attempt(2, 0)];
    assert_eq!(reasons(&gap), not_passed);
    let not_from_zero = [attempt(1, 1), attempt(2, 0)];
    assert_eq!(reasons(&not_from_zero), not_passed);
    let same_count = [
        Job::new("a", "s").retry(0, 1),
        Job::new("b", "s").retry(0, 0),
    ];
    assert_eq!(reasons(&same_count), not_passed);
    let no_count = [Job::new("a", "s").set("exit_status", 1), attempt(1, 0)];
    assert_eq!(reasons(&no_count), not_passed);
}

#[test]
fn a_passed_earlier_attempt_keeps_its_say() {
    // Somebody ran a passed job again: both are evidence.
    let first = attempt(0, 0).recordings(&[&killed(&["k"])]);
    assert_eq!(reasons(&[first, attempt(1, 0)]), ["no-footer"]);
    assert_eq!(reasons(&[attempt(0, 0), attempt(1, 1)]), ["not-passed"]);
    assert!(reasons(&[attempt(0, 0), attempt(1, 0)]).is_empty());
}

#[test]
fn attempts_are_of_one_variant() {
    let other_image = attempt(0, 1).set("variant", "cuda12");
    assert_eq!(reasons(&[other_image, attempt(1, 0)]), ["not-passed"]);
    let same_image = [
        attempt(0, 1).set("variant", "cuda12"),
        attempt(1, 0).set("variant", "cuda12"),
    ];
    assert!(reasons(&same_image).is_empty());
}

#[test]
fn attempts_are_of_one_shard() {
    let jobs = [
        Job::new("a0", "s").shard(0, 2).retry(0, 1),
        Job::new("a1", "s").shard(0, 2).retry(1, 0),
        Job::new("b0", "s").shard(1, 2).retry(0, 0),
    ];
    assert!(reasons(&jobs).is_empty());
    let other_shard_failed = [
        Job::new("a0", "s").shard(0, 2).retry(0, 1),
        Job::new("b0", "s").shard(1, 2).retry(1, 0),
    ];
    assert_eq!(reasons(&other_shard_failed), ["not-passed"]);
}

#[test]
fn an_attempt_of_another_commit_or_with_a_faulty_sidecar_is_none() {
    let foreign = attempt(0, 1).set("commit", "feed");
    assert_eq!(
        reasons(&[foreign, attempt(1, 0)]),
        ["foreign-commit", "not-passed"]
    );
    let faulty = attempt(0, 1).set("host", serde_json::json!({}));
    assert_eq!(
        reasons(&[faulty, attempt(1, 0)]),
        ["bad-sidecar", "not-passed"]
    );
}

#[test]
fn the_jobs_list_says_which_attempt_failed() {
    let jobs = [attempt(0, 0), attempt(1, 0)];
    let list = serde_json::json!([
        {"id": "j0", "state": "failed", "step_key": "s"},
        {"id": "j1", "state": "passed", "step_key": "s"},
    ]);
    assert!(row(&table_of(&jobs, Some(&list)), "s").is_usable());
}
