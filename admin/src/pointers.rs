//! Every pointer of a store.

use kernrec_schemas::{Backend, Pipeline};
use kernrec_store::pointers::{self, VersionedPointer};
use kernrec_store::{Area, Key, Store, StoreError};

/// What stands below `pointers/`.
#[derive(Debug, Default)]
pub(crate) struct Pointers {
    /// Pointers that were read.
    pub(crate) found: Vec<VersionedPointer>,
    /// Pointers that could not be read, or whose content is refused.
    pub(crate) unreadable: Vec<(Key, StoreError)>,
    /// Documents that a later version of this program may take for pointers.
    pub(crate) strange: Vec<Key>,
    /// Files that are no pointers for any version.
    pub(crate) foreign: Vec<Key>,
}

impl Pointers {
    /// Reads every pointer that the store lists.
    pub(crate) fn all(store: &dyn Store) -> Result<Self, StoreError> {
        let mut pointers = Self::default();
        for entry in store.list(&Key::area(Area::Pointers))? {
            match place(&entry.key) {
                Some((pipeline, backend)) => pointers.read(store, &pipeline, backend),
                None if entry.key.as_str().strip_suffix(".json").is_some() => {
                    pointers.strange.push(entry.key);
                }
                None => pointers.foreign.push(entry.key),
            }
        }
        Ok(pointers)
    }

    /// Reads the pointers of one pipeline: all that can be found in a store that cannot be listed.
    pub(crate) fn of_pipeline(store: &dyn Store, pipeline: &Pipeline) -> Self {
        let mut pointers = Self::default();
        for backend in Backend::ALL {
            pointers.read(store, pipeline, backend);
        }
        pointers
    }

    fn read(&mut self, store: &dyn Store, pipeline: &Pipeline, backend: Backend) {
        match pointers::read(store, pipeline, backend) {
            Ok(found) => self.found.extend(found),
            Err(error) => {
                let key = Key::pointer(pipeline, backend);
                self.unreadable.push((key, error));
            }
        }
    }

    /// Whether every pointer is known, so that what none of them names is named by nothing.
    pub(crate) fn is_complete(&self) -> bool {
        self.unreadable.is_empty() && self.strange.is_empty()
    }

    /// Whether nothing moved since `earlier` was read.
    pub(crate) fn is_same(&self, earlier: &Self) -> bool {
        let versions = |pointers: &Self| -> Vec<_> {
            let version = |found: &VersionedPointer| {
                let pointer = &found.pointer;
                (
                    Key::pointer(&pointer.pipeline, pointer.backend),
                    found.version.clone(),
                )
            };
            pointers.found.iter().map(version).collect()
        };
        self.is_complete() && earlier.is_complete() && versions(self) == versions(earlier)
    }
}

/// The pipeline and backend whose pointer stands under a key.
fn place(key: &Key) -> Option<(Pipeline, Backend)> {
    let mut parts = key.as_str().strip_prefix("pointers/")?.split('/');
    let (pipeline, file) = (parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let pipeline = Pipeline::new(pipeline).ok()?;
    let backend: Backend = file.strip_suffix(".json")?.parse().ok()?;
    (Key::pointer(&pipeline, backend) == *key).then_some((pipeline, backend))
}
