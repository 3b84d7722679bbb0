//! A pair of real-world size from a local store: fetched cold, found unchanged, opened.
//!
//! Budgets: 60 ms cold, 5 ms unchanged; opening (load and verify) 60 ms. `cargo bench -p kernrec-fetch`.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../../schemas/benches/load/generate.rs"]
mod generate;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kernrec_fetch::{
    Backends, FetchOptions, FetchReport, Silent, Source, Status, fetch, installed,
};
use kernrec_schemas::manifest::{
    Counts, FileRef, MEDIA_JSON, ManifestParts, Producer, ROLE_SYMBOL_MAP, ROLE_TABLE,
    RecordManifest,
};
use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Pipeline, Timestamp};
use kernrec_store::{LocalStore, objects, pointers};
use std::collections::BTreeMap;
use std::path::Path;

fn publish(store: &LocalStore) {
    let (table, map) = (generate::table().to_canonical(), generate::map());
    let table_as_read = KernelTable::parse(&table).unwrap();
    let file = |bytes: &[u8]| FileRef {
        digest: objects::put(store, bytes).unwrap(),
        size: bytes.len() as u64,
        media_type: MEDIA_JSON.to_owned(),
    };
    let manifest = RecordManifest::new(ManifestParts {
        pipeline: Pipeline::new("ci").unwrap(),
        backend: Backend::Cuda,
        commit: table_as_read.source.commit.clone().unwrap(),
        build: table_as_read.source.build,
        recorded_at: table_as_read.source.recorded_at,
        files: BTreeMap::from([
            (ROLE_TABLE.to_owned(), file(&table)),
            (ROLE_SYMBOL_MAP.to_owned(), file(&map.to_canonical())),
        ]),
        counts: Counts::of(&table_as_read, [&map]),
        bundles: Vec::new(),
        producer: Producer {
            name: "kernrec".to_owned(),
            version: "0".to_owned(),
        },
    });
    let record = RecordRef {
        manifest: objects::put(store, &manifest.to_canonical()).unwrap(),
        commit: manifest.commit.clone(),
        build: manifest.build,
        published_at: Timestamp::now(),
    };
    let nonce = pointers::fresh_nonce().unwrap();
    let pointer = Pointer::first(manifest.pipeline, Backend::Cuda, record, nonce);
    pointers::swap(store, None, &pointer).unwrap();
}

fn run(store: &LocalStore, out: &Path) -> FetchReport {
    let options = FetchOptions {
        backends: Backends::Listed(vec![Backend::Cuda]),
        ..FetchOptions::new(out)
    };
    fetch(Source::Store(store), &options, &Silent)
}

fn expect(report: &FetchReport, status: Status) {
    assert_eq!(report.backends[0].status, status, "{report:?}");
}

fn benchmark(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::create(&dir.path().join("store")).unwrap();
    publish(&store);
    let out = dir.path().join("out");
    let report = run(&store, &out);
    expect(&report, Status::Installed);

    let mut group = criterion.benchmark_group("fetch");
    group.bench_function("cold", |bencher| {
        bencher.iter_batched(
            || tempfile::tempdir_in(dir.path()).unwrap(),
            |out| {
                expect(&run(&store, out.path()), Status::Installed);
                out
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("unchanged", |bencher| {
        bencher.iter(|| expect(&run(&store, &out), Status::Unchanged));
    });
    group.bench_function("open", |bencher| {
        bencher.iter(|| installed::open(&out, Backend::Cuda).unwrap());
    });
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
