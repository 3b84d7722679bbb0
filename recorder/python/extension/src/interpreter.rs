//! What the interpreter says of modules and packages.

use crate::ffi::current_globals;
use kernrec_python_recorder::{Found, ModuleFacts};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString};
use pyo3::{PyTypeInfo as _, intern};

/// The module of the function that is being entered.
pub(crate) fn module_facts(py: Python<'_>) -> ModuleFacts {
    let Some(globals) = current_globals(py) else {
        return ModuleFacts::default();
    };
    ModuleFacts {
        name: text_of(&globals, intern!(py, "__name__")),
        file: text_of(&globals, intern!(py, "__file__")),
    }
}

/// Where the watched packages are at this moment. A module is read by its dictionary alone: an attribute of a
/// lazy one would load it.
pub(crate) fn find_roots(py: Python<'_>, names: &[String]) -> PyResult<Vec<Found>> {
    let modules = py
        .import(intern!(py, "sys"))?
        .getattr(intern!(py, "modules"))?;
    let modules = modules.cast::<PyDict>()?;
    let mut found = Vec::new();
    for name in names {
        let Some(module) = modules.get_item(name)? else {
            continue;
        };
        let Ok(module) = module.cast::<PyModule>() else {
            continue;
        };
        let places = places_of(&module.dict())?;
        found.push(Found {
            name: name.clone(),
            places,
        });
    }
    Ok(found)
}

fn places_of(module: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let py = module.py();
    let Some(folders) = module.get_item(intern!(py, "__path__"))? else {
        return Ok(text_of(module, intern!(py, "__file__"))
            .into_iter()
            .collect());
    };
    let mut places = Vec::new();
    for folder in folders.try_iter()? {
        let folder = folder?;
        if let Ok(text) = folder.cast::<PyString>() {
            places.push(format!("{}/", text.to_string_lossy().trim_end_matches('/')));
        }
    }
    Ok(places)
}

fn text_of(dict: &Bound<'_, PyDict>, key: &Bound<'_, PyString>) -> Option<String> {
    let value = dict.get_item(key).ok()??;
    // A subclass of `str` could run code of its own.
    if !value.get_type().is(PyString::type_object(dict.py())) {
        return None;
    }
    Some(
        value
            .cast::<PyString>()
            .ok()?
            .to_string_lossy()
            .into_owned(),
    )
}
