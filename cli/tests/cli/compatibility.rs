//! Programs of one version and documents of another. What is newer than its reader is refused, with a word, and the last
//! good state stays; what only says more is read. Both ways: our readers, and the existing ones.

use crate::context::{COMMIT, Context, Ran, ggml};
use crate::upstream_reader::{NEWEST, Reader};
use serde_json::{Value, json};
use std::io::Read as _;

/// The answer about a change that the record knows: what it lets go is only certain while the record is whole.
const ROPE: [&str; 5] = [
    "select",
    "--changed-file",
    "src/ggml-cuda/rope.cu",
    "--format",
    "keys",
];
const ROPE_KEYS: &str = "[\"op-flash-attn-ext\",\"op-rope\",\"op-rope-back\",\"torch-killed\"]\n";

/// The documents of a store, and where each says its version.
const STORED: [&str; 4] = ["pointer", "manifest", "table", "symbol_map"];

/// Changes one document of the store as a publisher of another version would have: what names it names the new one, and
/// the pointer moves.
fn published_otherwise(context: &Context, document: &str, change: impl Fn(&mut Value)) {
    let path = context.path("store/pointers/ci/cuda.json");
    let mut pointer: Value = serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
    let mut manifest = object(context, &pointer["current"]["manifest"]);
    match document {
        "pointer" => change(&mut pointer),
        "manifest" => change(&mut manifest),
        role => {
            let mut changed = object(context, &manifest["files"][role]["digest"]);
            change(&mut changed);
            let stored = put(context, &changed);
            manifest["files"][role]["digest"] = stored["digest"].clone();
            manifest["files"][role]["size"] = stored["size"].clone();
        }
    }
    pointer["current"]["manifest"] = put(context, &manifest)["digest"].clone();
    pointer["generation"] = json!(pointer["generation"].as_u64().unwrap() + 1);
    fs_err::write(path, serde_json::to_vec(&pointer).unwrap()).unwrap();
}

/// The content of an object of the store.
fn object(context: &Context, digest: &Value) -> Value {
    let path = context.path("object.json");
    let (digest, path) = (digest.as_str().unwrap(), path.to_str().unwrap());
    let _ = fs_err::remove_file(path);
    let ran = context.kernrec(["store", "get", "store", digest, "--out", path]);
    assert_eq!(ran.status, 0, "{ran}");
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

fn put(context: &Context, object: &Value) -> Value {
    let path = context.write("object.json", serde_json::to_vec(object).unwrap());
    let ran = context.kernrec(["store", "put", "store", path.to_str().unwrap(), "--json"]);
    assert_eq!(ran.status, 0, "{ran}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// The version after the newest that is known.
fn next_version(document: &mut Value) {
    if document.get("rows").is_some() {
        document["version"] = json!(4);
        return;
    }
    if document.get("objects").is_some() {
        document["version"] = json!(3);
        return;
    }
    let schema = document["schema"].as_str().unwrap();
    let (name, version) = schema.rsplit_once('/').unwrap();
    let version: u64 = version.parse().unwrap();
    document["schema"] = json!(format!("{name}/{}", version + 1));
}

/// Says more than this version knows, wherever a document may.
fn say_more(document: &mut Value) {
    match document {
        Value::Object(fields) => {
            // Names of rows, roles and tools are no fields.
            let is_record = fields.keys().any(|key| {
                [
                    "schema", "version", "jobs", "source", "digest", "manifest", "objects",
                ]
                .contains(&key.as_str())
            });
            fields.values_mut().for_each(say_more);
            if is_record {
                fields.insert(
                    "of_a_later_version".to_owned(),
                    json!({"n": [1.5, null, "x"]}),
                );
            }
        }
        Value::Array(items) => items.iter_mut().for_each(say_more),
        _ => {}
    }
}

fn fetch(context: &Context, out: &str) -> Ran {
    context.kernrec(["fetch", "--url", "store", "--backend", "cuda", "--out", out])
}

#[test]
fn a_later_version_is_refused_and_the_installed_record_goes_on() {
    for document in STORED {
        let context = Context::fetched();
        published_otherwise(&context, document, next_version);
        // What cannot be followed is an error, what was followed and is none of ours is refused.
        let status = if document == "pointer" { 1 } else { 3 };
        let ran = fetch(&context, "coverage-data");
        assert_eq!(ran.status, status, "{document}: {ran}");
        assert!(
            ran.stderr.contains("error: cuda: document-version: "),
            "{document}: {ran}"
        );
        assert!(ran.stderr.contains("still in place"), "{document}: {ran}");
        let ran = context.kernrec(ROPE);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (0, ROPE_KEYS),
            "{document}: {ran}"
        );
        // Where nothing was installed before, nothing is, and everything runs.
        let ran = fetch(&context, "fresh");
        assert_eq!(ran.status, status, "{document}: {ran}");
        let mut select = context.command();
        let ran = context.run(select.args(ROPE).args(["--data", "fresh"]));
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (6, ""),
            "{document}: {ran}"
        );
    }
}

#[test]
fn what_says_more_is_read() {
    for document in STORED {
        let context = Context::fetched();
        published_otherwise(&context, document, say_more);
        let ran = fetch(&context, "coverage-data");
        assert_eq!(ran.status, 0, "{document}: {ran}");
        assert!(
            ran.stdout.starts_with("cuda: installed\n"),
            "{document}: {ran}"
        );
        let ran = context.kernrec(ROPE);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (0, ROPE_KEYS),
            "{document}: {ran}"
        );
    }
}

/// A pointer of a later version may forbid what this version cannot read, so nothing is published over it.
#[test]
fn nothing_is_published_over_a_pointer_of_a_later_version() {
    let context = Context::published();
    published_otherwise(&context, "pointer", next_version);
    let pointer = fs_err::read(context.path("store/pointers/ci/cuda.json")).unwrap();
    let ran = context.publish(["--json"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stdout.contains("\"document-version\""), "{ran}");
    assert_eq!(
        fs_err::read(context.path("store/pointers/ci/cuda.json")).unwrap(),
        pointer
    );
}

/// A later `fetch` left the folder, and an older `select` reads it.
#[test]
fn an_installed_record_of_a_later_version_lets_nothing_go() {
    let context = Context::fetched();
    let path = context.path("coverage-data/cuda/record.json");
    let mut record: Value = serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
    next_version(&mut record);
    fs_err::write(&path, serde_json::to_vec_pretty(&record).unwrap()).unwrap();
    let ran = context.kernrec(ROPE);
    assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{ran}");
    assert!(ran.stderr.contains("(installed-version)"), "{ran}");
    let ran = context.kernrec(["verify", "installed"]);
    assert_eq!(ran.status, 3, "{ran}");
    assert!(format!("{ran}").contains("installed-version"), "{ran}");
    // This version's own fetch heals it.
    let ran = fetch(&context, "coverage-data");
    assert_eq!(ran.status, 0, "{ran}");
    assert_eq!(context.kernrec(ROPE).stdout, ROPE_KEYS);
}

/// One bundle of the real recordings with its `bundle.json` changed, in a folder of its own.
fn bundle_otherwise(context: &Context, from: &str, to: &str) {
    assert_eq!(from.len(), to.len(), "the archive's header has the length");
    let job = ggml("recordings");
    let job = fs_err::read_dir(job)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let ran = context.kernrec(["pack", job.to_str().unwrap(), "--out", "packed"]);
    assert_eq!(ran.status, 0, "{ran}");
    let packed = fs_err::read_dir(context.path("packed"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let mut archive = Vec::new();
    zstd::Decoder::new(&fs_err::read(packed.path()).unwrap()[..])
        .unwrap()
        .read_to_end(&mut archive)
        .unwrap();
    let at = archive
        .windows(from.len())
        .position(|window| window == from.as_bytes())
        .unwrap();
    archive[at..at + to.len()].copy_from_slice(to.as_bytes());
    let mut frame = zstd::bulk::Compressor::new(3).unwrap();
    frame.include_checksum(true).unwrap();
    let name = kernrec_schemas::Digest::of(&archive).to_string();
    let name = name.strip_prefix("b3:").unwrap();
    context.write(
        &format!("later/{name}.tar.zst"),
        frame.compress(&archive).unwrap(),
    );
}

#[test]
fn a_bundle_of_a_later_version_is_refused() {
    let context = Context::published();
    bundle_otherwise(&context, "kernrec.bundle/1", "kernrec.bundle/2");
    let store = context.path("store/pointers/ci/cuda.json");
    let pointer = fs_err::read(&store).unwrap();
    let map = ggml("kernel_symbol_map.json.gz");
    let mut publish = context.command();
    publish.args([
        "publish", "--store", "store", "--commit", COMMIT, "--build", "1002",
    ]);
    publish.args(["--recordings", "later", "--symbol-map", &map, "--json"]);
    let ran = context.run(&mut publish);
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stdout.contains("unreadable-input"), "{ran}");
    assert!(ran.stdout.contains("\"bundle-json-refused\""), "{ran}");
    assert!(
        ran.stdout.contains("has version `kernrec.bundle/2`"),
        "{ran}"
    );
    assert_eq!(fs_err::read(store).unwrap(), pointer);
}

/// A header that is not understood is no header: names count, silence does not.
#[test]
fn a_recording_of_a_later_version_only_adds() {
    let context = Context::new();
    let header = "# kernrec v1 backend=cuda recorder=cupti pid=7 ppid=1 exe=/x";
    let footer = "# end records=1 unique=1 dropped=0 errors=0 unresolved=0";
    let recording = |header: &str| format!("{header}\n_Z1kv\n{footer}\n");
    let sidecar = json!({
        "step_key": "a", "job_id": "1", "commit": "c0de", "exit_status": 0, "backend": "cuda",
        "collection_available": true, "of_a_later_version": {"n": 1},
    });
    let row = |header: &str| {
        context.write("recordings/1/kernrec.json", sidecar.to_string());
        context.write("recordings/1/kern.7.txt", recording(header));
        let mut fold = context.command();
        fold.args([
            "fold",
            "--recordings",
            "recordings",
            "--backend",
            "cuda",
            "--commit",
            "c0de",
        ]);
        fold.args([
            "--build",
            "1",
            "--recorded-at",
            "2030-01-01T00:00:00Z",
            "--out",
            "table.json",
        ]);
        let ran = context.run(&mut fold);
        assert_eq!(ran.status, 0, "{ran}");
        let table: Value =
            serde_json::from_slice(&fs_err::read(context.path("table.json")).unwrap()).unwrap();
        assert_eq!(table["names"], json!(["_Z1kv"]));
        table["rows"]["a"].clone()
    };
    assert_eq!(row(header)["trace_complete"], true);
    assert_eq!(row(&format!("{header} later=1"))["trace_complete"], true);
    let later = row(&header.replace("v1", "v2"));
    assert_eq!(
        (&later["trace_complete"], &later["kernels"]),
        (&json!(false), &json!([0]))
    );
}

/// What the existing reader knew before AMD.
const BEFORE_ROCM: Reader = Reader {
    tables: &[2],
    maps: &[1],
};

#[test]
fn the_existing_reader_reads_what_we_publish_and_what_we_install() {
    let context = Context::new();
    let ran = context.publish(["--layout", "upstream"]);
    assert_eq!(ran.status, 0, "{ran}");
    let published = NEWEST.fetch(&context.path("store/ci/kernrec"), "").unwrap();
    let mut fetch = context.command();
    fetch.args([
        "fetch",
        "--url",
        "store",
        "--backend",
        "cuda",
        "--upstream-names",
    ]);
    let ran = context.run(&mut fetch);
    assert_eq!(ran.status, 0, "{ran}");
    let installed = NEWEST.load(&context.path("coverage-data"), "").unwrap();
    assert!(installed == published, "the same documents");
    assert_eq!(published.0["rows"].as_object().unwrap().len(), 129);
}

#[test]
fn an_older_one_of_the_existing_readers_refuses_it_and_says_so() {
    let context = Context::new();
    context.publish(["--layout", "upstream"]);
    let refused = BEFORE_ROCM
        .fetch(&context.path("store/ci/kernrec"), "")
        .unwrap_err();
    assert_eq!(refused, "table: version 3 is not known");
}
