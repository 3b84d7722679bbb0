//! The function record: from real recordings through a store to what is installed.

use crate::context::{Context, Ran, repository};

/// The commit of the sample's project.
const COMMIT: &str = "6dfd143684d48d3426027116ddda0d9c795dcb3f";
const TIME: &str = "2030-01-01T00:00:00Z";

fn sample(name: &str) -> String {
    let path = repository().join("testdata/python-sample").join(name);
    path.to_str().unwrap().to_owned()
}

fn fold(context: &Context, recordings: &str, out: &str) -> Ran {
    context.kernrec([
        "fold",
        "--backend",
        "python",
        "--commit",
        COMMIT,
        "--build",
        "1",
        "--recordings",
        recordings,
        "--recorded-at",
        TIME,
        "--out",
        out,
    ])
}

fn publish<const N: usize>(context: &Context, more: [&str; N]) -> Ran {
    let mut command = context.command();
    command.args([
        "publish", "--store", "store", "--commit", COMMIT, "--build", "1",
    ]);
    context.run(command.args(["--recorded-at", TIME]).args(more))
}

#[test]
fn recordings_fold_to_a_table_that_people_can_read() {
    let context = Context::new();
    insta::assert_snapshot!(
        "fold",
        fold(&context, &sample("recordings"), "table.json.zst")
    );
    insta::assert_snapshot!("show", context.kernrec(["show", "table.json.zst"]));
    insta::assert_snapshot!("audit", context.kernrec(["audit", &sample("recordings")]));
    let ran = context.kernrec(["audit", "table.json.zst"]);
    assert!(ran.stdout.contains("ran-no-tests"), "{ran}");
}

#[test]
fn folders_and_their_bundles_fold_to_the_same_bytes() {
    let context = Context::new();
    fold(&context, &sample("recordings"), "folders.json");
    context.kernrec(["pack", &sample("recordings"), "--out", "bundles"]);
    let ran = fold(&context, "bundles", "bundles.json.zst");
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec(["verify", "files", "folders.json", "bundles.json.zst"]);
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec(["diff", "folders.json", "bundles.json.zst"]);
    assert_eq!(ran.status, 0, "{ran}");
}

#[test]
fn a_diff_names_functions_libraries_and_lost_usability() {
    let context = Context::new();
    fold(&context, &sample("recordings"), "a.json");
    for (job, file) in [
        ("sample-engine", "fnrec.json"),
        ("sample-attention", "pytest.installed"),
    ] {
        let from = format!("recordings/{job}");
        for entry in fs_err::read_dir(sample(&from)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let mut text = fs_err::read_to_string(&path).unwrap();
            if name.starts_with("fn.") {
                text = text
                    .replace("\taiter.", "\t")
                    .replace("#pkg\tpackaging\n", "");
                text = text.replace("ops.py\tdot\t", "ops.py\tnew\t");
            }
            if name == file {
                text = text.replace("\"exit_status\": 0", "\"exit_status\": 1");
            }
            context.write(&format!("changed/{job}/{name}"), text);
        }
    }
    let ran = fold(&context, "changed", "b.json");
    assert_eq!(ran.status, 0, "{ran}");
    insta::assert_snapshot!("diff", context.kernrec(["diff", "a.json", "b.json"]));
}

#[test]
fn tables_of_two_kinds_have_nothing_to_compare() {
    let context = Context::new();
    fold(&context, &sample("recordings"), "a.json");
    context.write("b.json", crate::documents::TABLE);
    let ran = context.kernrec(["diff", "a.json", "b.json"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("not-a-table"), "{ran}");
}

#[test]
fn a_record_is_published_fetched_and_verified() {
    let context = Context::new();
    let recordings = sample("recordings");
    insta::assert_snapshot!("publish", publish(&context, ["--recordings", &recordings]));
    let again = publish(
        &context,
        ["--recordings", &recordings, "--backend", "python"],
    );
    assert!(again.stdout.contains("python: unchanged"), "{again}");
    insta::assert_snapshot!("fetch", context.kernrec(["fetch", "--url", "store"]));
    insta::assert_snapshot!("verify_installed", context.kernrec(["verify", "installed"]));
    insta::assert_snapshot!(
        "show_installed",
        context.kernrec(["show", "coverage-data/python/record.json"])
    );
    let ran = context.kernrec([
        "verify",
        "record",
        "--store",
        "store",
        "--backend",
        "python",
    ]);
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec(["show", "coverage-data/python/function_table.json.zst"]);
    assert!(ran.stdout.contains("function table"), "{ran}");
    for command in ["fsck", "log"] {
        let ran = context.kernrec(["store", command, "store"]);
        assert_eq!(ran.status, 0, "{command}: {ran}");
    }
}

#[test]
fn the_existing_systems_layout_has_no_place_for_it() {
    let context = Context::new();
    let recordings = sample("recordings");
    let ran = publish(
        &context,
        ["--recordings", &recordings, "--layout", "upstream"],
    );
    assert_eq!(ran.status, 3, "{ran}");
    assert!(
        ran.stderr.contains("python: backend-not-representable"),
        "{ran}"
    );
}

#[test]
fn a_table_folded_before_is_published_as_it_is() {
    let context = Context::new();
    fold(&context, &sample("recordings"), "table.json");
    let ran = publish(&context, ["--table", "table.json"]);
    assert_eq!(ran.status, 0, "{ran}");
    let ran = publish(&context, ["--table", "table.json", "--backend", "cuda"]);
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stderr.contains("wrong-backend"), "{ran}");
}

#[test]
fn kernels_have_no_part_in_it() {
    let context = Context::new();
    for command in ["symbol-map", "run"] {
        let ran = context.kernrec([command, "--backend", "python"]);
        assert_eq!(ran.status, 2, "{ran}");
    }
}
