//! `PY_START` of `sys.monitoring`.

use crate::interpreter::{find_roots, module_facts};
use crate::module::RECORDER;
use kernrec_python_recorder::{Entered, Recorder, Trouble};
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
    if let Some(recorder) = RECORDER.get() {
        match catch_unwind(AssertUnwindSafe(|| note(recorder, code))) {
            Ok(Ok(())) => {}
            Ok(Err(_)) => recorder.with(|recording| recording.trouble(Trouble::Unreadable)),
            Err(_) => recorder.with(|recording| recording.trouble(Trouble::Panic)),
        }
    }
    DISABLE.get(py).map(|disable| disable.clone_ref(py))
}

fn note(recorder: &Recorder, code: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = code.py();
    let file = code.getattr(intern!(py, "co_filename"))?;
    let file = text(&file)?;
    let qualname = code.getattr(intern!(py, "co_qualname"))?;
    let qualname = text(&qualname)?;
    let line: i64 = code.getattr(intern!(py, "co_firstlineno"))?.extract()?;
    let line = u32::try_from(line).unwrap_or_default();
    if recorder.with(|recording| recording.entered(&file, &qualname, line)) == Entered::Noted {
        return Ok(());
    }
    let facts = module_facts(py);
    let found = find_roots(py, recorder.roots())?;
    recorder.with(|recording| {
        recording.meet(&file, facts, &found);
        recording.entered(&file, &qualname, line);
    });
    Ok(())
}

fn text<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    Ok(object.cast::<PyString>()?.to_string_lossy())
}
