//! Reading 570 real objects, against `cuobjdump -symbols` and against reading their bytes.
//!
//! `cargo bench -p kernrec-symbols` compiles 100 distinct objects on its first run (minutes) and
//! keeps them in the target folder. All three measurements use the same number of workers, in one
//! run; what counts is their ratio, not the milliseconds.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot set itself up fails"
)]

#[path = "../tests/toolchain/mod.rs"]
mod toolchain;

use kernrec_schemas::Backend;
use kernrec_symbols::{ObjectReader, read_object};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const DISTINCT: usize = 100;
const OBJECTS: usize = 570;
const ROUNDS: usize = 5;
/// `default` is nvcc's choice when it is not told.
const MODES: [&str; 5] = ["none", "default", "speed", "balance", "size"];

fn main() {
    for mode in MODES {
        let objects = tree(mode);
        let bytes: u64 = objects
            .iter()
            .map(|path| fs_err::metadata(path).unwrap().len())
            .sum();
        let kernels: BTreeSet<String> = objects[..DISTINCT]
            .iter()
            .flat_map(|path| read_object(path, Backend::Cuda).unwrap().symbols)
            .collect();
        reset_peak();
        let before = peak_memory();
        let ours = best(ROUNDS, || {
            let kernels = |reader: &mut ObjectReader, path: &PathBuf| {
                reader.read(path, Backend::Cuda).unwrap().symbols.len()
            };
            objects
                .par_iter()
                .map_init(ObjectReader::default, kernels)
                .sum()
        });
        let peak = peak_memory();
        let read = best(ROUNDS, || {
            each(&objects, |path| fs_err::read(path).unwrap().len())
        });
        let theirs = best(1, || {
            each(&objects, |path| toolchain::cuobjdump_kernels(path).len())
        });
        println!(
            "compress-mode {mode}: {OBJECTS} objects, {:.1} MB, {} kernel names, {} workers",
            bytes as f64 / 1e6,
            kernels.len(),
            rayon::current_num_threads(),
        );
        println!("  reading the bytes  {read:>10.1?}");
        println!(
            "  kernrec            {ours:>10.1?}  {:.2} times reading, peak memory {:.1} MB ({:.1} before)",
            ratio(ours, read),
            peak as f64 / 1e6,
            before as f64 / 1e6,
        );
        if let Some(unpacking) = unpacking(&objects) {
            println!(
                "  zstd alone         {unpacking:>10.1?}  the decoder over the same payloads, in memory"
            );
        }
        println!(
            "  cuobjdump -symbols {theirs:>10.1?}  {:.0} times kernrec",
            ratio(theirs, ours)
        );
    }
}

/// Makes the kernel forget the process's highest memory use so far.
fn reset_peak() {
    fs_err::write("/proc/self/clear_refs", "5").unwrap();
}

/// The highest memory use since then, in bytes.
fn peak_memory() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes: u64 = line
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    kilobytes * 1024
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

fn each(objects: &[PathBuf], work: impl Fn(&Path) -> usize + Sync) -> usize {
    objects
        .par_iter()
        .with_max_len(1)
        .map(|path| work(path))
        .sum()
}

fn best(rounds: usize, work: impl Fn() -> usize) -> Duration {
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed()
    };
    (0..rounds).map(time).min().unwrap()
}

/// The time that the zstd decoder takes for every payload it packs; `None` where it packs none. What is left of ours
/// is reading, and looking for names.
fn unpacking(objects: &[PathBuf]) -> Option<Duration> {
    let payloads: Vec<(Vec<u8>, usize)> = objects.iter().flat_map(|path| packed(path)).collect();
    if payloads.is_empty() {
        return None;
    }
    let worker = || (zstd::bulk::Decompressor::new().unwrap(), Vec::new());
    Some(best(ROUNDS, || {
        payloads
            .par_iter()
            .map_init(worker, |(decoder, image), (payload, size)| {
                image.clear();
                image.reserve_exact(*size);
                decoder.decompress_to_buffer(payload, image).unwrap()
            })
            .sum()
    }))
}

/// The zstd frames in an object's only container, each with the size it unpacks to.
fn packed(path: &Path) -> Vec<(Vec<u8>, usize)> {
    let bytes = fs_err::read(path).unwrap();
    let word =
        |at: usize| usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()));
    let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let magic = 0xBA55_ED50_u32.to_le_bytes();
    let start = bytes.windows(4).position(|window| window == magic).unwrap();
    let end = start + 16 + word(start + 8).unwrap();
    let mut found = Vec::new();
    let mut at = start + 16;
    while at < end {
        let payload = at + half(at + 4);
        if half(at + 40) & 0x8000 != 0 {
            let frame = bytes[payload..payload + half(at + 16)].to_vec();
            found.push((frame, word(at + 56).unwrap()));
        }
        at = payload + word(at + 8).unwrap();
    }
    found
}

/// The object tree, compiled where it is not there yet.
fn tree(mode: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("objects-{mode}"));
    fs_err::create_dir_all(&folder).unwrap();
    (0..DISTINCT)
        .into_par_iter()
        .with_max_len(1)
        .for_each(|number| distinct(&folder, number, mode));
    let name = |number: usize| folder.join(format!("{number}.o"));
    for number in (DISTINCT..OBJECTS).filter(|number| !name(*number).exists()) {
        fs_err::copy(name(number % DISTINCT), name(number)).unwrap();
    }
    (0..OBJECTS).map(name).collect()
}

fn distinct(folder: &Path, number: usize, mode: &str) {
    let object = folder.join(format!("{number}.o"));
    if object.exists() {
        return;
    }
    let source = folder.join(format!("{number}.cu"));
    fs_err::write(&source, text(number)).unwrap();
    let building = folder.join(format!("{number}.building.o"));
    let flag = format!("--compress-mode={mode}");
    let mut flags = vec![
        "-gencode=arch=compute_80,code=[sm_80,compute_80]",
        "-gencode=arch=compute_90,code=sm_90",
    ];
    if mode != "default" {
        flags.push(&flag);
    }
    toolchain::compile_cuda(&source, &building, &flags);
    fs_err::rename(&building, &object).unwrap();
}

/// Some dozen kernels of a library's usual size and naming.
fn text(number: usize) -> String {
    let mut text = format!(
        "namespace part_{number} {{\ntemplate <typename T, int N> __global__ void step(T *out, const T *in, int n) {{\n\
         T sum = T({number});\n#pragma unroll\nfor (int i = 0; i < N; ++i) sum += in[(threadIdx.x * N + i) % n] * T(i);\n\
         out[threadIdx.x] = sum; }}\n"
    );
    for size in [4, 16, 32, 64] {
        for element in ["float", "double", "int", "long long"] {
            writeln!(text, "template __global__ void step<{element}, {size}>({element} *, const {element} *, int);").unwrap();
        }
    }
    text + "}\n"
}
