//! A pipeline of 5,000 steps, armed.
use criterion::{Criterion, criterion_group, criterion_main};
use kernrec_pipeline::{Config, Switches, arm};
use std::fmt::Write as _;
use std::hint::black_box;

fn steps(count: usize) -> String {
    let mut text = String::from("steps:\n");
    for n in 0..count {
        let _ = write!(
            text,
            "- label: Kernels {n}\n  key: kernels-{n}\n  agents:\n    queue: gpu_1_queue\n  commands:\n"
        );
        for command in 0..6 {
            let _ = writeln!(text, "  - pytest -v tests/{n}/{command} -m 'not slow'");
        }
        text.push_str(
            "  timeout_in_minutes: 40\n  plugins:\n  - docker#v5.2.0:\n      image: image\n      gpus: all\n      \
             environment:\n      - HF_HOME\n      volumes:\n      - /data:/data\n",
        );
    }
    text
}

fn bench(criterion: &mut Criterion) {
    let text = steps(5_000);
    let config = Config::built_in();
    let switches = Switches {
        cuda: true,
        rocm: false,
        python: false,
    };
    let mut group = criterion.benchmark_group("arm");
    group.sample_size(10);
    group.bench_function("5,000 steps", |bencher| {
        bencher.iter(|| {
            let armed = arm(black_box(text.as_bytes()), &config, switches, None);
            armed.map(|armed| armed.bytes.len())
        });
    });
}

criterion_group!(benches, bench);
criterion_main!(benches);
