//! Load and verify of a table and a map of real-world size: decompress, hash, parse, check.
//!
//! The budget for the pair is 60 ms on one core. `cargo bench -p kernrec-schemas`.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod cpu_time;
mod generate;

use cpu_time::CpuTime;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kernrec_schemas::Digest;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use std::hint::black_box;

/// zstd's level for published objects.
const LEVEL: i32 = 9;

fn load(criterion: &mut Criterion<CpuTime>) {
    let table = generate::table().to_canonical();
    let map = generate::map().to_canonical();
    let (packed_table, packed_map) = (pack(&table), pack(&map));

    let mut parse = criterion.benchmark_group("parse");
    parse.throughput(Throughput::Bytes(table.len() as u64));
    parse.bench_function("table", |b| {
        b.iter(|| KernelTable::parse(black_box(&table)).unwrap());
    });
    parse.throughput(Throughput::Bytes(map.len() as u64));
    parse.bench_function("map", |b| {
        b.iter(|| SymbolMap::load(black_box(&map)).unwrap());
    });
    parse.finish();

    criterion.bench_function("load and verify the pair", |b| {
        b.iter(|| {
            let table = unpack(black_box(&packed_table), table.len());
            let map = unpack(black_box(&packed_map), map.len());
            let digests = (Digest::of(&table), Digest::of(&map));
            let pair = (
                KernelTable::parse(&table).unwrap(),
                SymbolMap::load(&map).unwrap(),
            );
            (digests, pair)
        });
    });
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, LEVEL).unwrap()
}

fn unpack(packed: &[u8], size: usize) -> Vec<u8> {
    zstd::bulk::decompress(packed, size).unwrap()
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = load
}
criterion_main!(benches);
