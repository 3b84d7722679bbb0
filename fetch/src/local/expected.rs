//! Notes of which backends were to be there, `<out>/.expected/<backend>`: a backend whose every fetch failed has
//! nothing else in the folder, and a reader must not take that for "there is no such backend".
//!
//! Best effort: where no note can be written nothing can be installed either. Not synced: after a power cut the
//! fetch that wrote it is gone too.

use super::Layout;
use kernrec_schemas::Backend;

/// Notes that a backend is to be there.
pub(crate) fn note(layout: &Layout, backend: Backend) {
    let path = layout.expected(backend);
    if path.exists() {
        return;
    }
    if let Some(folder) = path.parent() {
        let _ = fs_err::create_dir_all(folder);
    }
    let _ = fs_err::File::create(&path);
}

/// Forgets a backend that turned out never to have been published, when every one there is was asked for.
pub(crate) fn forget(layout: &Layout, backend: Backend) {
    let _ = fs_err::remove_file(layout.expected(backend));
}

/// Whether a backend is to be there.
pub(crate) fn is_noted(layout: &Layout, backend: Backend) -> bool {
    layout.expected(backend).exists()
}
