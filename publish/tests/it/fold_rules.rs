//! Every health rule with its near misses: what makes a row unusable, and what just does not.

use crate::support::{
    Job, clean, clean_rocm, collect_jobs, dropped, idle_rocm, kernels, killed, options, row,
    table_of, words,
};
use kernrec_publish::{FoldOptions, fold};
use kernrec_schemas::table::Row;
use kernrec_schemas::{Backend, RowBackend};
use serde_json::{Value, json};

struct Case {
    name: &'static str,
    job: Job,
    reasons: &'static [&'static str],
}

fn case(name: &'static str, job: Job, reasons: &'static [&'static str]) -> Case {
    Case { name, job, reasons }
}

fn healthy() -> Job {
    Job::new("j1", "s")
}

/// What readers that know no reasons decide by.
fn usable_to_old_readers(row: &Row) -> bool {
    row.passed
        && row.complete
        && row.dropped == 0
        && row.backend.known().is_some()
        && row.trace_complete
}

#[track_caller]
fn check(name: &str, row: &Row, reasons: &[&str]) {
    let mut expected: Vec<&str> = reasons.to_vec();
    expected.sort_unstable();
    assert_eq!(words(row), expected, "{name}");
    assert_eq!(row.is_usable(), reasons.is_empty(), "{name}");
    assert_eq!(
        usable_to_old_readers(row),
        row.is_usable(),
        "{name}: old readers"
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn recordings() {
    let two_headers = format!("{}{}", killed(&["k"]), clean(&["k"]));
    let torn = clean(&["k"]).trim_end().to_owned();
    let legacy = "# kernrec v1 pid=3 ppid=1 exe=/x\nk\n# end records=2 unique=1 dropped=0\n";
    let cases = [
        case("one clean file", healthy(), &[]),
        case(
            "a clean file without kernels",
            healthy().recordings(&[&clean(&[])]),
            &[],
        ),
        case(
            "killed",
            healthy().recordings(&[&killed(&["k"])]),
            &["no-footer"],
        ),
        case(
            "one of two killed",
            healthy().recordings(&[&clean(&["k"]), &killed(&["k"])]),
            &["no-footer"],
        ),
        case(
            "dropped",
            healthy().recordings(&[&dropped(&["k"])]),
            &["dropped"],
        ),
        case(
            "two headers",
            healthy().recordings(&[&two_headers]),
            &["duplicate-header"],
        ),
        case("empty", healthy().recordings(&[""]), &["empty"]),
        case("no header", healthy().recordings(&["k\n"]), &["bad-header"]),
        case(
            "torn last line",
            healthy().recordings(&[&torn]),
            &["broken-line"],
        ),
        case(
            "first version",
            healthy().recordings(&[legacy]),
            &["legacy"],
        ),
        case(
            "wrong count",
            healthy().recordings(&[&clean(&["k"]).replace("unique=1", "unique=2")]),
            &["bad-footer"],
        ),
        case(
            "recorder error",
            healthy().recordings(&[&clean(&["k"]).replace("\nk\n", "\n# error=final-flush\nk\n")]),
            &["error"],
        ),
        case(
            "error and drops are both told",
            healthy().recordings(&[&dropped(&["k"]).replace("errors=0", "errors=1")]),
            &["dropped", "error"],
        ),
        case("no recording", healthy().recordings(&[]), &["no-recording"]),
    ];
    for case in cases {
        let table = table_of(&[case.job], None);
        check(case.name, row(&table, "s"), case.reasons);
    }
}

#[test]
fn sidecars() {
    let cases = [
        case("failed", healthy().set("exit_status", 1), &["not-passed"]),
        case(
            "no status",
            healthy().set("exit_status", Value::Null),
            &["no-provenance", "not-passed"],
        ),
        case("no commit", healthy().set("commit", ""), &["no-provenance"]),
        case(
            "another commit",
            healthy().set("commit", "feed"),
            &["foreign-commit"],
        ),
        case(
            "collection unavailable",
            healthy().set("collection_available", false),
            &["collection-unavailable"],
        ),
        case(
            "collection error",
            healthy().set("collection_error", "setup incomplete"),
            &["collection-unavailable"],
        ),
        case(
            "older than the field",
            healthy().unset("collection_available"),
            &[],
        ),
        case(
            "unrecorded processes",
            healthy().set("unrecorded_processes", 1),
            &["unrecorded-processes"],
        ),
        case(
            "none unrecorded",
            healthy().set("unrecorded_processes", 0),
            &[],
        ),
        case(
            "a field of the wrong kind",
            healthy().set("host", json!([1])),
            &["bad-sidecar"],
        ),
        case(
            "backend contradicts the files",
            healthy().set("backend", "rocm"),
            &["backend-unknown"],
        ),
        case(
            "backend from the files alone",
            healthy().set("backend", ""),
            &[],
        ),
    ];
    for case in cases {
        let table = table_of(&[case.job], None);
        check(case.name, row(&table, "s"), case.reasons);
    }
}

#[test]
fn a_sidecar_that_is_no_object_is_filed_by_the_jobs_list_and_is_never_usable() {
    let job = healthy().without_sidecar().file("kernrec.json", b"[]");
    let list = json!([{"id": "j1", "state": "passed", "step_key": "s"}]);
    let table = table_of(&[job], Some(&list));
    check(
        "no object",
        row(&table, "s"),
        &["bad-sidecar", "no-provenance"],
    );
    assert_eq!(kernels(&table, "s"), ["k"]);
}

#[test]
fn shards() {
    type Case = (
        &'static str,
        Vec<Job>,
        &'static [&'static str],
        Option<u64>,
        u64,
    );
    let one = |index, count| Job::new(&format!("j{index}"), "s").shard(index, count);
    let cases: [Case; 6] = [
        ("all seen", vec![one(0, 2), one(1, 2)], &[], Some(2), 2),
        (
            "one missing",
            vec![one(0, 2)],
            &["shards-incomplete"],
            Some(2),
            1,
        ),
        (
            "counts disagree: the larger one holds",
            vec![one(0, 2), one(1, 3)],
            &["shards-incomplete"],
            Some(3),
            2,
        ),
        (
            "an index beyond the count",
            vec![one(0, 2), one(5, 2)],
            &["shards-incomplete"],
            Some(2),
            2,
        ),
        (
            "an index without a count",
            vec![one(0, 1).set("parallel_job_count", "")],
            &["shards-incomplete"],
            None,
            1,
        ),
        (
            "one shard failed",
            vec![one(0, 2), one(1, 2).set("exit_status", 1)],
            &["not-passed"],
            Some(2),
            2,
        ),
    ];
    for (name, jobs, reasons, expected, seen) in cases {
        let table = table_of(&jobs, None);
        let row = row(&table, "s");
        check(name, row, reasons);
        assert_eq!(
            (row.shards.expected, row.shards.seen),
            (expected, seen),
            "{name}"
        );
    }
}

#[test]
fn shards_that_are_counted_differently_are_never_complete() {
    // The indexes look like those of two shards, but the first of two is not among them.
    let jobs = [
        Job::new("j0", "s").shard(0, 1),
        Job::new("j1", "s").shard(1, 2),
    ];
    let table = table_of(&jobs, None);
    check("1 of 1, 2 of 2", row(&table, "s"), &["shards-incomplete"]);
}

#[test]
fn the_jobs_list() {
    let listed = |state: Value| json!([{"id": "j1", "state": state, "step_key": "s"}]);
    let cases: [(&str, Job, Value, &[&str]); 6] = [
        ("passed", healthy(), listed(json!("passed")), &[]),
        (
            "its word beats the status",
            healthy(),
            listed(json!("failed")),
            &["not-passed"],
        ),
        (
            "it stands in for a missing status",
            healthy().set("exit_status", Value::Null),
            listed(json!("passed")),
            &[],
        ),
        (
            "it says nothing of the job",
            healthy(),
            listed(Value::Null),
            &[],
        ),
        (
            "a listed job delivered nothing",
            healthy(),
            json!([{"id": "j1", "state": "passed", "step_key": "s"}, {"id": "j2", "step_key": "s"}]),
            &["job-missing"],
        ),
        (
            "a missing job of another step",
            healthy(),
            json!([{"id": "j1", "state": "passed", "step_key": "s"}, {"id": "j2", "step_key": "t"}]),
            &[],
        ),
    ];
    for (name, job, list, reasons) in cases {
        let table = table_of(&[job], Some(&list));
        check(name, row(&table, "s"), reasons);
    }
}

#[test]
fn a_job_that_the_jobs_list_files_elsewhere_counts_flawed_for_both_steps() {
    let jobs = [
        Job::new("j1", "s"),
        Job::new("j2", "t").recordings(&[&clean(&["whose"])]),
        Job::new("j3", "u"),
    ];
    let list = json!([
        {"id": "j1", "state": "passed", "step_key": "s"},
        {"id": "j2", "state": "passed", "step_key": "s"},
        {"id": "j3", "state": "passed", "step_key": null},
    ]);
    let table = table_of(&jobs, Some(&list));
    check("the list's step", row(&table, "s"), &["bad-sidecar"]);
    check("the sidecar's step", row(&table, "t"), &["bad-sidecar"]);
    assert_eq!(kernels(&table, "s"), ["k", "whose"]);
    assert_eq!(kernels(&table, "t"), ["whose"]);
    check("a list that says nothing", row(&table, "u"), &[]);
}

#[test]
fn a_job_whose_step_is_in_doubt_is_nobodys_attempt() {
    let jobs = [
        Job::new("j1", "t").retry(0, 1),
        Job::new("j2", "s").retry(1, 0),
    ];
    let list = json!([
        {"id": "j1", "state": "failed", "step_key": "s"},
        {"id": "j2", "state": "passed", "step_key": "s"},
    ]);
    let table = table_of(&jobs, Some(&list));
    check("s", row(&table, "s"), &["bad-sidecar", "not-passed"]);
}

#[test]
fn a_listed_job_that_delivered_for_the_other_backend_is_not_missing() {
    let jobs = [Job::new("j1", "s"), Job::rocm("j2", "s")];
    let list = json!([
        {"id": "j1", "state": "passed", "step_key": "s"},
        {"id": "j2", "state": "passed", "step_key": "s"},
    ]);
    let table = table_of(&jobs, Some(&list));
    check("both delivered", row(&table, "s"), &[]);
    assert_eq!(row(&table, "s").jobs, 1);
}

#[test]
fn idle_processes_of_rocm() {
    let cases = [
        (
            "idle beside a clean one",
            Job::rocm("j1", "s").recordings(&[&clean_rocm(&["k"]), &idle_rocm()]),
            &[][..],
        ),
        (
            "nothing but idle ones",
            Job::rocm("j1", "s").recordings(&[&idle_rocm(), &idle_rocm()]),
            &["idle-only"][..],
        ),
        (
            "active and killed",
            Job::rocm("j1", "s").recordings(&[&format!("{}# gpu_active\n", idle_rocm())]),
            &["no-footer"][..],
        ),
    ];
    for (name, job, reasons) in cases {
        let (_dir, collected) = collect_jobs(&[job]);
        let table = fold(&collected, &options(Backend::Rocm));
        check(name, row(&table, "s"), reasons);
    }
}

#[test]
fn a_job_of_unknown_backend_vetoes_in_both_tables_and_authorises_in_none() {
    let jobs = [
        Job::new("j1", "cuda-step"),
        Job::rocm("j2", "rocm-step"),
        Job::new("j3", "mixed").recordings(&[&clean(&["k"]), &clean_rocm(&["r"])]),
        Job::new("j4", "silent").set("backend", "").recordings(&[]),
    ];
    let (_dir, collected) = collect_jobs(&jobs);
    for (backend, own, other) in [
        (Backend::Cuda, "cuda-step", "rocm-step"),
        (Backend::Rocm, "rocm-step", "cuda-step"),
    ] {
        let table = fold(&collected, &options(backend));
        assert!(row(&table, own).is_usable());
        assert!(!table.rows.contains_key(other));
        for unknown in ["mixed", "silent"] {
            assert_eq!(row(&table, unknown).backend, RowBackend::Unknown);
            assert!(!row(&table, unknown).is_usable());
        }
        assert_eq!(kernels(&table, "mixed"), ["k", "r"]);
    }
}

#[test]
fn a_row_is_usable_only_with_a_map_for_each_of_its_variants() {
    let jobs = [
        Job::new("j1", "plain"),
        Job::new("j2", "named").set("variant", "cu12"),
        Job::new("j3", "both"),
        Job::new("j4", "both").set("variant", "cu12"),
    ];
    let (_dir, collected) = collect_jobs(&jobs);
    let usable = |variants: &[&str]| {
        let variants = variants.iter().map(|v| v.parse().unwrap()).collect();
        let options = FoldOptions {
            map_variants: Some(variants),
            ..options(Backend::Cuda)
        };
        let table = fold(&collected, &options);
        ["plain", "named", "both"].map(|step| row(&table, step).is_usable())
    };
    assert_eq!(usable(&[""]), [true, false, false]);
    assert_eq!(usable(&["cu12"]), [false, true, false]);
    assert_eq!(usable(&["", "cu12"]), [true, true, true]);
    let table = fold(&collected, &options(Backend::Cuda));
    assert_eq!(row(&table, "both").variants.len(), 1);
    assert!(row(&table, "plain").variants.is_empty());
}

#[test]
fn the_row_counts_its_jobs_and_processes_by_state() {
    let jobs = [
        Job::new("j1", "s").recordings(&[&clean(&["a"]), &killed(&["b"])]),
        Job::new("j2", "s").recordings(&[&clean(&["a", "c"])]),
    ];
    let table = table_of(&jobs, None);
    let row = row(&table, "s");
    assert_eq!((row.jobs, row.processes), (2, 3));
    let health = row.health.clone().unwrap();
    assert_eq!((health.clean, health.no_footer), (2, 1));
    assert_eq!(kernels(&table, "s"), ["a", "b", "c"]);
    assert!(row.recording_available);
}

#[test]
fn the_step_job_layout_passes_without_a_status_but_has_no_provenance() {
    let dir = tempfile::tempdir().unwrap();
    Job::new("j1", "ignored")
        .without_sidecar()
        .write(&dir.path().join("the-step"));
    let collected = crate::support::collect_dir(dir.path());
    let table = fold(&collected, &options(Backend::Cuda));
    let row = row(&table, "the-step");
    assert!(row.passed);
    check("no sidecar", row, &["no-provenance"]);
}
