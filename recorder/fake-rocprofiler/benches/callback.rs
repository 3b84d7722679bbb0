//! What the recorder takes for a record of a kernel whose name is known, inside the SDK's call back: while it
//! runs, completed kernels wait.
//!
//! The SDK is the imitation; only the recorder's function is timed.
#![expect(unsafe_code, reason = "calls the C functions of the imitation")]
#![expect(clippy::print_stdout, reason = "its results")]

use std::ffi::{OsStr, c_char, c_int, c_void};
use std::mem;
use std::process::{Command, ExitCode};
use std::time::Duration;

use criterion::{Criterion, Throughput};
use kernrec_fake_host::{Library, built_library};

/// Of a large model: about what PyTorch and its libraries dispatch.
const KERNELS: u64 = 2_000;
/// All that are loaded, for what they take in memory; the imitation's own part is in the figure.
const LOADED: u64 = 100_000;
/// What half of the recorder's buffer holds up to its watermark, and what a flush finds where little is launched.
/// Each with how many kernels overlap, to complete in reverse order.
const SIZES: [(u64, u64); 5] = [(2_849, 1), (2_849, 64), (2_849, 1_000), (100, 1), (1, 1)];

type Register = unsafe extern "C" fn(u64, *const c_char) -> u64;

fn main() -> ExitCode {
    // The SDK reads its variables from the environment that a process starts with.
    if std::env::var_os("ROCP_TOOL_LIBRARIES").is_some() {
        measure();
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let this = std::env::current_exe().expect("this program");
    let status = Command::new(this)
        .args(std::env::args_os().skip(1))
        .env(
            "ROCP_TOOL_LIBRARIES",
            built_library("libkernrec_rocprofiler.so"),
        )
        .env("KERNREC_DIR", folder.path())
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn measure() {
    let sdk = built_library("libkernrec_fake_rocprofiler.so");
    let sdk = Library::open(OsStr::new(&sdk)).expect("the imitation");
    let function = |name| sdk.symbol(name).expect("its function");
    // SAFETY: the imitation's functions of these names have these types.
    let (start, register, measure) = unsafe {
        (
            mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(function(
                c"rocprofiler_set_api_table",
            )),
            mem::transmute::<*mut c_void, Register>(function(c"fake_register")),
            mem::transmute::<*mut c_void, unsafe extern "C" fn(u64, u64, u64) -> u64>(function(
                c"fake_measure",
            )),
        )
    };
    // SAFETY: no arguments.
    unsafe { start() };
    let before = resident_kib();
    for number in 1..=LOADED {
        let name = format!(
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorI{number}EE\
             St5arrayIPcLm1EEEEviT0_T1_.kd\0"
        );
        // SAFETY: a string with its end.
        unsafe { register(0, name.as_ptr().cast()) };
        if number == KERNELS || number == LOADED {
            println!("{number} kernels loaded: {} KiB", resident_kib() - before);
        }
    }
    // Every name has been seen from here on.
    // SAFETY: numbers only.
    unsafe { measure(KERNELS, 2 * KERNELS, 1) };
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("known names");
    for (size, overlap) in SIZES {
        group.throughput(Throughput::Elements(size));
        group.bench_function(
            format!("{size} records in one call back, {overlap} overlap"),
            |b| {
                b.iter_custom(|times| {
                    // SAFETY: numbers only.
                    let spent: u64 = (0..times)
                        .map(|_| unsafe { measure(KERNELS, size, overlap) })
                        .sum();
                    Duration::from_nanos(spent)
                });
            },
        );
    }
    group.finish();
    criterion.final_summary();
}

/// What the process has in memory.
fn resident_kib() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").expect("the process's own state");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse().ok()).expect("a size")
}
