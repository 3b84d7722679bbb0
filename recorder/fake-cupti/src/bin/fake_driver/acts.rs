//! The acts: `name` or `name=value`.

use std::ffi::OsString;
use std::io::{self, Error};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use kernrec_trace_writer::{Backend, Header, Trace};

use crate::ffi::{self, Client};

/// Performs one act.
pub(crate) fn perform(act: &str) -> io::Result<()> {
    let (name, value) = act.split_once('=').unwrap_or((act, ""));
    match name {
        // Maps a library, as an import of a framework maps CUPTI.
        "load" => ffi::load(value),
        // What the driver does in cuInit.
        "init" => ffi::inject(&variable("CUDA_INJECTION64_PATH")?),
        // `NAME*COUNT` or `NAME`.
        "launch" => launches(value, 0),
        "graph" => launches(value, 7),
        "launch-unnamed" => ffi::launch(None, 0),
        "launch-newline" => ffi::launch(Some("_Z3two\n_Z5linesv"), 0),
        // Before `init`: a handler that then runs after the recorder's own.
        "launch-at-exit" => ffi::launch_at_exit(),
        "launch-long" => ffi::launch(Some(&"n".repeat(number(value)?)), 0),
        // `THREADS,KERNELS`: each thread launches its own kernels.
        "threads" => threads(value),
        "knob" => knob(value),
        // Another client, linked against CUPTI: its symbols are looked up as the loader would.
        "client" => ffi::client(Client::Linked, value),
        // Another client, which asks CUPTI's own handle.
        "handle-client" => ffi::client(Client::Handle, value),
        "fork" => (0..number(value)?).try_for_each(|_| ffi::fork(|| ffi::exit(0))),
        "fork-launch" => ffi::fork(|| {
            // A failing act shows in the missing recording.
            let _ = ffi::launch(Some("_Z5childv"), 0);
            let _ = ffi::launch(Some("_Z5childv"), 0);
            ffi::exit_at_once(0);
        }),
        "fork-init" => ffi::fork(|| {
            let _ = perform("init");
            ffi::exit_at_once(0);
        }),
        // Runs this program again, acts separated by `;`.
        "spawn" => spawn(value),
        // Waits until some recording holds the text.
        "await" => await_text(value),
        "file-size-limit" => ffi::limit_file_size(number(value)? as u64),
        // Too little for another thread's stack, until the next act of this name without a value.
        "address-space-left" => address_space(value),
        // With the library of faults preloaded: at most so many bytes at once for the recorder; none, any number.
        "recorder-memory" if value.is_empty() => ffi::set_fault(c"fault_memory", usize::MAX),
        "recorder-memory" => ffi::set_fault(c"fault_memory", number(value)?),
        "recorder-clock-fails" => ffi::set_fault(c"fault_clock", 1),
        "recorder-exit-handlers-fail" => ffi::set_fault(c"fault_exit_handlers", 1),
        "blocked-signals" => blocked_signals(),
        "close-descriptors" => {
            ffi::close_descriptors();
            Ok(())
        }
        "chdir" => std::env::set_current_dir(value),
        "rocm-trace" => rocm_trace(),
        "end" => end(value),
        _ => Err(Error::other("no such act")),
    }
}

fn variable(name: &str) -> io::Result<OsString> {
    std::env::var_os(name).ok_or_else(|| Error::other(format!("{name} is not set")))
}

fn number(text: &str) -> io::Result<usize> {
    text.parse().map_err(Error::other)
}

fn launches(value: &str, graph_node: u64) -> io::Result<()> {
    let (name, count) = value.split_once('*').unwrap_or((value, "1"));
    (0..number(count)?).try_for_each(|_| ffi::launch(Some(name), graph_node))
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

fn spawn(script: &str) -> io::Result<()> {
    Command::new(std::env::current_exe()?)
        .args(script.split(';'))
        .status()
        .map(drop)
}

/// The waiting has no limit of its own: a recording that never comes is the test runner's timeout.
fn await_text(text: &str) -> io::Result<()> {
    let folder = PathBuf::from(variable("KERNREC_DIR")?);
    loop {
        for entry in folder.read_dir()? {
            let bytes = ffi::read_file(&entry?.path())?;
            if bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
            {
                return Ok(());
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// `KIB`: lets the address space grow by so much. Empty: without a limit.
fn address_space(value: &str) -> io::Result<()> {
    if value.is_empty() {
        return ffi::limit_address_space(None);
    }
    let status = ffi::read_file("/proc/self/status".as_ref())?;
    let status = String::from_utf8_lossy(&status);
    let used = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let used = used.and_then(|line| line.trim().strip_suffix(" kB"));
    let used = number(used.ok_or_else(|| Error::other("no size is known"))?)?;
    ffi::limit_address_space(Some((used + number(value)?) as u64 * 1024))
}

/// Prints the mask of blocked signals of each thread but the first, in hex.
fn blocked_signals() -> io::Result<()> {
    let first = std::process::id().to_string();
    for task in PathBuf::from("/proc/self/task").read_dir()? {
        let task = task?;
        if task.file_name().to_string_lossy() == first {
            continue;
        }
        let status = ffi::read_file(&task.path().join("status"))?;
        let status = String::from_utf8_lossy(&status);
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        println!("{}", mask.unwrap_or_default().trim());
    }
    Ok(())
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
    let size = ffi::read_file(trace.path())?.len() as u64;
    ffi::limit_file_size(size + 4)?;
    if trace.gpu_active() {
        return Err(Error::other("the limit did not hold"));
    }
    Ok(())
}

fn end(how: &str) -> io::Result<()> {
    match how {
        "exit" => ffi::exit(7),
        "at-once" => ffi::exit_at_once(7),
        "in-handler" => ffi::exit_in_handler(),
        "terminate" => ffi::kill_self(libc::SIGTERM),
        "kill" => ffi::kill_self(libc::SIGKILL),
        _ => Err(Error::other("no such end")),
    }
}

/// A C string of a path.
pub(crate) fn c_path(path: &std::ffi::OsStr) -> io::Result<std::ffi::CString> {
    std::ffi::CString::new(path.as_bytes()).map_err(Error::other)
}
