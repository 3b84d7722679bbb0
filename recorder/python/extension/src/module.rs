//! The functions that the recorder's Python code calls.

use kernrec_python_recorder::{Recorder, Setup};
use pyo3::prelude::*;
use std::sync::OnceLock;

/// The recording of this process. It outlives the interpreter, whose teardown still enters functions.
pub(crate) static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// The part of the Python recorder that writes.
#[pymodule]
mod _recorder {
    use super::{RECORDER, setup_from};
    #[pymodule_export]
    use crate::callback::entered;
    use crate::callback::prepare;
    use crate::interpreter::find_roots;
    use kernrec_python_recorder::{ALLOWED, Entered, Loaded, ModuleFacts, Recorder, Trouble};
    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    /// A running function: file, qualified name, first line, and its module's name and file.
    type Running = (String, String, u32, Option<String>, Option<String>);

    /// A loaded module: name, file, whether none of its functions can have been entered, and whether its body was
    /// run.
    type Module = (String, String, bool, bool);

    fn modules(given: Vec<Module>) -> Vec<Loaded> {
        let module = |(name, file, untouched, executed)| Loaded {
            name,
            file,
            untouched,
            executed,
        };
        given.into_iter().map(module).collect()
    }

    /// The names of the variables that may be passed to `begin`.
    #[pyfunction]
    fn allowed() -> Vec<&'static str> {
        ALLOWED.to_vec()
    }

    /// Starts the recording, once.
    #[pyfunction]
    fn begin(setup: &Bound<'_, PyDict>) -> PyResult<()> {
        prepare(setup.py())?;
        let setup = setup_from(setup)?;
        RECORDER.get_or_init(|| Recorder::new(setup));
        Ok(())
    }

    /// Says what was loaded before anything was watched, and what runs.
    #[pyfunction]
    fn started(py: Python<'_>, running: Vec<Running>, loaded: Vec<Module>) -> PyResult<()> {
        let Some(recorder) = RECORDER.get() else {
            return Ok(());
        };
        let found = find_roots(py, recorder.roots())?;
        let loaded = modules(loaded);
        recorder.with(|recording| {
            recording.loaded_before(&loaded, &found);
            for (file, qualname, line, name, module_file) in running {
                if recording.entered(&file, &qualname, line) == Entered::UnknownFile {
                    let facts = ModuleFacts {
                        name,
                        file: module_file,
                    };
                    recording.meet(&file, facts, &found);
                    recording.entered(&file, &qualname, line);
                }
            }
        });
        Ok(())
    }

    /// Monitoring could not be started: the recording says so at once.
    #[pyfunction]
    fn no_tool_id() {
        if let Some(recorder) = RECORDER.get() {
            recorder.with(|recording| {
                recording.trouble(Trouble::NoToolId);
                recording.write_now();
            });
        }
    }

    /// Another program took the recorder's place in `sys.monitoring`.
    #[pyfunction]
    fn tool_taken() {
        if let Some(recorder) = RECORDER.get() {
            recorder.with(|recording| recording.trouble(Trouble::ToolTaken));
        }
    }

    /// The process is a forked child.
    #[pyfunction]
    fn forked() {
        if let Some(recorder) = RECORDER.get() {
            recorder.with(|_| ());
        }
    }

    /// The interpreter ends by itself, with these modules loaded.
    #[pyfunction]
    fn finish(loaded: Vec<Module>) {
        if let Some(recorder) = RECORDER.get() {
            let loaded = modules(loaded);
            recorder.with(|recording| recording.finish(&loaded));
        }
    }
}

fn setup_from(given: &Bound<'_, pyo3::types::PyDict>) -> PyResult<Setup> {
    Ok(Setup {
        folder: item(given, "folder")?,
        host: item(given, "host")?,
        roots: item(given, "roots")?,
        checkout: item(given, "checkout")?,
        standard_library: item(given, "standard_library")?,
        own_folder: item(given, "own_folder")?,
        tool: item(given, "tool")?,
        version: item(given, "version")?,
        executable: item(given, "executable")?,
        arguments: item(given, "arguments")?,
        variables: item(given, "variables")?,
        standard_names: item(given, "standard_names")?,
    })
}

fn item<'py, T: FromPyObjectOwned<'py>>(
    given: &Bound<'py, pyo3::types::PyDict>,
    name: &str,
) -> PyResult<T> {
    let value = given.as_any().get_item(name)?;
    value.extract().map_err(Into::into)
}
