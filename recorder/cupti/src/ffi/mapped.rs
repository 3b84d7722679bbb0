//! What the loader has mapped, as the choice of CUPTI and the search for other clients need it.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use kernrec_loaded_objects::{Object, for_each};

use crate::locate::Mapped;

const CUPTI: &[u8] = b"libcupti.so";

/// The present state.
pub(crate) fn survey() -> Mapped {
    let mut mapped = Mapped::default();
    for_each(|object| {
        let name = object.file_name();
        if name.starts_with(CUPTI) {
            mapped.cupti.push(path(object));
        } else {
            mapped.has_client |= object.needs(CUPTI);
        }
        if name.starts_with(b"libcudart.so") {
            mapped.cudart = Some(path(object));
        } else if name.starts_with(b"libcuda.so") {
            mapped.driver = Some(path(object));
        }
        ControlFlow::Continue(())
    });
    mapped
}

/// The end's part of [`survey`], without asking for memory, of which there may be none left.
pub(crate) struct Count {
    /// Copies of CUPTI.
    pub(crate) copies: usize,
    /// Something other than CUPTI itself is linked against CUPTI.
    pub(crate) has_client: bool,
}

/// The present state, counted.
pub(crate) fn count() -> Count {
    let mut count = Count {
        copies: 0,
        has_client: false,
    };
    for_each(|object| {
        if object.file_name().starts_with(CUPTI) {
            count.copies += 1;
        } else {
            count.has_client |= object.needs(CUPTI);
        }
        ControlFlow::Continue(())
    });
    count
}

fn path(object: &Object<'_>) -> PathBuf {
    OsStr::from_bytes(object.path().to_bytes()).into()
}
