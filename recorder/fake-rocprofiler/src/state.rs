//! Everything the SDK knows, behind one lock that is never held while a tool is called.

use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::abi::{Configure, ConfigureResult, TraceCallback};
use crate::buffers::Buffer;
use crate::gpu::Gpu;

/// A raw pointer of a tool, which the tool keeps valid.
#[derive(Clone, Copy)]
pub(crate) struct Data(pub(crate) usize);

impl Data {
    pub(crate) fn new(pointer: *mut c_void) -> Self {
        Self(pointer.addr())
    }

    pub(crate) fn pointer(self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.0)
    }
}

/// The code object service of a context.
#[derive(Clone)]
pub(crate) struct CodeObjects {
    /// Empty for all.
    pub(crate) operations: Vec<i32>,
    pub(crate) callback: TraceCallback,
    pub(crate) data: Data,
}

#[derive(Default)]
pub(crate) struct Context {
    pub(crate) active: bool,
    pub(crate) code_objects: Option<CodeObjects>,
    /// A number of a buffer.
    pub(crate) dispatches: Option<u64>,
}

/// A tool that was found.
pub(crate) struct Tool {
    pub(crate) configure: Configure,
    /// `None` when it declined.
    pub(crate) result: Option<ConfigureResult>,
    /// The contexts it made.
    pub(crate) contexts: Vec<u64>,
}

// SAFETY: what it points to is the tool's, which stays mapped, and is only passed back to the tool.
#[expect(unsafe_code, reason = "pointers of C tools")]
unsafe impl Send for Tool {}

#[derive(Default)]
pub(crate) struct State {
    /// As `rocprofiler_is_initialized` has it: 0 no, 1 done, -1 in progress.
    pub(crate) initialized: i32,
    pub(crate) finalized: i32,
    pub(crate) tools: Vec<Tool>,
    /// The tool that is being initialised.
    pub(crate) current_tool: usize,
    /// Numbers are places here plus one.
    pub(crate) contexts: Vec<Context>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) threads: u64,
    pub(crate) gpu: Gpu,
}

impl State {
    pub(crate) fn context(&mut self, id: u64) -> Option<&mut Context> {
        self.contexts
            .get_mut(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    pub(crate) fn buffer(&mut self, id: u64) -> Option<&mut Buffer> {
        self.buffers
            .get_mut(usize::try_from(id).ok()?.checked_sub(1)?)
    }
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

pub(crate) fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
