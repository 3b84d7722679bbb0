//! The store's side: pointer and manifest, checked against each other.

use super::plan::{Native, Target};
use super::upstream::Found;
use crate::error::{FetchError, RecordProblem};
use crate::options::LayoutChoice;
use kernrec_schemas::installed::{InstalledRecord, Origin, StoreLayout};
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::{Backend, KeyId, Pipeline};
use kernrec_store::pointers::{self, ReadIfChanged};
use kernrec_store::signing::{SignatureProblem, TrustedKeys};
use kernrec_store::{Key, Store, StoreError, Version, objects, upstream};

/// A store and the pipeline that is asked of it.
pub(crate) struct Remote<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) pipeline: &'a Pipeline,
    /// The store's name in local documents: the same store always has the same.
    pub(crate) url: String,
    layout: LayoutChoice,
    /// Keys one of which must have signed; `None`: signatures are not asked for.
    required: Option<&'a TrustedKeys>,
}

/// The answer to a conditional pointer request.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Still the version that was named in the request.
    Unchanged,
    /// This version.
    Pointer(Box<Native>),
    /// This version, in the existing system's layout.
    Upstream(Box<Found>),
}

impl<'a> Remote<'a> {
    pub(crate) fn new(store: &'a dyn Store, pipeline: &'a Pipeline) -> Self {
        Self {
            store,
            pipeline,
            url: stable_url(store.url()),
            layout: LayoutChoice::Native,
            required: None,
        }
    }

    /// The same store, looked at in this way.
    pub(crate) fn laid_out(self, layout: LayoutChoice) -> Self {
        Self { layout, ..self }
    }

    /// The same store, whose pointers one of these keys must have signed, if there are any.
    pub(crate) fn requiring(self, keys: &'a TrustedKeys) -> Self {
        Self {
            required: Some(keys).filter(|keys| !keys.is_empty()),
            ..self
        }
    }

    /// Whether a signature is asked for.
    pub(crate) fn requires_signature(&self) -> bool {
        self.required.is_some()
    }

    /// Whether the pointer by which a record was installed was verified as this run asks for.
    pub(crate) fn believes(&self, origin: &Origin) -> bool {
        self.required
            .is_none_or(|keys| origin.signed_by.as_ref().is_some_and(|key| keys.holds(key)))
    }

    /// The key that signed a pointer, if one is asked for.
    fn verified(
        &self,
        key: impl FnOnce() -> String,
        verify: impl FnOnce(&TrustedKeys) -> Result<KeyId, SignatureProblem>,
    ) -> Result<Option<KeyId>, FetchError> {
        let verified = self.required.map(verify).transpose();
        verified.map_err(|problem| FetchError::Signature {
            what: format!("the pointer `{}` in `{}`", key(), self.store.url()),
            problem,
        })
    }

    /// One request for each place where the pointer may be; without bytes when it is at the known version.
    pub(crate) fn look(
        &self,
        backend: Backend,
        known: Option<&Origin>,
    ) -> Result<Seen, FetchError> {
        if self.layout != LayoutChoice::Upstream
            && let Some(seen) = self.look_native(backend, known)?
        {
            return Ok(seen);
        }
        // Of the function records of the existing system nothing is read.
        if self.layout != LayoutChoice::Native && backend.has_kernels() {
            for place in self.places() {
                if let Some(seen) = self.look_upstream(place, backend, known)? {
                    return Ok(seen);
                }
            }
        }
        Err(FetchError::NotPublished {
            url: self.store.url().to_owned(),
            pipeline: self.pipeline.clone(),
            backend,
        })
    }

    fn look_native(
        &self,
        backend: Backend,
        known: Option<&Origin>,
    ) -> Result<Option<Seen>, FetchError> {
        let known = known
            .filter(|origin| origin.layout == StoreLayout::Native)
            .map(|origin| Version::new(&origin.version));
        let read = pointers::read_if_changed(self.store, self.pipeline, backend, known.as_ref())?;
        Ok(match read {
            ReadIfChanged::Absent => None,
            ReadIfChanged::Unchanged => Some(Seen::Unchanged),
            ReadIfChanged::Changed(found) => {
                let key = || Key::pointer(self.pipeline, backend).to_string();
                let signed_by = self.verified(key, |keys| found.seal.verify(keys))?;
                Some(Seen::Pointer(Box::new(Native {
                    found: *found,
                    signed_by,
                })))
            }
        })
    }

    fn look_upstream(
        &self,
        place: upstream::Place,
        backend: Backend,
        known: Option<&Origin>,
    ) -> Result<Option<Seen>, FetchError> {
        let known = known
            .filter(|origin| origin.layout == StoreLayout::Upstream)
            .filter(|origin| origin.url == place.url(&self.url))
            .map(|origin| Version::new(&origin.version));
        let (store, pipeline) = (self.store, self.pipeline);
        let read = upstream::read_pointer(store, &place, pipeline, backend, known.as_ref())?;
        Ok(match read {
            upstream::Seen::Absent => None,
            upstream::Seen::Unchanged => Some(Seen::Unchanged),
            upstream::Seen::Found(pointer) => {
                let key = || {
                    (place.pointer(backend)).map_or_else(|e| e.to_string(), |key| key.to_string())
                };
                let signed_by = self.verified(key, |keys| pointer.verify(keys, backend))?;
                Some(Seen::Upstream(Box::new(Found {
                    place,
                    pointer: *pointer,
                    signed_by,
                })))
            }
        })
    }

    /// Where the existing system's pointer may be, given what users name: its folder, or the bucket.
    fn places(&self) -> [upstream::Place; 2] {
        let below = upstream::Place::of_pipeline(self.pipeline.clone());
        [upstream::Place::root(), below]
    }

    /// The error for an answer that fits no question.
    pub(crate) fn nonsense(&self, backend: Backend) -> FetchError {
        StoreError::Unavailable {
            url: self.store.url().to_owned(),
            key: Key::pointer(self.pipeline, backend).to_string(),
            action: "read",
            source: "it is said to be unchanged, though no version of it was known".into(),
        }
        .into()
    }

    /// Whether an installed record came from here, so that its generation can be compared.
    pub(crate) fn is_origin_of(&self, record: &InstalledRecord) -> bool {
        let url = &record.origin.url;
        let same_store = match record.origin.layout {
            StoreLayout::Native => self.layout != LayoutChoice::Upstream && *url == self.url,
            _ => {
                self.layout != LayoutChoice::Native
                    && self
                        .places()
                        .iter()
                        .any(|place| place.url(&self.url) == *url)
            }
        };
        same_store && record.pipeline == *self.pipeline
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
