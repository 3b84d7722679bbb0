//! The whole of `kernrec select` on the largest question: 330 steps, the records of two backends with 10,447 symbols in
//! 570 objects each, a change of 200 sources in a git repository, and a pipeline of those steps; the start of the
//! process and of git included. The budget is 150 ms for the decision (`attribution file`); reading 200 sources for what
//! changed in them comes on top. `cargo bench -p kernrec-cli --bench select`.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../../schemas/benches/load/generate.rs"]
mod generate;

use criterion::{Criterion, criterion_group, criterion_main};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Commit, RowBackend, StepKey};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const STEPS: usize = 330;
const CHANGED: usize = 200;

const SELECT: [&str; 12] = [
    "select",
    "--data",
    "data",
    "--repo",
    "repo",
    "--diff",
    "main...topic",
    "--steps",
    "pipeline.yml",
    "--format",
    "keys",
    "--backend=cuda",
];

fn select(criterion: &mut Criterion) {
    let world = tempfile::tempdir().unwrap();
    let at = world.path();
    let commit = repository(at);
    fs_err::write(at.join("pipeline.yml"), pipeline()).unwrap();
    for backend in Backend::KERNELS {
        publish(at, backend, &commit);
    }
    kernrec(at, &["fetch", "--url", "store", "--out", "data"]);
    let mut group = criterion.benchmark_group("select");
    group.sample_size(30);
    for attribution in ["file", "kernel"] {
        let args = [&SELECT[..], &["--attribution", attribution]].concat();
        group.bench_function(format!("attribution {attribution}"), |b| {
            b.iter(|| kernrec(at, &args));
        });
    }
    group.finish();
}

/// A repository of the map's sources; on `topic` 200 of them changed. Returns the commit of `main`.
fn repository(at: &Path) -> Commit {
    let sources: Vec<String> = generate::map()
        .objects
        .into_iter()
        .map(|object| object.source)
        .collect();
    let write = |source: &String, text: &str| {
        let path = at.join("repo").join(source);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text.repeat(100)).unwrap();
    };
    for source in &sources {
        write(source, "__global__ void k();\n");
    }
    git(at, &["init", "-q", "-b", "main", "repo"]);
    let commit = committed(at);
    git(at, &["-C", "repo", "checkout", "-q", "-b", "topic"]);
    for source in &sources[..CHANGED] {
        write(source, "__global__ void k2();\n");
    }
    committed(at);
    Commit::new(commit).unwrap()
}

fn committed(at: &Path) -> String {
    git(at, &["-C", "repo", "add", "-A"]);
    git(
        at,
        &[
            "-C",
            "repo",
            "-c",
            "user.name=b",
            "-c",
            "user.email=b@localhost",
            "commit",
            "-q",
            "-m",
            "x",
        ],
    );
    git(at, &["-C", "repo", "rev-parse", "HEAD"])
}

/// Every step names three folders of sources and a glob.
fn pipeline() -> String {
    let mut text = "steps:\n".to_owned();
    for step in 0..STEPS {
        let group = |n: usize| format!("csrc/kernels/group_{}/", (step + n) % 17);
        let (a, b, c) = (group(0), group(5), group(9));
        writeln!(
            text,
            "  - label: step {step}\n    key: gpu-step-{step}\n    command: pytest\n    if_changed: [{a}, {b}, {c}, \"csrc/**/*_{step}.cu\"]"
        )
        .unwrap();
    }
    text
}

fn publish(at: &Path, backend: Backend, commit: &Commit) {
    let mut map: SymbolMap = generate::map();
    map.backend = backend;
    map.commit = Some(commit.clone());
    let mut table: KernelTable = generate::table();
    table.source.commit = Some(commit.clone());
    for row in table.rows.values_mut() {
        row.backend = RowBackend::Known(backend);
    }
    let rows: Vec<_> = table.rows.values().cloned().collect();
    for (step, row) in (0..STEPS).zip(rows.into_iter().cycle()) {
        table
            .rows
            .insert(StepKey::new(format!("gpu-step-{step}")).unwrap(), row);
    }
    fs_err::write(at.join("table.json"), table.to_canonical()).unwrap();
    fs_err::write(at.join("map.json"), map.to_canonical()).unwrap();
    let commit = commit.as_str();
    let args = [
        "publish",
        "--store",
        "store",
        "--commit",
        commit,
        "--build",
        "12",
        "--pipeline",
        "ci",
    ];
    let documents = ["--table", "table.json", "--symbol-map", "map.json"];
    kernrec(at, &[&args[..], &documents].concat());
}

fn kernrec(at: &Path, args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kernrec"));
    command
        .args(args)
        .current_dir(at)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let code = command.status().unwrap().code();
    // So many sources changed that every step must run.
    assert!(matches!(code, Some(0 | 6)), "{args:?} failed");
}

fn git(at: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(at)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

criterion_group!(benches, select);
criterion_main!(benches);
