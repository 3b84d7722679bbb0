//! The acts that have to do with CUDA.

use std::io::{self, Error};
use std::path::PathBuf;
use std::thread;

use kernrec_fake_host::{exit_at_once, fork, limit_file_size, number, times, variable};
use kernrec_trace_writer::{Backend, Header, Trace};

use crate::ffi::{self, Client};

/// Performs an act that has to do with CUDA.
pub(crate) fn perform(name: &str, value: &str) -> Option<io::Result<()>> {
    Some(match name {
        // Maps a library, as an import of a framework maps CUPTI.
        "load" => ffi::load(value),
        // What the driver does in cuInit.
        "init" => init(),
        // `NAME*COUNT` or `NAME`.
        "launch" => launches(value, 0),
        "graph" => launches(value, 7),
        "launch-unnamed" => ffi::launch(None, 0),
        "launch-newline" => ffi::launch(Some("_Z3two\n_Z5linesv"), 0),
        // Before `init`: a handler that then runs after the recorder's own.
        "launch-at-exit" => ffi::launch_at_exit(),
        "launch-long" => number(value).and_then(|length| ffi::launch(Some(&"n".repeat(length)), 0)),
        // `THREADS,KERNELS`: each thread launches its own kernels.
        "threads" => threads(value),
        "knob" => knob(value),
        // Another client, linked against CUPTI: its symbols are looked up as the loader would.
        "client" => ffi::client(Client::Linked, value),
        // Another client, which asks CUPTI's own handle.
        "handle-client" => ffi::client(Client::Handle, value),
        "fork-launch" => fork(|| {
            // A failing act shows in the missing recording.
            let _ = ffi::launch(Some("_Z5childv"), 0);
            let _ = ffi::launch(Some("_Z5childv"), 0);
            exit_at_once(0);
        }),
        "fork-init" => fork(|| {
            let _ = init();
            exit_at_once(0);
        }),
        "rocm-trace" => rocm_trace(),
        _ => return None,
    })
}

fn init() -> io::Result<()> {
    ffi::inject(&variable("CUDA_INJECTION64_PATH")?)
}

fn launches(value: &str, graph_node: u64) -> io::Result<()> {
    let (name, count) = times(value)?;
    (0..count).try_for_each(|_| ffi::launch(Some(name), graph_node))
}

fn threads(value: &str) -> io::Result<()> {
    let (threads, kernels) = value.split_once(',').unwrap_or((value, "1"));
    let (threads, kernels) = (number(threads)?, number(kernels)?);
    thread::scope(|scope| {
        for t in 0..threads {
            scope.spawn(move || {
                for k in 0..kernels {
                    // A failing launch shows in the counts.
                    let _ = ffi::launch(Some(&format!("_Z_thread{t}_kernel{}", k % 10)), 0);
                }
            });
        }
    });
    Ok(())
}

fn knob(value: &str) -> io::Result<()> {
    let (knob, value) = value.split_once(',').unwrap_or((value, "1"));
    ffi::set_knob(number(knob)?, number(value)?)
}

/// A ROCm recording whose first line of evidence may not fit.
fn rocm_trace() -> io::Result<()> {
    let header = Header {
        backend: Backend::Rocm,
        forked: false,
        fields: &[],
    };
    let folder = PathBuf::from(variable("KERNREC_DIR")?);
    let mut trace = Trace::create(&folder, &header).map_err(Error::other)?;
    trace.comment("sdk_version=10302 build_sdk_version=10302");
    trace.flush();
    let size = trace.path().metadata()?.len();
    limit_file_size(size + 4)?;
    if trace.gpu_active() {
        return Err(Error::other("the limit did not hold"));
    }
    Ok(())
}
