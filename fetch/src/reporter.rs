//! Progress, for whoever wants to draw it. Nothing here draws.

use kernrec_schemas::Backend;

/// An object that is downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object<'a> {
    /// The backend it belongs to.
    pub backend: Backend,
    /// Its role in the record, `table` or `symbol_map[.<variant>]`.
    pub role: &'a str,
    /// Its uncompressed size in bytes; fewer arrive.
    pub size: u64,
}

/// Told of each object's download, from several threads at once. Every method has a default that does nothing.
pub trait Reporter: Sync {
    /// An object's download begins. What is returned names it in the other calls.
    fn on_start(&self, object: Object<'_>) -> usize {
        let _ = object;
        0
    }

    /// So many compressed bytes of it have arrived, all together.
    fn on_progress(&self, id: usize, received: u64) {
        let _ = (id, received);
    }

    /// Its download has ended: whole and verified, or not.
    fn on_complete(&self, id: usize, whole: bool) {
        let _ = (id, whole);
    }
}

/// A reporter that says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Reporter for Silent {}
