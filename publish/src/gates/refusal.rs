//! Why a record may not be published, with the numbers that decided.

use crate::shown;
use kernrec_schemas::{Backend, BuildNumber, StepKey, Timestamp, Variant};
use kernrec_store::signing::SignatureProblem;
use serde::Serialize;
use std::path::PathBuf;

/// One gate that refused. Serialised as `{"reason": "<word>", …numbers}`.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Refusal {
    /// No row may let its step be skipped.
    #[error("no row is usable: 0 of {rows}")]
    NoUsableRow {
        /// Rows in the table.
        rows: u64,
    },
    /// A symbol map is not accepted by the loader, or none was given.
    #[error("the symbol map {} is refused: {problem}", path_or_nothing(path.as_ref()))]
    MapRefused {
        /// The file; `None` when no map of the backend was given.
        #[serde(serialize_with = "shown::optional")]
        path: Option<PathBuf>,
        /// What the loader said.
        problem: String,
    },
    /// A row belongs to another backend.
    #[error("{rows} rows are of another backend, the first is `{step}` of `{found}`")]
    WrongBackend {
        /// How many rows.
        rows: u64,
        /// The first of them.
        step: StepKey,
        /// Its backend.
        found: Backend,
    },
    /// A document was made of another commit, or does not say of which.
    #[error("the {document} is of commit `{found}`, expected `{expected}`")]
    CommitMismatch {
        /// `table`, or `symbol map` with its file.
        document: String,
        /// The commit it names; empty when it names none.
        found: String,
        /// The commit being published.
        expected: String,
    },
    /// The ready-made table is of another build or pipeline.
    #[error("the table is of {field} `{found}`, expected `{expected}`")]
    TableMismatch {
        /// `build` or `pipeline`.
        field: &'static str,
        /// What the table says.
        found: String,
        /// What is being published.
        expected: String,
    },
    /// Most recordings were made of another commit.
    #[error("{foreign} of {jobs} jobs recorded another commit")]
    ForeignRecordings {
        /// Jobs whose sidecar names another commit.
        foreign: u64,
        /// Jobs folded.
        jobs: u64,
    },
    /// Table and map hardly share a name.
    #[error("{}", join_message(*joined, *symbols, current.as_ref()))]
    NamesDoNotJoin {
        /// Map symbols launched by a usable row.
        joined: u64,
        /// Distinct map symbols.
        symbols: u64,
        /// The same two numbers of the current record, when the share fell against it.
        current: Option<JoinShare>,
    },
    /// Too few of the expected jobs delivered anything.
    #[error("{delivered} of {expected} expected jobs delivered, the floor is {floor}")]
    TooFewJobs {
        /// Jobs that delivered.
        delivered: u64,
        /// Jobs expected.
        expected: u64,
        /// The smallest accepted share, 0 to 1.
        floor: f64,
    },
    /// Less than half of what the current record has.
    #[error("{found} {} where the current record has {current}", what.replace('_', " "))]
    Collapse {
        /// `usable_rows`, `kernels` or `functions`.
        what: &'static str,
        /// The number now.
        found: u64,
        /// The current record's number.
        current: u64,
    },
    /// The record or its build was revoked by a rollback.
    #[error("build {build} was revoked at {revoked}")]
    Revoked {
        /// The build.
        build: BuildNumber,
        /// When.
        revoked: Timestamp,
    },
    /// The existing system's layout has no name for the map of a named variant.
    #[error("the symbol map of variant `{variant}` has no name in the upstream layout")]
    VariantNotRepresentable {
        /// The variant.
        variant: Variant,
    },
    /// The existing system's layout has no name for a record of this backend.
    #[error("a record of `{backend}` has no name in the upstream layout")]
    BackendNotRepresentable {
        /// The backend.
        backend: Backend,
    },
    /// The commit's folder in the upstream layout holds another content under a name: readers could mix the two.
    #[error("`{key}` stands in the store with another content")]
    CommitAlreadyPublished {
        /// The file's key.
        key: String,
    },
    /// The pointer that stands there is not signed, and this publisher would vouch for what it names.
    #[error("the pointer that stands there: {problem}")]
    SignatureMissing {
        /// What is wrong with it.
        problem: String,
    },
    /// The pointer that stands there is signed by a key that this publisher does not trust.
    #[error("the pointer that stands there: {problem}")]
    SignatureUnknownKey {
        /// What is wrong with it.
        problem: String,
    },
    /// The signature of the pointer that stands there does not hold.
    #[error("the pointer that stands there: {problem}")]
    SignatureInvalid {
        /// What is wrong with it.
        problem: String,
    },
    /// The pointer that stands there is signed, and this publisher has no key.
    #[error("the pointer that stands there: {problem}")]
    SigningKeyMissing {
        /// What would be wrong with its successor.
        problem: String,
    },
    /// Nobody knows the step of something that was delivered, and no jobs list protects it.
    #[error("nobody knows the step of {inputs} delivered inputs, the first: {problem}")]
    UnreadableInput {
        /// How many.
        inputs: u64,
        /// The first.
        #[serde(serialize_with = "shown::path")]
        first: PathBuf,
        /// What is wrong with it; names it.
        problem: String,
    },
}

/// How many of a record's map symbols its usable rows launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct JoinShare {
    /// Map symbols launched by a usable row.
    pub joined: u64,
    /// Distinct map symbols.
    pub symbols: u64,
}

impl Refusal {
    /// The stable word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NoUsableRow { .. } => "no-usable-row",
            Self::MapRefused { .. } => "map-refused",
            Self::WrongBackend { .. } => "wrong-backend",
            Self::CommitMismatch { .. } => "commit-mismatch",
            Self::TableMismatch { .. } => "table-mismatch",
            Self::ForeignRecordings { .. } => "foreign-recordings",
            Self::NamesDoNotJoin { .. } => "names-do-not-join",
            Self::TooFewJobs { .. } => "too-few-jobs",
            Self::Collapse { .. } => "collapse",
            Self::Revoked { .. } => "revoked",
            Self::VariantNotRepresentable { .. } => "variant-not-representable",
            Self::BackendNotRepresentable { .. } => "backend-not-representable",
            Self::CommitAlreadyPublished { .. } => "commit-already-published",
            Self::SignatureMissing { .. } => "signature-missing",
            Self::SignatureUnknownKey { .. } => "signature-unknown-key",
            Self::SignatureInvalid { .. } => "signature-invalid",
            Self::SigningKeyMissing { .. } => "signing-key-missing",
            Self::UnreadableInput { .. } => "unreadable-input",
        }
    }
}

impl From<SignatureProblem> for Refusal {
    fn from(found: SignatureProblem) -> Self {
        let problem = found.to_string();
        match found {
            SignatureProblem::Missing { .. } => Self::SignatureMissing { problem },
            SignatureProblem::UnknownKey { .. } => Self::SignatureUnknownKey { problem },
            SignatureProblem::Invalid { .. } => Self::SignatureInvalid { problem },
            SignatureProblem::SigningKeyMissing { .. } => Self::SigningKeyMissing { problem },
        }
    }
}

fn path_or_nothing(path: Option<&PathBuf>) -> String {
    path.map_or_else(String::new, |path| format!("`{}`", path.display()))
}

fn join_message(joined: u64, symbols: u64, current: Option<&JoinShare>) -> String {
    match current {
        None => format!("no usable row launched any of the {symbols} symbols of the map"),
        Some(current) => format!(
            "usable rows launched {joined} of {symbols} map symbols, less than half the share of the current \
             record ({} of {})",
            current.joined, current.symbols
        ),
    }
}
