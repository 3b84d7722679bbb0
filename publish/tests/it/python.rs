//! What Python left: folded beside kernels, never mixed with them.

use crate::support::{COMMIT, Job, clean, collect_dir, collect_jobs, jobs_list, options, step};
use kernrec_publish::{
    Collected, FoldOptions, Inputs, audit, collect, delivery, fold, fold_functions,
};
use kernrec_schemas::Backend;
use kernrec_schemas::function_table::{FunctionRow, FunctionTable};
use kernrec_store::bundle::{self, PackOptions};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

const NOTES: &str = "{\"event\":\"collected\",\"selected\":2,\"deselected\":0}\n{\"event\":\"session\",\"passed\":2,\"selected\":2}\n";

/// A recording of functions of `vllm/a.py`, in a process that ended by itself.
fn entered(pid: u32, functions: &[&str]) -> String {
    let mut text = running(pid, functions);
    let count = functions.len();
    writeln!(
        text,
        "#end\troot={count}\tother=0\terrors=0\tlast_error=\tt=2"
    )
    .unwrap();
    text
}

/// The same in one that was killed.
fn running(pid: u32, functions: &[&str]) -> String {
    let mut text = format!(
        "#start\tpid={pid}\tpy=3.12.1\texe=/opt/py/bin/python\n#root\t/site/vllm/\tt=1\n#tests\t/co/tests/\n#pkg\ttorch\n"
    );
    for function in functions {
        writeln!(text, "/site/vllm/a.py\t{function}\t1").unwrap();
    }
    text
}

fn sidecar(id: &str, key: &str) -> Value {
    json!({"step_key": key, "job_id": id, "build": "7", "commit": COMMIT, "exit_status": 0,
        "backend": "python", "recorder": "sys.monitoring", "collection_available": true})
}

/// A job that passed, in which Python entered `f` and `g` and ran two tests.
pub(crate) fn job(id: &str, key: &str) -> Job {
    with(id, &sidecar(id, key))
}

fn with(id: &str, sidecar: &Value) -> Job {
    bare(id).file("fnrec.json", sidecar.to_string().as_bytes())
}

fn bare(id: &str) -> Job {
    Job::new(id, "")
        .without_sidecar()
        .recordings(&[])
        .file("fn.n.0.1.txt", entered(1, &["f", "g"]).as_bytes())
        .file("pytest.installed", b"")
        .file("pytest.1.jsonl", NOTES.as_bytes())
}

pub(crate) fn set(id: &str, key: &str, fields: &Value) -> Job {
    let mut sidecar = sidecar(id, key);
    for (field, value) in fields.as_object().unwrap() {
        sidecar[field] = value.clone();
    }
    with(id, &sidecar)
}

fn table(collected: &Collected) -> FunctionTable {
    fold_functions(collected, &options(Backend::Python))
}

pub(crate) fn table_of(jobs: &[Job]) -> FunctionTable {
    table(&collect_jobs(jobs).1)
}

fn row<'a>(table: &'a FunctionTable, key: &str) -> &'a FunctionRow {
    table.rows.get(&step(key)).unwrap()
}

pub(crate) fn functions(table: &FunctionTable, key: &str) -> Vec<String> {
    let functions = table.functions_of(row(table, key));
    functions
        .map(|f| format!("{}:{}", f.file, f.name))
        .collect()
}

fn words(table: &FunctionTable, key: &str) -> Vec<String> {
    let reasons = row(table, key).unusable_reasons();
    reasons.iter().map(ToString::to_string).collect()
}

#[test]
fn a_job_says_what_its_processes_entered() {
    let worker = running(2, &["g", "A.h"]);
    let table = table_of(&[job("j1", "a").file("fn.n.0.2.txt", worker.as_bytes())]);
    assert_eq!(
        functions(&table, "a"),
        ["vllm/a.py:A.h", "vllm/a.py:f", "vllm/a.py:g"]
    );
    let row = row(&table, "a");
    assert_eq!(words(&table, "a"), [""; 0], "a killed worker is no reason");
    assert_eq!((row.jobs, row.processes, row.clean_exits), (1, 2, 1));
    assert_eq!((row.tests.executed, row.tests.collected), (2, 2));
    assert_eq!((row.health.clean, row.health.no_footer), (1, 1));
    assert!(row.interpreters.contains("3.12.1") && row.commits.len() == 1);
    assert_eq!(table.libraries[0].as_str(), "torch");
    let again = FunctionTable::parse(&table.to_canonical()).unwrap();
    assert_eq!(again.rows, table.rows);
}

/// Jobs with one fault each, and its reason.
fn faulty() -> Vec<(Job, &'static str)> {
    let lost = entered(1, &["f"]).replace("root=1", "root=2");
    let outside = entered(1, &["f"]).replace("#root\t/site/vllm/", "#root\t/elsewhere/vllm/");
    let mut faulty: Vec<(Job, &str)> = [
        (json!({"exit_status": 1}), "not-passed"),
        (json!({"exit_status": null}), "no-provenance"),
        (json!({"commit": ""}), "no-provenance"),
        (json!({"commit": "beef"}), "foreign-commit"),
        (json!({"backend": "cuda"}), "backend-unknown"),
        (
            json!({"collection_available": false}),
            "collection-unavailable",
        ),
        (json!({"unrecorded_processes": "1"}), "unrecorded-processes"),
        (
            json!({"parallel_job": "0", "parallel_job_count": "2"}),
            "shards-incomplete",
        ),
    ]
    .into_iter()
    .map(|(fields, reason)| (set("j", "a", &fields), reason))
    .collect();
    let files: [(&str, &str, &str); 9] = [
        ("fn.n.0.1.txt", &lost, "lost-lines"),
        ("fn.n.0.1.txt", &running(1, &["f"]), "no-clean-exit"),
        ("fn.n.0.1.txt", &outside, "unplaced-functions"),
        ("fn.n.0.2.txt", "", "empty"),
        (
            "fn.n.0.2.txt",
            "#start\tpid=2\n#error\twrite_failed\n",
            "error",
        ),
        ("fn.n.0.2.txt", "torn", "broken-line"),
        ("pytest.1.jsonl", "", "ran-no-tests"),
        (
            "pytest.2.jsonl",
            "{\"event\":\"collected\"}\n",
            "summary-unparsed",
        ),
        ("pytest.3.txt", "2 passed", "summary-unparsed"),
    ];
    faulty.extend(
        files.map(|(name, text, reason)| (job("j", "a").file(name, text.as_bytes()), reason)),
    );
    faulty
}

#[test]
fn each_fault_makes_a_row_thin_and_costs_no_function() {
    for (job, expected) in faulty() {
        let table = table_of(&[job]);
        let words = words(&table, "a");
        assert!(
            words.iter().any(|word| word == expected),
            "{expected}: {words:?}"
        );
        assert!(
            functions(&table, "a").contains(&"vllm/a.py:f".to_owned()),
            "{expected}"
        );
    }
    let nothing = table_of(&[job("j", "a").file("fn.n.0.1.txt", entered(1, &[]).as_bytes())]);
    assert_eq!(words(&nothing, "a"), ["no-functions"]);
}

#[test]
fn an_unreadable_file_is_a_reason_of_its_job_alone() {
    let (dir, _) = collect_jobs(&[job("j1", "a"), job("j2", "b")]);
    let notes = dir.path().join("j1/pytest.1.jsonl");
    fs_err::remove_file(&notes).unwrap();
    fs_err::os::unix::fs::symlink("/nowhere", &notes).unwrap();
    let table = table(&collect_dir(dir.path()));
    assert!(words(&table, "a").contains(&"unreadable".to_owned()));
    assert_eq!(functions(&table, "a").len(), 2);
    assert!(row(&table, "b").is_usable());
}

#[test]
fn attempts_shards_and_missing_jobs_are_those_of_kernels() {
    let retry = |id: &str, n: u64, status| {
        set(
            id,
            "a",
            &json!({"retry_count": n.to_string(), "exit_status": status}),
        )
    };
    let first = retry("j1", 0, 1).file("fn.n.0.1.txt", entered(1, &["only_first"]).as_bytes());
    let attempts = table_of(&[first, retry("j2", 1, 0)]);
    assert!(
        row(&attempts, "a").is_usable(),
        "{:?}",
        words(&attempts, "a")
    );
    assert!(functions(&attempts, "a").contains(&"vllm/a.py:only_first".to_owned()));
    let shard = |id: &str, n: u64| {
        set(
            id,
            "a",
            &json!({"parallel_job": n.to_string(), "parallel_job_count": "2"}),
        )
    };
    assert!(row(&table_of(&[shard("j1", 0), shard("j2", 1)]), "a").is_usable());
    let (_dir, collected) = collect_jobs(&[job("j1", "a"), Job::new("j2", "a")]);
    assert_eq!(
        words(&table(&collected), "a"),
        ["no-recording"],
        "the second job recorded kernels only"
    );
    let options = FoldOptions {
        jobs: Some(jobs_list(&json!([
            {"id": "j1", "state": "passed", "step_key": "a"},
            {"id": "j2", "state": "passed", "step_key": "a"},
        ]))),
        ..options(Backend::Python)
    };
    let table = fold_functions(&collected, &options);
    assert_eq!(words(&table, "a"), ["no-recording", "job-missing"]);
}

/// The existing system's jobs have no sidecar: their processes say whose they are.
#[test]
fn a_job_without_a_sidecar_is_told_by_its_processes() {
    let named = |fields: &str| {
        let text = entered(1, &["f"]).replace("\tpy=", &format!("\t{fields}\tpy="));
        bare("folder").file("fn.n.0.1.txt", text.as_bytes())
    };
    let keyed = "BUILDKITE_JOB_ID=j-1\tBUILDKITE_STEP_KEY=a\tBUILDKITE_RETRY_COUNT=0";
    let (_dir, collected) = collect_jobs(&[named(keyed)]);
    assert_eq!(collected.python_jobs()[0].id.as_str(), "j-1");
    let table = table(&collected);
    assert_eq!(functions(&table, "a"), ["vllm/a.py:f"]);
    assert_eq!(words(&table, "a"), ["not-passed", "no-provenance"]);
    let labelled =
        "BUILDKITE_LABEL=Core Tests 2\tBUILDKITE_PARALLEL_JOB=1\tBUILDKITE_PARALLEL_JOB_COUNT=2";
    let table = table_of(&[named(labelled)]);
    let row = row(&table, "Core Tests");
    assert_eq!((row.shards.expected, row.shards.seen), (Some(2), 1));
    let (_dir, nobodys) = collect_jobs(&[bare("folder")]);
    let told = delivery(&nobodys, &options(Backend::Python));
    assert_eq!((told.unfiled.len(), told.unreadable.len()), (1, 1));
}

#[test]
fn kernels_and_functions_of_one_job_stay_apart() {
    let both = Job::new("j1", "a").recordings(&[&clean(&["k"])]);
    let both = both
        .file("fnrec.json", sidecar("j1", "a").to_string().as_bytes())
        .file("fn.n.0.1.txt", entered(1, &["f"]).as_bytes())
        .file("pytest.1.jsonl", NOTES.as_bytes());
    let (_dir, collected) = collect_jobs(&[both, job("j2", "b"), Job::new("j3", "c")]);
    let kernels = fold(&collected, &options(Backend::Cuda));
    assert!(kernels.rows.keys().map(ToString::to_string).eq(["a", "c"]));
    let functions = table(&collected);
    assert!(
        functions
            .rows
            .keys()
            .map(ToString::to_string)
            .eq(["a", "b"])
    );
    for (backend, jobs) in [(Backend::Cuda, 2), (Backend::Python, 2), (Backend::Rocm, 2)] {
        assert_eq!(delivery(&collected, &options(backend)).delivered, jobs);
    }
}

#[test]
fn hostile_recordings_spoil_their_row_and_nothing_else() {
    let long = "x".repeat(70_000);
    for hostile in [
        b"\xff\xfe\0\0".to_vec(),
        entered(3, &[&long]).into_bytes(),
        entered(3, &["a\u{1}b"]).into_bytes(),
        entered(3, &["f"])
            .replace("/site/vllm/a.py", "/site/vllm/../../etc/a.py")
            .into_bytes(),
        entered(3, &["f"])
            .replace("root=1", "root=99999999999999999999")
            .into_bytes(),
        b"#start\tpid=1\n".repeat(1000),
        b"\t\t\t\n".to_vec(),
    ] {
        let table = table_of(&[
            job("j1", "a").file("fn.n.0.3.txt", &hostile),
            job("j2", "b"),
        ]);
        assert!(
            !row(&table, "a").is_usable(),
            "{:?}",
            String::from_utf8_lossy(&hostile[..4])
        );
        assert!(functions(&table, "a").contains(&"vllm/a.py:g".to_owned()));
        assert!(row(&table, "b").is_usable());
        FunctionTable::parse(&table.to_canonical()).unwrap();
    }
}

fn any_job() -> impl Strategy<Value = Job> {
    let recording = prop_oneof![
        Just(entered(1, &["f", "g"])),
        Just(entered(2, &["h"])),
        Just(running(3, &["f"])),
        Just(String::new()),
        Just("torn".to_owned()),
    ];
    let fields = prop_oneof![
        Just(json!({})),
        Just(json!({"exit_status": 1, "retry_count": "0"})),
        Just(json!({"retry_count": "1"})),
        Just(json!({"commit": "beef"})),
    ];
    let recordings = proptest::collection::vec(recording, 0..3);
    ((0..4_u8), (0..2_u8), fields, recordings).prop_map(|(id, key, fields, recordings)| {
        let job = set(&format!("j{id}"), &format!("s{key}"), &fields);
        recordings.iter().zip(1..).fold(job, |job, (text, n)| {
            job.file(&format!("fn.n.0.{n}.txt"), text.as_bytes())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// In any order, from folders or from their bundles, whichever of them met twice.
    #[test]
    fn the_same_jobs_give_the_same_bytes(
        (jobs, order) in proptest::collection::vec(any_job(), 1..5).prop_flat_map(|jobs| {
            let indexes: Vec<usize> = (0..jobs.len()).collect();
            (Just(jobs), Just(indexes).prop_shuffle())
        }),
    ) {
        let (dir, packed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut folders = Vec::new();
        for (n, job) in jobs.iter().enumerate() {
            let folder = dir.path().join(n.to_string());
            job.write(&folder);
            pack(&folder, packed.path());
            folders.push(folder);
        }
        let bytes = |recordings: Vec<std::path::PathBuf>| {
            let bundles = Vec::new();
            table(&collect(&Inputs { recordings, bundles }).unwrap()).to_canonical()
        };
        let expected = bytes(folders.clone());
        prop_assert_eq!(&bytes(order.iter().map(|&n| folders[n].clone()).collect()), &expected);
        prop_assert_eq!(&bytes(vec![packed.path().to_path_buf()]), &expected);
        folders.push(packed.path().to_path_buf());
        prop_assert_eq!(&bytes(folders), &expected);
    }
}

pub(crate) fn pack(from: &Path, to: &Path) {
    for job in &bundle::job_folders(from).unwrap().jobs {
        bundle::pack(job, to, &PackOptions::default()).unwrap();
    }
}

#[test]
fn an_audit_names_the_job_and_the_process_to_blame() {
    let (_dir, collected) = collect_jobs(&[
        job("j1", "a").file(
            "fn.n.0.2.txt",
            b"#start\tpid=2\texe=/py\n#error\twrite_failed\n",
        ),
        job("j2", "b").file("pytest.1.jsonl", b""),
        job("j3", "c").file("fn.n.0.1.txt", running(1, &["f"]).as_bytes()),
    ]);
    let audit = audit(&collected, &options(Backend::Python));
    assert_eq!((audit.rows, audit.usable_rows), (3, 0));
    let blame: Vec<String> = audit
        .blame
        .iter()
        .map(|b| {
            let job = b.job.as_ref().map_or("-", |job| job.as_str());
            let file = b.file.as_deref().unwrap_or("-");
            format!("{} {} {job} {file}", b.step, b.reason)
        })
        .collect();
    assert_eq!(
        blame,
        [
            "a error j1 fn.n.0.2.txt",
            "a lost-lines j1 -",
            "b ran-no-tests j2 -",
            "c no-clean-exit - -",
        ]
    );
}
