//! `kernrec pack`.

use crate::context::{Context, ggml};
use crate::documents;

#[test]
fn the_real_jobs_become_one_bundle_each_and_always_the_same_ones() {
    let context = Context::new();
    let recordings = ggml("recordings");
    for out in ["one", "two"] {
        let ran = context.kernrec(["pack", &recordings, "--out", out]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran}");
        assert!(ran.stdout.starts_with("packed 129 jobs\n"), "{ran}");
    }
    let ran = context.kernrec(["verify", "files", "one", "two", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (answer["same"].as_bool(), answer["compared"].as_u64()),
        (Some(true), Some(129))
    );
}

#[test]
fn json_names_job_step_and_bundle() {
    let context = Context::new();
    context.write("jobs/j-1/kernrec.json", documents::SIDECAR);
    context.write("jobs/j-1/kern.310.txt", documents::RECORDING);
    insta::assert_snapshot!(context.kernrec(["pack", "jobs/j-1", "--out", "bundles", "--json"]));
}

#[test]
fn a_folder_without_jobs_is_refused_and_nothing_is_written() {
    let context = Context::new();
    context.write("jobs/j-1/kern.310.txt", documents::RECORDING);
    fs_err::create_dir(context.path("empty")).unwrap();
    let before = context.files();
    for wrong in ["empty", "absent", "jobs/j-1/kern.310.txt"] {
        let ran = context.kernrec(["pack", "jobs", wrong, "--out", "bundles"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
        assert!(ran.stderr.contains(wrong), "{ran}");
    }
    assert_eq!(context.files(), before);
}

#[test]
fn a_job_that_cannot_be_packed_fails_alone() {
    let context = Context::new();
    context.write("jobs/good/kern.310.txt", documents::RECORDING);
    context.write("jobs/bad/kern.310.txt", documents::RECORDING);
    std::os::unix::fs::symlink("/etc/hostname", context.path("jobs/bad/kern.1.txt")).unwrap();
    let ran = context.kernrec(["pack", "jobs", "--out", "bundles"]);
    insta::assert_snapshot!(ran);
    assert_eq!(
        fs_err::read_dir(context.path("bundles")).unwrap().count(),
        1
    );
}

#[test]
fn a_job_of_python_alone_is_packed_and_shown() {
    let context = Context::new();
    context.write(
        "jobs/j-1/fnrec.json",
        r#"{"step_key":"demo-functions","job_id":"j-1","commit":"c0ffee","exit_status":0}"#,
    );
    context.write(
        "jobs/j-1/fn.n1.0badcafe.9.txt",
        "#start\tpid=9\tpy=3.12.1\n#root\t/site/vllm/\tt=1\n/site/vllm/demo.py\tDemo.run\t12\n\
         #end\troot=1\tother=0\terrors=0\tlast_error=\tt=2\n",
    );
    context.write("jobs/j-1/pytest.installed", "");
    let packed = context.kernrec(["pack", "jobs", "--out", "bundles"]);
    assert_eq!((packed.status, packed.stderr.as_str()), (0, ""), "{packed}");
    let bundles = fs_err::read_dir(context.path("bundles")).unwrap();
    let bundle = bundles.map(|entry| entry.unwrap().path()).next().unwrap();
    insta::assert_snapshot!(context.kernrec(["show", bundle.to_str().unwrap()]));
}
