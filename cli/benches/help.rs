//! How long a program takes to start: `--help` of the umbrella program and of its largest sub-command.

use criterion::{Criterion, criterion_group, criterion_main};
use std::process::{Command, Stdio};

fn help(c: &mut Criterion) {
    let mut group = c.benchmark_group("help");
    for (name, args) in [
        ("kernrec", &["--help"][..]),
        ("publish", &["publish", "--help"][..]),
        ("verify-record", &["verify", "record", "--help"][..]),
    ] {
        group.bench_function(name, |b| b.iter(|| run(args)));
    }
    group.finish();
}

fn run(args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kernrec"));
    let status = command.args(args).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "--help failed");
}

criterion_group!(benches, help);
criterion_main!(benches);
