//! The acts: `name` or `name=value`.

use std::ffi::OsString;
use std::io::{self, Error};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use crate::ffi;

/// Performs each argument: an act of this program by `own`, which knows nothing of the other ones and
/// answers `None` then, else a common one.
#[expect(clippy::print_stderr, reason = "a program for tests")]
pub fn run(own: Own) -> ExitCode {
    for act in std::env::args().skip(1) {
        if let Err(error) = perform(own, &act) {
            eprintln!("{}: `{act}`: {error}", program());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// A program's own acts, by name and value.
type Own = fn(&str, &str) -> Option<io::Result<()>>;

fn perform(own: Own, act: &str) -> io::Result<()> {
    let (name, value) = act.split_once('=').unwrap_or((act, ""));
    match name {
        // In a forked child: acts separated by `;`, then `_exit`.
        "fork-do" => ffi::fork(|| {
            let done = value.split(';').try_for_each(|act| perform(own, act));
            ffi::exit_at_once(i32::from(done.is_err()));
        }),
        _ => own(name, value).unwrap_or_else(|| common(name, value)),
    }
}

fn program() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let name = program.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[expect(clippy::print_stdout, reason = "a program for tests")]
fn common(name: &str, value: &str) -> io::Result<()> {
    match name {
        // Children that end at once, through their exit handlers.
        "fork" => (0..number(value)?).try_for_each(|_| ffi::fork(|| ffi::exit(0))),
        // Runs this program again, acts separated by `;`.
        "spawn" => spawn(value),
        // Waits until some recording holds the text.
        "await" => await_text(value),
        "file-size-limit" => ffi::limit_file_size(number(value)? as u64),
        // No further file can be opened once so many are.
        "descriptors" => ffi::limit_descriptors(number(value)? as u64),
        // Too little for another thread's stack, until the next act of this name without a value.
        "address-space-left" => address_space(value),
        // With the library of faults preloaded: at most so many bytes at once for the recorder; none, any number.
        "recorder-memory" if value.is_empty() => ffi::set_fault(c"fault_memory", usize::MAX),
        "recorder-memory" => ffi::set_fault(c"fault_memory", number(value)?),
        "recorder-clock-fails" => ffi::set_fault(c"fault_clock", 1),
        "recorder-exit-handlers-fail" => ffi::set_fault(c"fault_exit_handlers", 1),
        "recorder-marks-fail" => ffi::set_fault(c"fault_marks", 1),
        "blocked-signals" => blocked_signals(),
        "close-descriptors" => {
            ffi::close_descriptors();
            Ok(())
        }
        // Removes a folder with the files in it.
        "remove" => ffi::remove_folder(value.as_ref()),
        // `from,to`
        "rename" => rename(value),
        "chdir" => std::env::set_current_dir(value),
        "print" => {
            println!("{value}");
            Ok(())
        }
        "end" => end(value),
        _ => Err(Error::other("no such act")),
    }
}

fn rename(value: &str) -> io::Result<()> {
    let (from, to) = value
        .split_once(',')
        .ok_or_else(|| Error::other("rename what to what"))?;
    ffi::rename(from.as_ref(), to.as_ref())
}

/// A variable of the environment that must be set.
pub fn variable(name: &str) -> io::Result<OsString> {
    std::env::var_os(name).ok_or_else(|| Error::other(format!("{name} is not set")))
}

/// A number.
pub fn number(text: &str) -> io::Result<usize> {
    text.parse().map_err(Error::other)
}

fn spawn(script: &str) -> io::Result<()> {
    Command::new(std::env::current_exe()?)
        .args(script.split(';'))
        .status()
        .map(drop)
}

/// `NAME*COUNT` or `NAME`.
pub fn times(value: &str) -> io::Result<(&str, usize)> {
    let (name, count) = value.split_once('*').unwrap_or((value, "1"));
    Ok((name, number(count)?))
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

/// Prints each thread but the first: its name and the mask of signals it blocks, in hex.
#[expect(clippy::print_stdout, reason = "a program for tests")]
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
        let name = ffi::read_file(&task.path().join("comm"))?;
        let name = String::from_utf8_lossy(&name);
        println!("{} {}", name.trim(), mask.unwrap_or_default().trim());
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
