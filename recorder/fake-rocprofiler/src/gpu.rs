//! Code objects, kernels and dispatches.
#![expect(unsafe_code, reason = "calls C callbacks")]

use std::collections::HashMap;
use std::ffi::CString;
use std::ops::Range;

use crate::abi::{
    CODE_OBJECT, CODE_OBJECT_LOAD, CallbackRecord, DispatchRecord, LOAD, SYMBOL_REGISTER,
    SymbolPayload, UNLOAD, symbol_word,
};
use crate::state::{CodeObjects, state};
use crate::{buffers, knobs};

/// What is loaded, and what runs.
#[derive(Default)]
pub(crate) struct Gpu {
    code_object: bool,
    /// By number; the name as it stands in the code object.
    kernels: HashMap<u64, CString>,
    last_kernel: u64,
    last_dispatch: u64,
    /// Complete at the end only, or when their group is full.
    running: Vec<DispatchRecord>,
}

/// Loads the code object, once, and calls the tools back.
pub(crate) fn load_code() {
    if std::mem::replace(&mut state().gpu.code_object, true) {
        return;
    }
    announce(CODE_OBJECT_LOAD, LOAD, [88; 11].as_mut_slice());
}

/// Registers a kernel; a number of 0 takes the next one.
pub(crate) fn register(number: u64, name: Option<&CString>) -> u64 {
    load_code();
    let number = {
        let mut state = state();
        let number = match number {
            0 => state.gpu.last_kernel + 1,
            number => number,
        };
        state.gpu.last_kernel = state.gpu.last_kernel.max(number);
        if let Some(name) = name {
            state.gpu.kernels.insert(number, name.clone());
        }
        number
    };
    announce_symbol(number, name, LOAD);
    number
}

/// Unloads a kernel.
pub(crate) fn unregister(number: u64) {
    let name = state().gpu.kernels.remove(&number);
    announce_symbol(number, name.as_ref(), UNLOAD);
}

/// Everything is unloaded at the end of the process.
pub(crate) fn unload_all() {
    let kernels: Vec<u64> = state().gpu.kernels.keys().copied().collect();
    kernels.into_iter().for_each(unregister);
    if std::mem::take(&mut state().gpu.code_object) {
        announce(CODE_OBJECT_LOAD, UNLOAD, [88; 11].as_mut_slice());
    }
}

/// The kernel of a name, loaded if need be.
pub(crate) fn kernel(name: &CString) -> u64 {
    let known = state()
        .gpu
        .kernels
        .iter()
        .find(|(_, known)| *known == name)
        .map(|(number, _)| *number);
    known.unwrap_or_else(|| register(0, Some(name)))
}

/// Runs a kernel. `lost` leaves no record.
pub(crate) fn dispatch(kernel: u64, lost: bool) {
    let buffers: Vec<u64> = {
        let mut state = state();
        let traced = state.contexts.iter().filter(|context| context.active);
        let buffers: Vec<u64> = traced.filter_map(|context| context.dispatches).collect();
        if buffers.is_empty() {
            return;
        }
        state.gpu.last_dispatch += 1;
        let number = match knobs::get("dispatch-number") {
            0 => state.gpu.last_dispatch,
            number => number - 1,
        };
        let record = buffers::record(kernel, number, thread());
        if lost {
            return;
        }
        state.gpu.running.push(record);
        buffers
    };
    let group = usize::try_from(knobs::get("reorder").max(1)).unwrap_or(1);
    let held = knobs::get("late") + knobs::get("after-end");
    let held = usize::try_from(held).unwrap_or(usize::MAX);
    complete(&buffers, group, held);
}

/// Takes so many numbers of dispatches.
pub(crate) fn dispatch_numbers(count: u64) -> Range<u64> {
    let mut state = state();
    let first = state.gpu.last_dispatch + 1;
    state.gpu.last_dispatch += count;
    first..first + count
}

/// Counts a dispatch as one whose record found no room.
pub(crate) fn dispatch_dropped(kernel: u64) {
    dispatch(kernel, true);
    for buffer in &mut state().buffers {
        buffer.dropped += 1;
    }
}

/// What runs completes, but for the newest `held`.
pub(crate) fn complete_all_but(held: u64) {
    let buffers: Vec<u64> = state()
        .contexts
        .iter()
        .filter_map(|context| context.dispatches)
        .collect();
    complete(&buffers, 1, usize::try_from(held).unwrap_or(0));
}

/// Dispatches complete in groups, the last first, but for the newest `held`.
fn complete(buffers: &[u64], group: usize, held: usize) {
    let done: Vec<DispatchRecord> = {
        let running = &mut state().gpu.running;
        let ready = running.len().saturating_sub(held);
        if ready < group {
            return;
        }
        running.drain(..ready).collect()
    };
    for record in done.into_iter().rev() {
        for buffer in buffers {
            buffers::store(*buffer, record);
        }
    }
}

fn announce_symbol(number: u64, name: Option<&CString>, phase: u32) {
    let mut payload: SymbolPayload = [0; 11];
    payload[symbol_word::SIZE] = knobs::get("symbol-bytes");
    payload[symbol_word::KERNEL_ID] = number;
    // The name is gone when this returns, as it may be in the SDK.
    payload[symbol_word::NAME] = name.map_or(0, |name| name.as_ptr().addr() as u64);
    announce(SYMBOL_REGISTER, phase, &mut payload);
}

/// Calls every active context back.
fn announce(operation: i32, phase: u32, payload: &mut [u64]) {
    let listeners: Vec<(u64, CodeObjects)> = (1_u64..)
        .zip(&state().contexts)
        .filter(|(_, context)| context.active)
        .filter_map(|(id, context)| Some((id, context.code_objects.clone()?)))
        .collect();
    for (context, listener) in listeners {
        if !listener.operations.is_empty() && !listener.operations.contains(&operation) {
            continue;
        }
        let record = CallbackRecord {
            context,
            thread: thread(),
            correlation: [0; 3],
            kind: CODE_OBJECT,
            operation,
            phase,
            payload: payload.as_mut_ptr().cast(),
        };
        let mut user_data = 0;
        // SAFETY: the tool's callback, with a payload that lives until it returns.
        unsafe { (listener.callback)(record, &raw mut user_data, listener.data.pointer()) };
    }
}

fn thread() -> u64 {
    // SAFETY: no arguments, always succeeds.
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    u64::try_from(id).unwrap_or(0)
}
