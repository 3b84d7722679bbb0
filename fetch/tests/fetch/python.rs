//! The function record: installed beside the pairs, under the same promises.

use crate::support::{World, assert_commit, ci, commit_of, names_in, now, only, reason};
use kernrec_fetch::installed;
use kernrec_fetch::{BackendReport, Backends, FetchOptions, LayoutChoice, Source, Status};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::manifest::{
    Counts, FileRef, MEDIA_JSON, ManifestParts, Producer, ROLE_FUNCTION_TABLE, RecordManifest,
};
use kernrec_schemas::pointer::RecordRef;
use kernrec_schemas::{Backend, BuildNumber};
use kernrec_store::objects;
use serde_json::json;
use std::collections::BTreeMap;

/// Publishes a function record whose one function is named after the commit.
fn publish(world: &World, commit: &str, build: u64, change: impl FnOnce(&mut Counts)) -> RecordRef {
    let document = json!({"schema": "kernrec.functions/1",
        "source": {"pipeline": "ci", "build": build, "commit": commit, "recorded_at": now()},
        "files": [{"path": "vllm/a.py", "functions": [commit]}], "libraries": ["torch"],
        "rows": {"step": {"jobs": 1, "passed": true, "complete": true, "shards": {"expected": null, "seen": 0},
            "processes": 1, "clean_exits": 1, "functions": [0], "libraries": [0], "tests": {"executed": 1},
            "health": {"clean": 1}, "interpreters": [], "commits": [commit]}}});
    let table = FunctionTable::parse(document.to_string().as_bytes()).unwrap();
    let bytes = table.to_canonical();
    let mut counts = Counts::of_functions(&table);
    change(&mut counts);
    let file = FileRef {
        digest: objects::put(&world.store, &bytes).unwrap(),
        size: bytes.len() as u64,
        media_type: MEDIA_JSON.to_owned(),
    };
    let manifest = RecordManifest::new(ManifestParts {
        pipeline: ci(),
        backend: Backend::Python,
        commit: commit_of(commit),
        build: BuildNumber(build),
        recorded_at: now(),
        files: BTreeMap::from([(ROLE_FUNCTION_TABLE.to_owned(), file)]),
        counts,
        bundles: Vec::new(),
        producer: Producer {
            name: "kernrec".to_owned(),
            version: "0".to_owned(),
        },
    });
    let record = RecordRef {
        manifest: objects::put(&world.store, &manifest.to_canonical()).unwrap(),
        commit: commit_of(commit),
        build: BuildNumber(build),
        published_at: now(),
    };
    world.point_at(Backend::Python, &record);
    record
}

fn options(world: &World) -> FetchOptions {
    FetchOptions {
        backends: Backends::Listed(vec![Backend::Python]),
        ..world.options()
    }
}

fn fetch(world: &World) -> BackendReport {
    only(world.fetch_with(&options(world)))
}

fn installed_commit(world: &World) -> String {
    let functions = installed::open_functions(&world.out).unwrap();
    assert_eq!(
        functions.table.functions[0].name.as_str(),
        functions.record.commit.as_str()
    );
    functions.record.commit.to_string()
}

#[test]
fn it_is_installed_replaced_and_used_offline() {
    let world = World::new();
    publish(&world, "aaaa", 7, |_| ());
    assert_eq!(fetch(&world).status, Status::Installed);
    assert_eq!(installed_commit(&world), "aaaa");
    let folder = world.out.join("python");
    let mut names = names_in(&folder);
    names.sort();
    assert_eq!(names, [".hold", "function_table.json.zst", "record.json"]);
    assert_eq!(fetch(&world).status, Status::Unchanged);
    publish(&world, "bbbb", 8, |_| ());
    assert_eq!(fetch(&world).status, Status::Installed);
    assert_eq!(installed_commit(&world), "bbbb");
    let offline = kernrec_fetch::fetch(Source::Offline, &options(&world), &kernrec_fetch::Silent);
    assert_eq!(only(offline).status, Status::Offline);
}

#[test]
fn a_record_that_is_not_what_it_says_replaces_nothing() {
    let world = World::new();
    publish(&world, "aaaa", 7, |_| ());
    fetch(&world);
    publish(&world, "bbbb", 8, |counts| counts.functions += 1);
    let report = fetch(&world);
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Refused, "counts-mismatch")
    );
    assert_eq!(installed_commit(&world), "aaaa");
}

#[test]
fn a_damaged_table_is_noticed_and_healed() {
    let world = World::new();
    publish(&world, "aaaa", 7, |_| ());
    fetch(&world);
    let table = world.out.join("python/function_table.json.zst");
    crate::support::overwrite(&table, b"damaged");
    let error = installed::open_functions(&world.out).unwrap_err();
    assert_eq!(error.reason(), "installed-damaged");
    assert_eq!(fetch(&world).status, Status::Healed);
    assert_eq!(installed_commit(&world), "aaaa");
}

#[test]
fn all_brings_it_beside_the_pairs_and_gives_it_no_name_of_the_existing_system() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    publish(&world, "bbbb", 3, |_| ());
    let options = FetchOptions {
        backends: Backends::All,
        upstream_names: true,
        ..world.options()
    };
    for _ in 0..2 {
        let report = world.fetch_with(&options);
        assert_eq!(report.exit, Exit::Done, "{report:?}");
    }
    assert_commit(&world.open().unwrap(), "aaaa");
    assert_eq!(installed_commit(&world), "bbbb");
    assert!(installed::is_there(&world.out, Backend::Python));
    assert_eq!(installed::backends(&world.out), [Backend::Cuda]);
    let mut names = names_in(&world.out);
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    assert_eq!(
        names,
        [
            "cuda",
            "kernel_symbol_map.json.gz",
            "kernel_table.json.gz",
            "python"
        ]
    );
    // It is no pair of kernels, whoever asks for one.
    assert!(installed::open(&world.out, Backend::Python).is_err());
}

#[test]
fn nothing_is_looked_for_in_the_existing_systems_layout() {
    let world = World::new();
    let options = FetchOptions {
        layout: LayoutChoice::Upstream,
        ..options(&world)
    };
    let report = only(world.fetch_with(&options));
    assert_eq!(report.status, Status::NotPublished);
}
