//! A workload for tests: its first argument is what it does, the others belong to that.

#![expect(
    unsafe_code,
    clippy::exit,
    clippy::print_stdout,
    reason = "a program for tests that plays C programs"
)]

use std::ffi::{CString, OsString};
use std::io::{self, Error, Write as _};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, exit};
use std::ptr;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((act, rest)) = arguments.split_first() else {
        return ExitCode::FAILURE;
    };
    let done = match act.to_str() {
        Some("facts") => facts(),
        Some("odd") => odd(rest),
        Some("close-descriptors") => close_descriptors(),
        Some("reset-signals") => {
            reset_signals();
            Ok(())
        }
        Some("daemonise") => daemonise(rest),
        Some("children") => children(),
        Some("kill") => kill_self(rest),
        Some("stop") => kill_self(&[OsString::from("19")]).and_then(|()| exit(5)),
        Some("print") => print(rest),
        Some("signals") => signals(),
        Some("map") => map(rest),
        _ => Err(Error::other("no such act")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("hostile: {error}");
            ExitCode::FAILURE
        }
    }
}

fn number(text: &[OsString]) -> io::Result<i32> {
    let text = text.first().and_then(|text| text.to_str());
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::other("expected a number"))
}

/// Everything a program can find out about how it was started, but for what differs between any two runs.
fn facts() -> io::Result<()> {
    let status = fs_err::read_to_string("/proc/self/status")?;
    for line in status.lines() {
        let told = [
            "Sig",
            "Umask",
            "Uid",
            "Gid",
            "Groups",
            "NoNewPrivs",
            "NSpgid",
            "NSsid",
            "Cap",
        ];
        if told.iter().any(|start| line.starts_with(start)) && !line.starts_with("SigQ") {
            println!("{line}");
        }
    }
    println!("{}", fs_err::read_to_string("/proc/self/limits")?);
    println!("{}", fs_err::read_to_string("/proc/self/oom_score_adj")?);
    println!("{}", std::env::current_dir()?.display());
    println!("{:?}", std::env::args_os().collect::<Vec<_>>());
    // SAFETY: numbers only.
    unsafe {
        println!("nice {}", libc::getpriority(libc::PRIO_PROCESS, 0));
        for descriptor in 0..1024 {
            if libc::fcntl(descriptor, libc::F_GETFD) != -1 {
                println!("descriptor {descriptor}");
            }
        }
    }
    let ours: Vec<&str> = kernrec_variables();
    for (name, value) in std::env::vars_os() {
        if !ours.iter().any(|our| name == *our) {
            println!("{}={}", name.display(), value.display());
        }
    }
    Ok(())
}

/// The documented changes of the environment.
fn kernrec_variables() -> Vec<&'static str> {
    let set = [
        "CUDA_INJECTION64_PATH",
        "LD_PRELOAD",
        "KERNREC_DIR",
        "KERNREC_SESSION",
    ];
    let mut names = set.to_vec();
    names.push("VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS");
    names
}

/// Becomes another program, which gets signals and descriptors as no shell would leave them.
fn odd(command: &[OsString]) -> io::Result<()> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| Error::other("expected a command"))?;
    let mut command = Command::new(program);
    command.args(arguments);
    // SAFETY: system calls only.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGPIPE, libc::SIGINT, libc::SIGCHLD, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_IGN);
            }
            let mut set = mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGUSR1);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut());
            libc::close(0);
            libc::umask(0o027);
            Ok(())
        });
    }
    Err(command.exec())
}

fn close_descriptors() -> io::Result<()> {
    println!("closing");
    io::stdout().flush()?;
    for descriptor in 0..4096 {
        // SAFETY: this program is about to end.
        unsafe { libc::close(descriptor) };
    }
    exit(7)
}

fn reset_signals() {
    // SAFETY: numbers, and a live set.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut());
    }
    println!("reset");
}

/// Ends at once, while a process in a session of its own goes on and leaves a file.
fn daemonise(file: &[OsString]) -> io::Result<()> {
    let path = file
        .first()
        .ok_or_else(|| Error::other("expected a file"))?;
    let path = CString::new(path.as_bytes()).map_err(Error::other)?;
    println!("leaving");
    io::stdout().flush()?;
    // SAFETY: one thread; the children make system calls only.
    unsafe {
        if libc::fork() > 0 {
            return Ok(());
        }
        libc::setsid();
        if libc::fork() > 0 {
            libc::_exit(0);
        }
        for descriptor in 0..64 {
            libc::close(descriptor);
        }
        libc::open(path.as_ptr(), libc::O_CREAT | libc::O_WRONLY, 0o666);
        libc::_exit(0)
    }
}

fn children() -> io::Result<()> {
    let mut sum = 0;
    for n in 0..500 {
        // SAFETY: one thread; the child ends at once.
        let pid = unsafe { libc::fork() };
        match pid {
            0 => exit(n % 7),
            ..0 => return Err(Error::last_os_error()),
            _ => {}
        }
        let mut status = 0;
        // SAFETY: a live integer.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
        sum += libc::WEXITSTATUS(status);
    }
    println!("{sum}");
    Ok(())
}

fn kill_self(signal: &[OsString]) -> io::Result<()> {
    let signal = number(signal)?;
    println!("killing");
    io::stdout().flush()?;
    // SAFETY: numbers only.
    unsafe { libc::kill(libc::getpid(), signal) };
    Ok(())
}

/// Prints MiB of lines, every sixteenth of them on the other stream.
fn print(mebibytes: &[OsString]) -> io::Result<()> {
    let lines = number(mebibytes)? * 16_384;
    let mut out = io::BufWriter::new(io::stdout());
    let mut err = io::BufWriter::new(io::stderr());
    for n in 0..lines {
        let line = format!("{n:063}\n");
        if n % 16 == 0 {
            err.write_all(line.as_bytes())?;
        } else {
            out.write_all(line.as_bytes())?;
        }
    }
    out.flush()?;
    err.flush()
}

/// Maps a library and keeps it until its input ends.
fn map(library: &[OsString]) -> io::Result<()> {
    let path = library
        .first()
        .ok_or_else(|| Error::other("expected a library"))?;
    let path = CString::new(path.as_bytes()).map_err(Error::other)?;
    // SAFETY: a valid string.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY) };
    if handle.is_null() {
        return Err(Error::other("it cannot be mapped"));
    }
    println!("mapped");
    io::stdout().flush()?;
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

/// Says who its parent is, then which signals come, until the window changes.
fn signals() -> io::Result<()> {
    // SAFETY: live sets and numbers.
    unsafe {
        let mut set = mem::zeroed();
        libc::sigfillset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut());
        println!("parent {}", libc::getppid());
        loop {
            io::stdout().flush()?;
            let mut signal = 0;
            libc::sigwait(&raw const set, &raw mut signal);
            println!("signal {signal}");
            if signal == libc::SIGWINCH {
                exit(9);
            }
        }
    }
}
