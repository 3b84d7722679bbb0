//! Signals, cancellation and a file without a descriptor: what the C library offers and Rust does not.
#![expect(unsafe_code, reason = "signal masks and mappings are a C interface")]

use std::ffi::{CString, c_int, c_void};
use std::fs::File;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

unsafe extern "C" {
    // POSIX threads; in every glibc, missing from the libc crate.
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

/// `PTHREAD_CANCEL_DISABLE` of glibc's and musl's pthread.h.
const CANCEL_DISABLE: c_int = 1;

/// While it lives, no signal handler runs on this thread and the thread cannot be cancelled: a handler
/// that ends the process would come back for the lock this thread holds.
///
/// Faults stay unblocked, so that a crash handler still sees a crash.
#[must_use]
pub struct Quiet {
    old_mask: libc::sigset_t,
    old_cancel: c_int,
    /// What it changed is the thread's own.
    of_this_thread: PhantomData<*const ()>,
}

impl Quiet {
    /// From now on, until it is dropped.
    pub fn enter() -> Self {
        let mut mask = MaybeUninit::uninit();
        let mut old_mask = MaybeUninit::uninit();
        let mut old_cancel = 0;
        // SAFETY: every pointer is to a live local; sigfillset initialises `mask`, and pthread_sigmask,
        // which cannot fail with these arguments, `old_mask`.
        unsafe {
            pthread_setcancelstate(CANCEL_DISABLE, &raw mut old_cancel);
            libc::sigfillset(mask.as_mut_ptr());
            for fault in [
                libc::SIGSEGV,
                libc::SIGBUS,
                libc::SIGFPE,
                libc::SIGILL,
                libc::SIGTRAP,
                libc::SIGABRT,
                libc::SIGSYS,
            ] {
                libc::sigdelset(mask.as_mut_ptr(), fault);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, mask.as_ptr(), old_mask.as_mut_ptr());
            Self {
                old_mask: old_mask.assume_init(),
                old_cancel,
                of_this_thread: PhantomData,
            }
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: both values came from the calls in `enter`, on this thread.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.old_mask, ptr::null_mut());
            pthread_setcancelstate(self.old_cancel, ptr::null_mut());
        }
    }
}

/// Keeps `SIGXFSZ` away while a write may exceed the process's file size limit. The kernel raises it on
/// the writing thread, where it waits until it is taken back; its default action kills the process.
pub(crate) struct FileSizeSignal {
    set: libc::sigset_t,
    old_mask: libc::sigset_t,
    was_pending: bool,
}

impl FileSizeSignal {
    pub(crate) fn hold() -> Self {
        let mut set = MaybeUninit::uninit();
        let mut pending = MaybeUninit::uninit();
        let mut old_mask = MaybeUninit::uninit();
        // SAFETY: every pointer is to a live local, initialised by the call it is passed to before it is
        // read; none of these calls can fail with these arguments.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGXFSZ);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), old_mask.as_mut_ptr());
            libc::sigemptyset(pending.as_mut_ptr());
            libc::sigpending(pending.as_mut_ptr());
            Self {
                set: set.assume_init(),
                old_mask: old_mask.assume_init(),
                was_pending: libc::sigismember(pending.as_ptr(), libc::SIGXFSZ) == 1,
            }
        }
    }

    /// Removes the signal our write raised, and no other.
    pub(crate) fn take_back(&self) {
        if self.was_pending {
            return;
        }
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: an initialised set; the call waits no time and wants no details.
        unsafe { libc::sigtimedwait(&raw const self.set, ptr::null_mut(), &raw const now) };
    }
}

impl Drop for FileSizeSignal {
    fn drop(&mut self) {
        // SAFETY: the mask that `hold` found on this thread.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.old_mask, ptr::null_mut());
        }
    }
}

/// Makes a file empty without opening it; whether that worked. A link is not followed.
pub(crate) fn truncate(path: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|data| data.is_file());
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: a valid string.
    is_file && unsafe { libc::truncate(path.as_ptr(), 0) == 0 }
}

/// The start of a file, within reach whatever becomes of its path: after `chroot`, after giving up the user
/// who may go there, in a folder that was renamed. No descriptor is kept.
#[derive(Debug)]
pub(crate) struct Start {
    address: *mut c_void,
}

// SAFETY: the mapping is the process's, not a thread's, and only the kernel writes there.
unsafe impl Send for Start {}

impl Start {
    /// Longer than any header's magic, and a page of every machine holds it.
    const LEN: usize = 64;

    /// Of a file open for reading and writing that starts with `bytes`. `None` where its file system or the
    /// system's policy does not let it be overwritten in this way, which is tried.
    pub(crate) fn of(file: &File, bytes: &[u8]) -> Option<Self> {
        // SAFETY: a new mapping of an open file.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                Self::LEN,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return None;
        }
        let start = Self { address };
        // SAFETY: our own mapping. A child after `fork` has a recording of its own.
        unsafe { libc::madvise(address, Self::LEN, libc::MADV_DONTFORK) };
        start.overwrite(bytes).then_some(start)
    }

    /// Puts `bytes` in the place of the file's first ones; whether that worked. A store could raise a signal,
    /// where somebody has cut the file off or the disk is full; the kernel only says that it cannot.
    pub(crate) fn overwrite(&self, bytes: &[u8]) -> bool {
        let len = bytes.len().min(Self::LEN);
        let from = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: len,
        };
        let to = libc::iovec {
            iov_base: self.address,
            iov_len: len,
        };
        // SAFETY: both are `len` bytes of this process, and nothing refers to those written.
        let written = unsafe {
            libc::process_vm_writev(libc::getpid(), &raw const from, 1, &raw const to, 1, 0)
        };
        usize::try_from(written) == Ok(bytes.len())
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nothing refers to any more.
        unsafe { libc::munmap(self.address, Self::LEN) };
    }
}
