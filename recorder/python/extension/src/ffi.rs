//! Two calls that `PyO3` wraps in nothing safe.
#![expect(unsafe_code, reason = "borrowed references of the C interface")]

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The globals of the Python function that runs on this thread: in a callback of `sys.monitoring`, of the
/// function that is being entered. `sys._getframe` would say the same, and tell every audit hook.
pub(crate) fn current_globals(py: Python<'_>) -> Option<Bound<'_, PyDict>> {
    // SAFETY: the interpreter is attached to this thread. The result is null or a borrowed reference that the
    // running frame keeps alive; a reference of our own is taken at once.
    let globals = unsafe { Bound::from_borrowed_ptr_or_opt(py, pyo3::ffi::PyEval_GetGlobals()) };
    globals?.cast_into().ok()
}

/// The local variables of the Python function that runs on this thread; of one that is being entered, its
/// arguments.
pub(crate) fn current_locals(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: the interpreter is attached to this thread. The result is null, then with an exception that is taken
    // back, or a borrowed reference that the running frame keeps alive; a reference of our own is taken at once.
    let locals = unsafe { Bound::from_borrowed_ptr_or_opt(py, pyo3::ffi::PyEval_GetLocals()) };
    if locals.is_none() {
        drop(PyErr::take(py));
    }
    locals
}
