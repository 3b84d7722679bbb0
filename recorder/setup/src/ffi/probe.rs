//! Loading a library in a process of its own: one that crashes or hangs the loader takes nobody along.

use std::ffi::{CStr, CString, c_int, c_void};
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How a library failed to load.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProbeError {
    #[error("{0}")]
    Refused(String),
    #[error("it lacks `{0}`")]
    Lacks(String),
    #[error("loading it ended the process (status {0:#x})")]
    Died(c_int),
    #[error("loading it took more than {0:?}")]
    TimedOut(Duration),
    #[error("try it in a process of its own: {0}")]
    NotTried(#[source] io::Error),
}

/// What the child says, followed by a message.
const LOADED: u8 = b'+';
const VERSION: u8 = b'v';
const REFUSED: u8 = b'-';
const LACKS: u8 = b'?';

/// A message of the loader is a line; more is not read.
const MAX_MESSAGE: u64 = 4096;

/// A function that writes three numbers and returns 0 if it could.
type AskVersion = unsafe extern "C" fn(*mut u32, *mut u32, *mut u32) -> c_int;

/// What is asked of a library once it is loaded.
#[derive(Clone, Copy)]
enum Ask<'a> {
    /// Nothing more.
    Nothing,
    /// Whether it has this function.
    Has(&'a CStr),
    /// What this function, an [`AskVersion`], says.
    Version(&'a CStr),
}

/// Loads a library, and finds a function in it, in a child that ends right after.
pub(crate) fn load(
    path: &Path,
    function: Option<&CStr>,
    limit: Duration,
) -> Result<(), ProbeError> {
    let ask = function.map_or(Ask::Nothing, Ask::Has);
    ask_child(path, ask, limit).map(drop)
}

/// As [`load`], and has a function of the library say its major, minor and patch version.
pub(crate) fn version(
    path: &Path,
    function: &CStr,
    limit: Duration,
) -> Result<[u32; 3], ProbeError> {
    let answer = ask_child(path, Ask::Version(function), limit)?;
    let mut numbers = [0; 3];
    for (number, bytes) in numbers.iter_mut().zip(answer.chunks_exact(4)) {
        *number = u32::from_ne_bytes(bytes.try_into().unwrap_or_default());
    }
    Ok(numbers)
}

/// The child's answer without its first byte.
fn ask_child(path: &Path, ask: Ask<'_>, limit: Duration) -> Result<Vec<u8>, ProbeError> {
    let not_tried = ProbeError::NotTried;
    let path = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| not_tried(io::Error::from(io::ErrorKind::InvalidInput)))?;
    let (reader, writer) = pipe().map_err(not_tried)?;
    let null = fs_err::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map_err(not_tried)?;
    // SAFETY: the child calls nothing but `child`, which ends it.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        child(&path, ask, null.as_raw_fd(), writer.as_raw_fd());
    }
    if pid < 0 {
        return Err(not_tried(io::Error::last_os_error()));
    }
    drop(writer);
    let deadline = Instant::now() + limit;
    let answer = read_answer(reader, deadline);
    let status = end(pid, deadline, answer.is_some());
    match (answer.as_deref(), status) {
        (Some([LOADED | VERSION, rest @ ..]), _) => Ok(rest.to_vec()),
        (Some([LACKS, name @ ..]), _) => Err(ProbeError::Lacks(text(name))),
        (Some([_, message @ ..]), _) => Err(ProbeError::Refused(text(message))),
        (Some([]) | None, Some(status)) => Err(ProbeError::Died(status)),
        (Some([]) | None, None) => Err(ProbeError::TimedOut(limit)),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The forked child. It shares no descriptor with what the library might read or print.
fn child(path: &CStr, ask: Ask<'_>, null: RawFd, answer: RawFd) -> ! {
    // SAFETY: valid descriptors and strings; the child has one thread. `_exit` runs nothing that the parent
    // registered.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        for standard in 0..=2 {
            libc::dup2(null, standard);
        }
        leave_no_core();
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if handle.is_null() {
            let message = libc::dlerror();
            if message.is_null() {
                say(answer, REFUSED, b"the loader does not say why");
            } else {
                say(answer, REFUSED, CStr::from_ptr(message).to_bytes());
            }
            libc::_exit(1);
        }
        match ask {
            Ask::Has(name) if libc::dlsym(handle, name.as_ptr()).is_null() => {
                say(answer, LACKS, name.to_bytes());
            }
            Ask::Nothing | Ask::Has(_) => say(answer, LOADED, b""),
            Ask::Version(name) => say_version(answer, libc::dlsym(handle, name.as_ptr()), name),
        }
        libc::_exit(0)
    }
}

/// A crash is foreseen here, and no reason for a core file in the workload's folder. A limit of one byte also keeps
/// the kernel from handing the crash to a handler, which none at all does not (`fs/coredump.c` of Linux).
fn leave_no_core() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a live record.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max.min(1);
            libc::setrlimit(libc::RLIMIT_CORE, &raw const limit);
        }
    }
}

/// # Safety
/// `function` is null or an [`AskVersion`].
unsafe fn say_version(answer: RawFd, function: *mut c_void, name: &CStr) {
    if function.is_null() {
        return say(answer, LACKS, name.to_bytes());
    }
    // SAFETY: as promised by the caller.
    let function = unsafe { std::mem::transmute::<*mut c_void, AskVersion>(function) };
    let [mut major, mut minor, mut patch] = [0_u32; 3];
    // SAFETY: three live integers.
    let status = unsafe { function(&raw mut major, &raw mut minor, &raw mut patch) };
    if status != 0 {
        return say(answer, REFUSED, b"it does not tell its version");
    }
    let mut numbers = [0_u8; 12];
    for (place, number) in numbers.chunks_mut(4).zip([major, minor, patch]) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
    say(answer, VERSION, &numbers);
}

fn say(answer: RawFd, word: u8, message: &[u8]) {
    let mut line = [0_u8; 1024];
    line[0] = word;
    let length = message.len().min(line.len() - 1);
    line[1..=length].copy_from_slice(&message[..length]);
    // SAFETY: an open descriptor and a live buffer; shorter than what a pipe takes at once.
    unsafe { libc::write(answer, line.as_ptr().cast(), length + 1) };
}

/// What the child said; `None` when it said nothing in time.
fn read_answer(reader: OwnedFd, deadline: Instant) -> Option<Vec<u8>> {
    if !readable(reader.as_raw_fd(), deadline) {
        return None;
    }
    let mut answer = Vec::new();
    // One message, written at once, or the end. A process that the library started may hold the other end
    // open, so the end is not waited for.
    let mut buffer = [0_u8; 1024];
    let mut file = std::fs::File::from(reader).take(MAX_MESSAGE);
    let count = file.read(&mut buffer).unwrap_or(0);
    answer.extend_from_slice(&buffer[..count]);
    (!answer.is_empty()).then_some(answer)
}

/// Whether there is something to read, or the end, before the deadline.
pub(crate) fn readable(descriptor: RawFd, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut poll = libc::pollfd {
            fd: descriptor,
            events: libc::POLLIN,
            revents: 0,
        };
        let left = c_int::try_from(left.as_millis()).unwrap_or(c_int::MAX);
        // SAFETY: one live descriptor record.
        match unsafe { libc::poll(&raw mut poll, 1, left) } {
            0 => return false,
            1.. => return true,
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return false,
        }
    }
}

/// Waits for the child, or ends it: at once when it has answered, else at the deadline. Returns its wait
/// status if it ended by itself.
pub(crate) fn end(pid: libc::pid_t, deadline: Instant, has_answered: bool) -> Option<c_int> {
    let mut status = 0;
    while !has_answered && Instant::now() < deadline {
        // SAFETY: our own child and a live integer.
        match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
            0 => std::thread::sleep(Duration::from_millis(1)),
            found if found == pid => return Some(status),
            // Whoever started us asked the system to forget our children.
            _ => return Some(0),
        }
    }
    // SAFETY: as above; the child is not reaped yet, so its id is still its own.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        while libc::waitpid(pid, &raw mut status, 0) < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
    None
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are ours alone when the call succeeds.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}
