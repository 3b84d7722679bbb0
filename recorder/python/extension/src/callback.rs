//! `PY_START` of `sys.monitoring`.

use crate::ffi::current_locals;
use crate::interpreter::{find_roots, module_facts};
use crate::module::RECORDER;
use kernrec_python_recorder::{Entered, ModuleFacts, Recorder, Trouble};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `sys.monitoring.DISABLE`: the code object is not reported again.
static DISABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Fetches what every call needs, so that no call has to.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    let monitoring = py
        .import(intern!(py, "sys"))?
        .getattr(intern!(py, "monitoring"))?;
    let disable = monitoring.getattr(intern!(py, "DISABLE"))?.unbind();
    DISABLE.get_or_init(py, || disable);
    Ok(())
}

/// A code object is entered for the first time. Never raises: an exception would come up in the program.
#[pyfunction]
pub(crate) fn entered(
    py: Python<'_>,
    code: &Bound<'_, PyAny>,
    _offset: &Bound<'_, PyAny>,
) -> Option<Py<PyAny>> {
    let mut again = false;
    if let Some(recorder) = RECORDER.get() {
        match catch_unwind(AssertUnwindSafe(|| note_all(recorder, code))) {
            Ok(Ok(takes_code)) => again = takes_code,
            Ok(Err(_)) => recorder.with(|recording| recording.trouble(Trouble::Unreadable)),
            Err(_) => recorder.with(|recording| recording.trouble(Trouble::Panic)),
        }
    }
    if again {
        return None;
    }
    DISABLE.get(py).map(|disable| disable.clone_ref(py))
}

/// Notes a code object, and the one that it takes to be run without being entered. Whether it takes any.
fn note_all(recorder: &Recorder, code: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = code.py();
    if note(recorder, code, module_facts)? != Entered::TakesCode {
        return Ok(false);
    }
    let taken = current_locals(py).and_then(|locals| locals.get_item(intern!(py, "code")).ok());
    let noted = taken.map(|taken| note(recorder, &taken, |_| ModuleFacts::default()));
    if !matches!(noted, Some(Ok(_))) {
        recorder.with(|recording| recording.trouble(Trouble::UntracedCompilation));
    }
    Ok(true)
}

fn note<'py>(
    recorder: &Recorder,
    code: &Bound<'py, PyAny>,
    facts: impl FnOnce(Python<'py>) -> ModuleFacts,
) -> PyResult<Entered> {
    let py = code.py();
    let file = code.getattr(intern!(py, "co_filename"))?;
    let file = text(&file)?;
    let qualname = code.getattr(intern!(py, "co_qualname"))?;
    let qualname = text(&qualname)?;
    let line: i64 = code.getattr(intern!(py, "co_firstlineno"))?.extract()?;
    let line = u32::try_from(line).unwrap_or_default();
    let entered = recorder.with(|recording| recording.entered(&file, &qualname, line));
    if entered != Entered::UnknownFile {
        return Ok(entered);
    }
    let facts = facts(py);
    let found = find_roots(py, recorder.roots())?;
    Ok(recorder.with(|recording| {
        recording.meet(&file, facts, &found);
        recording.entered(&file, &qualname, line)
    }))
}

fn text<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    Ok(object.cast::<PyString>()?.to_string_lossy())
}
