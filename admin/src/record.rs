//! One record as a pointer names it.

use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::{Backend, Pipeline, Timestamp};
use std::fmt;

/// A record and the pointer that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The pointer's pipeline.
    pub pipeline: Pipeline,
    /// The pointer's backend.
    pub backend: Backend,
    /// The record.
    pub record: RecordRef,
    /// What it is to the pointer.
    pub standing: Standing,
}

/// What a record is to the pointer that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is the one that is fetched.
    Current,
    /// It was current once.
    Past,
    /// It was current once and a rollback revoked it.
    Revoked {
        /// When.
        at: Timestamp,
        /// What the operator said.
        reason: Option<String>,
    },
}

impl Named {
    /// Every record of a pointer: the current one, then its history, newest first.
    pub(crate) fn all(pointer: &Pointer) -> Vec<Self> {
        let named = |record: &RecordRef, standing| Self {
            pipeline: pointer.pipeline.clone(),
            backend: pointer.backend,
            record: record.clone(),
            standing,
        };
        let past = pointer.history.iter().map(|past| {
            // The document's own rule: a rollback may have revoked one entry of a manifest named twice.
            let revoked = pointer.revocation(&past.record.manifest, past.record.build);
            let standing = match revoked {
                Some(at) => Standing::Revoked {
                    at,
                    reason: past.reason.clone(),
                },
                None => Standing::Past,
            };
            named(&past.record, standing)
        });
        std::iter::once(named(&pointer.current, Standing::Current))
            .chain(past)
            .collect()
    }

    /// Whether both are the same record of the same pointer, whatever it is to the pointer now.
    pub(crate) fn is_same_record(&self, other: &Self) -> bool {
        self.pipeline == other.pipeline
            && self.backend == other.backend
            && self.record.manifest == other.record.manifest
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pipeline, backend, build) = (&self.pipeline, self.backend, self.record.build);
        let standing = match self.standing {
            Standing::Current => "current",
            Standing::Past => "past",
            Standing::Revoked { .. } => "revoked",
        };
        write!(f, "{pipeline}/{backend} build {build} ({standing})")
    }
}
