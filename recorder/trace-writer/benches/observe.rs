//! The price of a launch whose kernel is known: the recorder's inner loop.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kernrec_trace_writer::{Backend, Header, Trace};

fn known_name(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let header = Header {
        backend: Backend::Cuda,
        forked: false,
        fields: &[],
    };
    let mut trace = Trace::create(folder.path(), &header).expect("a new recording");
    let names: Vec<String> = (0..2_000)
        .map(|i| format!("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorI{i}EESt5arrayIPcLm1EEEEviT0_T1_"))
        .collect();
    for name in &names {
        trace.observe(name.as_bytes());
    }
    let mut next = names.iter().cycle();
    c.bench_function("known name of 100 bytes", |b| {
        b.iter(|| trace.observe(black_box(next.next().expect("a cycle never ends")).as_bytes()));
    });
}

criterion_group!(benches, known_name);
criterion_main!(benches);
