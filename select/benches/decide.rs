//! The cost of a decision beyond loading, over the documents of the benchmark of loading: 234 steps, 10,447 symbols,
//! 570 objects with 300 dependencies each. The budget is 20 ms on one core. `cargo bench -p kernrec-select`.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../../schemas/benches/load/cpu_time.rs"]
mod cpu_time;
#[path = "../../schemas/benches/load/generate.rs"]
mod generate;

use cpu_time::CpuTime;
use criterion::{Criterion, criterion_group, criterion_main};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Timestamp};
use kernrec_select::{Change, Index, Lineage, Pair, Policy, Question, Record, render, select};
use std::hint::black_box;

/// Through the loaders, so that texts lie in memory as they do after a real load.
fn pair() -> Pair {
    Pair {
        backend: Backend::Cuda,
        table: KernelTable::parse(&generate::table().to_canonical()).unwrap(),
        maps: vec![SymbolMap::load(&generate::map().to_canonical()).unwrap()],
        published_at: Some(now()),
        revoked: false,
        unverified: None,
        lineage: Lineage::default(),
    }
}

fn now() -> Timestamp {
    "2030-01-01T00:00:00Z".parse().unwrap()
}

fn decide(criterion: &mut Criterion<CpuTime>) {
    let pair = pair();
    let sources: Vec<String> = pair.maps[0]
        .objects
        .iter()
        .map(|object| object.source.clone())
        .collect();
    let headers: Vec<&str> = pair.maps[0].objects[0]
        .deps
        .iter()
        .map(AsRef::as_ref)
        .collect();
    let changes = [
        ("1 source", Change::of_files(&sources[..1]).unwrap()),
        ("200 sources", Change::of_files(&sources[..200]).unwrap()),
        ("200 headers", Change::of_files(&headers[..200]).unwrap()),
    ];
    criterion.bench_function("index one pair", |b| {
        b.iter(|| drop(black_box(Index::build(&pair).unwrap())));
    });
    let records = [Record::Ready(Box::new(pair.clone()))];
    let question = |change| Question {
        change,
        steps: None,
        policy: Policy::at(now()),
        placing: kernrec_select::Placing::File,
        libraries: None,
    };
    for (name, change) in &changes {
        criterion.bench_function(&format!("select, {name} changed"), |b| {
            b.iter(|| select(black_box(&records), &question(change)).unwrap());
        });
    }
    let report = select(&records, &question(&changes[0].1)).unwrap();
    criterion.bench_function("render text", |b| {
        b.iter(|| render::text(black_box(&report)));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = decide
}
criterion_main!(benches);
