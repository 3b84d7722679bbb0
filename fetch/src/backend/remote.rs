//! The store's side: pointer and manifest, checked against each other.

use super::plan::Target;
use crate::error::{FetchError, RecordProblem};
use kernrec_schemas::installed::InstalledRecord;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::{Backend, Pipeline};
use kernrec_store::pointers::{self, ReadIfChanged, VersionedPointer};
use kernrec_store::{Store, StoreError, Version, objects};

/// A store and the pipeline that is asked of it.
pub(crate) struct Remote<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) pipeline: &'a Pipeline,
    /// The store's name in local documents: the same store always has the same.
    pub(crate) url: String,
}

/// The answer to a conditional pointer request.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Still the version that was named in the request.
    Unchanged,
    /// This version.
    Pointer(Box<VersionedPointer>),
}

impl<'a> Remote<'a> {
    pub(crate) fn new(store: &'a dyn Store, pipeline: &'a Pipeline) -> Self {
        Self {
            store,
            pipeline,
            url: stable_url(store.url()),
        }
    }

    /// One request; without bytes when the pointer is at the known version.
    pub(crate) fn look(&self, backend: Backend, known: Option<&str>) -> Result<Seen, FetchError> {
        let known = known.map(Version::new);
        match pointers::read_if_changed(self.store, self.pipeline, backend, known.as_ref())? {
            ReadIfChanged::Absent => Err(FetchError::NotPublished {
                url: self.store.url().to_owned(),
                pipeline: self.pipeline.clone(),
                backend,
            }),
            ReadIfChanged::Unchanged => Ok(Seen::Unchanged),
            ReadIfChanged::Changed(found) => Ok(Seen::Pointer(Box::new(found))),
        }
    }

    /// The error for an answer that fits no question.
    pub(crate) fn nonsense(&self, backend: Backend) -> FetchError {
        StoreError::Unavailable {
            url: self.store.url().to_owned(),
            key: kernrec_store::Key::pointer(self.pipeline, backend).to_string(),
            action: "read",
            source: "it is said to be unchanged, though no version of it was known".into(),
        }
        .into()
    }

    /// Whether an installed record came from here, so that its generation can be compared.
    pub(crate) fn is_origin_of(&self, record: &InstalledRecord) -> bool {
        record.origin.url == self.url && record.pipeline == *self.pipeline
    }

    /// The target's manifest, which must say what the pointer says.
    pub(crate) fn manifest(
        &self,
        backend: Backend,
        target: &Target,
    ) -> Result<RecordManifest, FetchError> {
        let bytes = objects::read_bounded(self.store, &target.manifest, MAX_SMALL_BYTES)?;
        let refused = |problem| FetchError::record(self.store, &target.manifest, problem);
        let manifest = RecordManifest::parse(&bytes)
            .map_err(|error| refused(RecordProblem::document("manifest", error)))?;
        let fields = [
            (
                "pipeline",
                self.pipeline.to_string(),
                manifest.pipeline.to_string(),
            ),
            ("backend", backend.to_string(), manifest.backend.to_string()),
            (
                "commit",
                target.commit.to_string(),
                manifest.commit.to_string(),
            ),
            (
                "build",
                target.build.to_string(),
                manifest.build.to_string(),
            ),
        ];
        match fields
            .into_iter()
            .find(|(_, expected, found)| expected != found)
        {
            Some((field, expected, found)) => Err(refused(RecordProblem::Pointer {
                field,
                expected,
                found,
            })),
            None => Ok(manifest),
        }
    }
}

/// A local store may be named in many ways, and a relative one means another store in another folder.
fn stable_url(url: &str) -> String {
    if url.contains("://") {
        return url.to_owned();
    }
    fs_err::canonicalize(url).map_or_else(|_| url.to_owned(), |path| path.display().to_string())
}
