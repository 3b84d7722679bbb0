//! The exported functions and the way to the real ones.
#![expect(unsafe_code, reason = "exports C functions and calls C functions")]

use std::arch::naked_asm;
use std::ffi::{CStr, CString, c_int, c_void};
use std::mem;
use std::ops::ControlFlow;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use kernrec_cupti_watch::{AFTER, BEFORE, Event, Hook, PROTOCOL, REFUSED};
use kernrec_loaded_objects::{Object, for_each};

use crate::calls::{Call, Rule};

/// `CUPTI_ERROR_NOT_INITIALIZED`: what a client gets when no CUPTI is mapped.
const NOT_INITIALIZED: c_int = 15;

type Real = unsafe extern "C" fn(usize, usize, usize, usize) -> c_int;

static SEEN: AtomicU64 = AtomicU64::new(0);
static HOOK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Called by the recorder: from now on `hook` hears of every event. Returns those that happened before.
///
/// # Safety
/// `hook` must stay callable for the life of the process.
#[unsafe(no_mangle)]
unsafe extern "C" fn kernrec_cupti_forwarders_attach(protocol: u32, hook: Hook) -> u64 {
    if protocol != PROTOCOL {
        return REFUSED;
    }
    HOOK.store(hook as *mut c_void, Ordering::Release);
    SEEN.load(Ordering::Acquire)
}

/// Exports functions that add their number and their caller's address to the four arguments any of them
/// has, in the two argument registers that none of them uses, and go on to [`forward`]. The address tells
/// which library calls, so that CUPTI's calls to itself are not taken for a client's.
macro_rules! forwarders {
    ($($number:literal $name:ident $rule:expr;)*) => {
        const CALLS: &[Call] = &[$(
            Call {
                name: match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a function's name holds no zero byte"),
                },
                rule: $rule,
            },
        )*];
        $(
            /// Notes the call and passes it on to CUPTI's function of the same name.
            ///
            /// # Safety
            /// As CUPTI's.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() -> c_int {
                #[cfg(target_arch = "x86_64")]
                naked_asm!(
                    "endbr64",
                    "mov r8d, {number}",
                    "mov r9, [rsp]",
                    "jmp {forward}",
                    number = const $number,
                    forward = sym forward,
                );
                #[cfg(target_arch = "aarch64")]
                naked_asm!(
                    "bti c",
                    "mov w4, {number}",
                    "mov x5, x30",
                    "b {forward}",
                    number = const $number,
                    forward = sym forward,
                );
            }
        )*
    };
}

forwarders! {
    0 cuptiActivityRegisterCallbacks Rule::Always(Event::CallbacksTaken);
    1 cuptiActivityRegisterCallbacks_v2 Rule::Always(Event::CallbacksTaken);
    2 cuptiActivityEnable Rule::Enables(0);
    3 cuptiActivityEnable_v2 Rule::Enables(1);
    4 cuptiActivityEnableAndDump Rule::Enables(0);
    5 cuptiActivityEnableAndDump_v2 Rule::Enables(1);
    6 cuptiActivityEnableContext Rule::Enables(1);
    7 cuptiActivityDisable Rule::Disables(0);
    8 cuptiActivityDisable_v2 Rule::Disables(1);
    9 cuptiActivityDisableContext Rule::Disables(1);
    10 cuptiSubscribe Rule::Always(Event::Subscribed);
    11 cuptiSubscribe_v2 Rule::Always(Event::ModeChanged);
    12 cuptiFinalize Rule::Always(Event::Finalized);
    13 cuptiActivityGetNumDroppedRecords Rule::Always(Event::DropsRead);
    14 cuptiActivityGetNumDroppedRecords_v2 Rule::Always(Event::DropsRead);
    15 cuptiActivitySetAttribute Rule::SetsAttribute(0);
    16 cuptiActivitySetAttribute_v2 Rule::SetsAttribute(1);
}

/// Where a call goes.
struct Target {
    real: Real,
    /// CUPTI calling itself.
    internal: bool,
}

/// Every exported function ends here. `a` to `d` are the client's argument registers, whatever it put
/// into them; a function of fewer arguments ignores the rest.
extern "C" fn forward(a: usize, b: usize, c: usize, d: usize, number: u32, caller: usize) -> c_int {
    let Some(call) = CALLS.get(number as usize) else {
        return NOT_INITIALIZED;
    };
    let Some(target) = find(call.name, caller) else {
        return NOT_INITIALIZED;
    };
    let event = if target.internal {
        None
    } else {
        call.event([a, b, c, d])
    };
    notify(event, BEFORE, 0);
    // SAFETY: the client called the function of this name with these registers.
    let status = unsafe { (target.real)(a, b, c, d) };
    if status == 0
        && let Some(event) = event
    {
        SEEN.fetch_or(event.bit(), Ordering::AcqRel);
    }
    notify(event, AFTER, status);
    status
}

fn notify(event: Option<Event>, phase: u32, status: c_int) {
    if let Some(event) = event {
        tell(event as u32, phase, status);
    }
}

/// Tells the recorder, if there is one.
pub(crate) fn tell(event: u32, phase: u32, status: c_int) {
    let hook = HOOK.load(Ordering::Acquire);
    if hook.is_null() {
        return;
    }
    // SAFETY: only `kernrec_cupti_forwarders_attach` stores here, and it stores a `Hook`.
    let hook = unsafe { mem::transmute::<*mut c_void, Hook>(hook) };
    // SAFETY: the recorder promised that it stays callable.
    unsafe { hook(event, phase, status) };
}

/// The real function. `RTLD_NEXT` would not find it: an interpreter maps CUPTI with local scope. Looked
/// up anew each time, since CUPTI may be unloaded between two calls, and such calls are few.
fn find(name: &CStr, caller: usize) -> Option<Target> {
    let mapped = mapped_copies(caller);
    let copy = mapped
        .iter()
        .find(|copy| copy.holds_caller)
        .or_else(|| mapped.iter().find(|copy| copy.caller_needs_it))
        .or_else(|| mapped.first())?;
    // SAFETY: a valid path; NOLOAD maps nothing new.
    let handle = unsafe { libc::dlopen(copy.path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: `handle` is open and `name` a valid string. Closing undoes only our own reference.
    let function = unsafe {
        let function = libc::dlsym(handle, name.as_ptr());
        libc::dlclose(handle);
        function
    };
    if function.is_null() {
        return None;
    }
    Some(Target {
        // SAFETY: every CUPTI function forwarded here takes up to four words and returns an `int`.
        real: unsafe { mem::transmute::<*mut c_void, Real>(function) },
        internal: copy.holds_caller,
    })
}

/// A mapped `libcupti.so`.
struct Copy {
    path: CString,
    holds_caller: bool,
    caller_needs_it: bool,
}

fn mapped_copies(caller: usize) -> Vec<Copy> {
    let mut copies = Vec::new();
    for_each(|object| {
        if is_cupti(object) {
            copies.push(Copy {
                path: object.path().to_owned(),
                holds_caller: object.contains(caller),
                caller_needs_it: false,
            });
        }
        ControlFlow::Continue(())
    });
    if copies.len() > 1 {
        for_each(|object| {
            if !object.contains(caller) {
                return ControlFlow::Continue(());
            }
            for copy in &mut copies {
                let path = copy.path.to_bytes();
                let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
                copy.caller_needs_it = object.needs(name);
            }
            ControlFlow::Break(())
        });
    }
    copies
}

fn is_cupti(object: &Object<'_>) -> bool {
    object.file_name().starts_with(b"libcupti.so")
}
