//! The input: one record per backend, as values.

use crate::functions::FunctionRecord;
use crate::lineage::Lineage;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Commit, Timestamp};

/// A kernel table and the symbol maps it is read with.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The backend both halves belong to.
    pub backend: Backend,
    /// Which steps launched which kernels.
    pub table: KernelTable,
    /// Which files those kernels came from: one map per image variant. Their objects are united.
    pub maps: Vec<SymbolMap>,
    /// When the record was published; `None` (nothing says so) counts as stale.
    pub published_at: Option<Timestamp>,
    /// The record was withdrawn after it was installed.
    pub revoked: bool,
    /// Why it is not vouched for as the caller demands; `None`: it is, or nobody demands it.
    pub unverified: Option<String>,
    /// How its commit and the base of the change are related.
    pub lineage: Lineage,
}

impl Pair {
    /// Whether table and maps name one and the same commit. Otherwise nothing may be skipped, and every name is
    /// compared in its stable form.
    pub fn is_matched(&self) -> bool {
        let commit = self.table.source.commit.as_ref();
        commit.is_some() && self.maps.iter().all(|map| map.commit.as_ref() == commit)
    }
}

/// One backend of the question.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// Its pair was loaded.
    Ready(Box<Pair>),
    /// The function record was loaded.
    Functions(Box<FunctionRecord>),
    /// It was asked for, or has a folder in the data, and cannot be loaded: no step may be skipped at all.
    Unavailable(Unavailable),
}

/// Why a backend's pair cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// The backend.
    pub backend: Backend,
    /// The stable word of the failure.
    pub reason: String,
    /// The failure for people.
    pub problem: String,
}

impl Record {
    /// The backend.
    pub fn backend(&self) -> Backend {
        match self {
            Self::Ready(pair) => pair.backend,
            Self::Functions(_) => Backend::Python,
            Self::Unavailable(unavailable) => unavailable.backend,
        }
    }

    /// The commit that it speaks of, if it could be loaded and names one.
    pub fn commit(&self) -> Option<&Commit> {
        match self {
            Self::Ready(pair) => pair.table.source.commit.as_ref(),
            Self::Functions(record) => record.table.source.commit.as_ref(),
            Self::Unavailable(_) => None,
        }
    }

    /// When it was published, if anything says so.
    pub fn published_at(&self) -> Option<Timestamp> {
        match self {
            Self::Ready(pair) => pair.published_at,
            Self::Functions(record) => record.published_at,
            Self::Unavailable(_) => None,
        }
    }

    /// Says how its commit and the base of the change are related.
    pub fn set_lineage(&mut self, lineage: Lineage) {
        match self {
            Self::Ready(pair) => pair.lineage = lineage,
            Self::Functions(record) => record.lineage = lineage,
            Self::Unavailable(_) => {}
        }
    }
}
