//! `kernrec.pointer/1`.

use super::PointerSignature;
use crate::id::{Backend, BuildNumber, Commit, Digest, Generation, Nonce, Pipeline};
use crate::json::{self, DocumentError};
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DOCUMENT: &str = "pointer";

/// How many past records a pointer remembers.
pub const HISTORY_LIMIT: usize = 256;

/// A published record, as a pointer names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordRef {
    /// The digest of its manifest.
    pub manifest: Digest,
    /// Its commit.
    pub commit: Commit,
    /// Its build.
    pub build: BuildNumber,
    /// When it was first published, by the publisher's wall clock. A rollback keeps it.
    pub published_at: Timestamp,
}

/// A record that was current once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastRecord {
    /// The record.
    pub record: RecordRef,
    /// When a rollback revoked it; absent while it is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Timestamp>,
    /// Why it was revoked, in the operator's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The pointer. Generation and nonce make every version differ from every other, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "kernrec pointer, version 1")]
pub struct Pointer {
    #[schemars(extend("const" = "kernrec.pointer/1"))]
    schema: String,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The backend.
    pub backend: Backend,
    /// How often it has moved, from 1.
    pub generation: Generation,
    /// The record it names.
    pub current: RecordRef,
    /// The writer's mark, by which it recognises its own write after a lost answer.
    pub nonce: Nonce,
    /// The records before, newest first, at most 256.
    #[schemars(length(max = 256))]
    pub history: Vec<PastRecord>,
    /// Who vouches for all of this; absent where nobody signs. A next version begins without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<PointerSignature>,
}

impl Pointer {
    /// The schema word written.
    pub const SCHEMA: &str = "kernrec.pointer/1";

    /// The first version of a pointer.
    pub fn first(pipeline: Pipeline, backend: Backend, record: RecordRef, nonce: Nonce) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            pipeline,
            backend,
            generation: Generation::FIRST,
            current: record,
            nonce,
            history: Vec::new(),
            signature: None,
        }
    }

    /// The version that follows this one and names `record`; `None` when generations are exhausted.
    #[must_use]
    pub fn advanced(&self, record: RecordRef, nonce: Nonce) -> Option<Self> {
        self.followed_by(record, self.passed().collect(), nonce)
    }

    /// The version that follows this one and names the same records, for another to sign; `None` when generations
    /// are exhausted.
    #[must_use]
    pub fn renewed(&self, nonce: Nonce) -> Option<Self> {
        Some(Self {
            generation: self.generation.next()?,
            nonce,
            signature: None,
            ..self.clone()
        })
    }

    /// The forward move that makes `target` current again and revokes every record newer than it.
    ///
    /// `None` when `target` is current already, the history does not hold it, it is revoked itself, or
    /// generations are exhausted.
    #[must_use]
    pub fn rolled_back(&self, target: &Digest, nonce: Nonce, now: Timestamp) -> Option<Self> {
        if self.current.manifest == *target {
            return None;
        }
        let mut history: Vec<PastRecord> = self.passed().collect();
        let at = history
            .iter()
            .position(|past| past.record.manifest == *target)?;
        let chosen = history.remove(at).record;
        if self.revocation(target, chosen.build).is_some() {
            return None;
        }
        for past in &mut history[..at] {
            past.revoked.get_or_insert(now);
        }
        self.followed_by(chosen, history, nonce)
    }

    /// The history of the next version, were it not bounded.
    fn passed(&self) -> impl Iterator<Item = PastRecord> {
        let current = PastRecord {
            record: self.current.clone(),
            revoked: None,
            reason: None,
        };
        std::iter::once(current).chain(self.history.iter().cloned())
    }

    fn followed_by(
        &self,
        record: RecordRef,
        mut history: Vec<PastRecord>,
        nonce: Nonce,
    ) -> Option<Self> {
        // A revoked record that ordering alone would let in again is remembered before a good one.
        let needed =
            |past: &PastRecord| past.revoked.is_some() && past.record.build >= record.build;
        while history.len() > HISTORY_LIMIT {
            let oldest = history.iter().rposition(|past| !needed(past));
            history.remove(oldest.unwrap_or(HISTORY_LIMIT));
        }
        Some(Self {
            schema: Self::SCHEMA.to_owned(),
            pipeline: self.pipeline.clone(),
            backend: self.backend,
            generation: self.generation.next()?,
            current: record,
            nonce,
            history,
            signature: None,
        })
    }

    /// When this manifest was revoked; for one the pointer never named, when a record of its build was.
    ///
    /// A rollback may revoke one record of a build and keep another, so what the pointer says of the very
    /// manifest comes first. The current record is never revoked.
    pub fn revocation(&self, manifest: &Digest, build: BuildNumber) -> Option<Timestamp> {
        if self.current.manifest == *manifest {
            return None;
        }
        let find = |same: &dyn Fn(&RecordRef) -> bool| {
            let named: Vec<&PastRecord> = self
                .history
                .iter()
                .filter(|past| same(&past.record))
                .collect();
            let revoked = named.iter().find_map(|past| past.revoked);
            (!named.is_empty(), revoked)
        };
        match find(&|record| record.manifest == *manifest) {
            (true, revoked) => revoked,
            (false, _) => find(&|record| record.build == build).1,
        }
    }

    /// The current record and the past ones that are not revoked, newest first.
    pub fn good_records(&self) -> impl Iterator<Item = &RecordRef> {
        let good = |past: &&PastRecord| {
            let record = &past.record;
            self.revocation(&record.manifest, record.build).is_none()
        };
        let past = self.history.iter().filter(good).map(|past| &past.record);
        std::iter::once(&self.current).chain(past)
    }

    /// Reads a pointer.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let pointer: Self = json::read_schema(DOCUMENT, bytes, Self::SCHEMA)?;
        if pointer.generation < Generation::FIRST {
            return Err(DocumentError::rule(DOCUMENT, "generation", "below 1"));
        }
        if pointer.history.len() > HISTORY_LIMIT {
            let problem = format!("more than {HISTORY_LIMIT} records");
            return Err(DocumentError::rule(DOCUMENT, "history", problem));
        }
        Ok(pointer)
    }

    /// The bytes written: indented, since people read pointers in a bucket's browser.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::pretty(self)
    }
}
