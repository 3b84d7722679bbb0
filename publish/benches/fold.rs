//! Folding a nightly build: 18,118 recordings of 234 steps.
//!
//! `cargo bench -p kernrec-publish --bench fold`. Several runs with a warm page cache:
//! merely reading the files, folding them, folding the same jobs from bundles, and the peak of memory.
#![expect(clippy::print_stdout, reason = "a benchmark's output is its purpose")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use kernrec_bench::{COMMIT, Measured, Shape, best_of, generate, peak_resident_bytes, reset_peak};
use kernrec_publish::{FoldOptions, Inputs, collect, fold};
use kernrec_schemas::{Backend, BuildNumber, Commit};
use kernrec_store::bundle::{self, PackOptions};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

const RUNS: u32 = 9;
const MIB: f64 = 1024.0 * 1024.0;

fn main() {
    let raw = tempfile::tempdir().unwrap();
    let packed = tempfile::tempdir().unwrap();
    let written = generate(raw.path(), &Shape::NIGHTLY).unwrap();
    for job in bundle::job_folders(raw.path()).unwrap().jobs {
        bundle::pack(&job, packed.path(), &PackOptions::default()).unwrap();
    }
    println!(
        "{} recordings, {:.1} MiB, {} threads",
        written.recordings,
        written.bytes as f64 / MIB,
        rayon::current_num_threads()
    );
    let read = best_of(RUNS, || read_all(raw.path())).unwrap();
    assert_eq!(read.result, written.bytes);
    let (files, files_peak) = with_peak(|| table(raw.path()));
    let (bundles, bundles_peak) = with_peak(|| table(packed.path()));
    assert_eq!(files.result, bundles.result);
    let collected = collect(&inputs(raw.path())).unwrap();
    let fold_only = best_of(RUNS, || fold(&collected, &options()).rows.len()).unwrap();
    println!("                   clock              processor          peak memory");
    let line = |what: &str, time: Duration, cpu: Duration, peak: f64| {
        println!(
            "{what:<14} {:7.1} ms {:5.2} x  {:7.1} ms {:5.2} x  {peak:4.0} MiB",
            millis(time),
            time.as_secs_f64() / read.time.as_secs_f64(),
            millis(cpu),
            cpu.as_secs_f64() / read.cpu.as_secs_f64(),
        );
    };
    line("read only", read.time, read.cpu, 0.0);
    line("from files", files.time, files.cpu, files_peak);
    line("from bundles", bundles.time, bundles.cpu, bundles_peak);
    line("fold alone", fold_only.time, fold_only.cpu, 0.0);
}

fn with_peak<T>(work: impl FnMut() -> T) -> (Measured<T>, f64) {
    reset_peak().unwrap();
    let measured = best_of(RUNS, work).unwrap();
    (measured, peak_resident_bytes().unwrap() as f64 / MIB)
}

/// The floor: every file listed, opened and read, on all cores.
fn read_all(dir: &Path) -> usize {
    let jobs: Vec<PathBuf> = paths(dir);
    jobs.par_iter()
        .map(|job| {
            paths(job)
                .iter()
                .map(|file| fs_err::read(file).unwrap().len())
                .sum::<usize>()
        })
        .sum()
}

fn paths(dir: &Path) -> Vec<PathBuf> {
    fs_err::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

/// Everything `kernrec fold` does short of writing its output.
fn table(dir: &Path) -> Vec<u8> {
    let collected = collect(&inputs(dir)).unwrap();
    fold(&collected, &options()).to_canonical()
}

fn inputs(dir: &Path) -> Inputs {
    Inputs {
        recordings: vec![dir.to_path_buf()],
        bundles: Vec::new(),
    }
}

fn options() -> FoldOptions {
    FoldOptions {
        backend: Backend::Cuda,
        commit: Commit::new(COMMIT).unwrap(),
        build: BuildNumber(1001),
        org: "acme".to_owned(),
        pipeline: "ci".parse().unwrap(),
        recorded_at: "2030-01-01T00:00:00Z".parse().unwrap(),
        jobs: None,
        map_variants: None,
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
