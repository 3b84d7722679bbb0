//! One type for everything that ends a command early, and its one mapping to text and exit status.

use kernrec_publish::{CollectError, MapsError};
use kernrec_schemas::DocumentError;
use kernrec_schemas::exit::Exit;
use kernrec_store::artifact::ArtifactError;
use kernrec_store::bundle::BundleError;
use kernrec_store::fsio::FsError;
use kernrec_store::{OpenError, StoreError};
use serde::Serialize;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

type Cause = Box<dyn Error + Send + Sync>;

/// What kind of end it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The command line or the environment is wrong; nothing was tried.
    Usage,
    /// It was tried and failed; nothing was changed.
    Failed,
    /// A check said no, or there is nothing to work on yet.
    Refused,
    /// Nobody reads stdout any more: a quiet, good end.
    BrokenPipe,
}

/// Why a command ended early, with advice.
#[derive(Debug)]
pub(crate) struct CommandError {
    kind: Kind,
    reason: &'static str,
    error: Cause,
    hints: Vec<String>,
}

/// What `--json` prints on stdout for an early end.
#[derive(Serialize)]
pub(crate) struct ErrorDocument {
    outcome: &'static str,
    reason: &'static str,
    message: String,
    hints: Vec<String>,
    exit_status: u8,
}

/// A document that was refused, and the file it stands in.
#[derive(Debug, thiserror::Error)]
#[error("read `{}`: {source}", path.display())]
pub(crate) struct BadDocument {
    path: PathBuf,
    source: DocumentError,
}

impl CommandError {
    /// The command line is wrong in a way that clap cannot know.
    pub(crate) fn usage(problem: impl Into<Cause>) -> Self {
        Self::new(Kind::Usage, "usage", problem)
    }

    /// Something failed; `reason` is the stable word.
    pub(crate) fn failed(reason: &'static str, error: impl Into<Cause>) -> Self {
        Self::new(Kind::Failed, reason, error)
    }

    /// A check said no; `reason` is the stable word.
    pub(crate) fn refused(reason: &'static str, error: impl Into<Cause>) -> Self {
        Self::new(Kind::Refused, reason, error)
    }

    /// A store that no other try would open.
    pub(crate) fn unopenable(error: &OpenError) -> Self {
        let usage = Self::usage(chain(error));
        match error {
            OpenError::PlainHttp { .. } => {
                usage.hint("use https://, or --allow-http if nobody can meddle with the connection")
            }
            _ => usage,
        }
    }

    /// A document in a file was refused.
    pub(crate) fn document(path: &Path, source: DocumentError) -> Self {
        let reason = source.reason();
        let path = path.to_path_buf();
        Self::failed(reason, BadDocument { path, source })
    }

    /// stdout could not be written.
    pub(crate) fn stdout(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(Kind::BrokenPipe, "broken-pipe", error),
            _ => Self::failed("output-error", format!("write to stdout: {error}")),
        }
    }

    /// Adds a line of advice.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    fn new(kind: Kind, reason: &'static str, error: impl Into<Cause>) -> Self {
        Self {
            kind,
            reason,
            error: error.into(),
            hints: Vec::new(),
        }
    }

    /// The exit status.
    pub(crate) const fn exit(&self) -> Exit {
        match self.kind {
            Kind::Usage => Exit::Usage,
            Kind::Failed => Exit::Failed,
            Kind::Refused => Exit::Refused,
            Kind::BrokenPipe => Exit::Done,
        }
    }

    /// The lines for stderr; none when the end is a quiet one.
    pub(crate) fn lines(&self) -> Vec<String> {
        let message = self.message();
        let first = match self.kind {
            Kind::BrokenPipe => return Vec::new(),
            // The command line says itself what is wrong with it.
            Kind::Usage => format!("error: {message}"),
            Kind::Failed | Kind::Refused => format!("error: {}: {message}", self.reason),
        };
        let hints = self.hints.iter().map(|hint| format!("hint: {hint}"));
        std::iter::once(first).chain(hints).collect()
    }

    /// The document for `--json`; `None` when the end is a quiet one.
    pub(crate) fn document_for_json(&self) -> Option<ErrorDocument> {
        if self.kind == Kind::BrokenPipe {
            return None;
        }
        Some(ErrorDocument {
            outcome: match self.kind {
                Kind::Refused => "refused",
                Kind::Usage | Kind::Failed | Kind::BrokenPipe => "failed",
            },
            reason: self.reason,
            message: self.message(),
            hints: self.hints.clone(),
            exit_status: self.exit().code(),
        })
    }

    pub(crate) fn message(&self) -> String {
        chain(self.error.as_ref())
    }
}

/// The error and its causes on one line. Libraries differ in whether a message repeats its cause, so a cause
/// that already stands in the line is left out.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        cause = error.source();
    }
    line
}

impl From<FsError> for CommandError {
    fn from(error: FsError) -> Self {
        Self::failed("file-error", error)
    }
}

impl From<ArtifactError> for CommandError {
    fn from(error: ArtifactError) -> Self {
        Self::failed(error.reason(), error)
    }
}

impl From<BundleError> for CommandError {
    fn from(error: BundleError) -> Self {
        Self::failed(error.reason(), error)
    }
}

impl From<CollectError> for CommandError {
    fn from(error: CollectError) -> Self {
        Self::failed(error.reason(), error)
    }
}

impl From<MapsError> for CommandError {
    fn from(error: MapsError) -> Self {
        Self::failed(error.reason(), error)
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let failed = |error: StoreError| Self::failed(error.reason(), error);
        match &error {
            StoreError::NoStore { .. } => failed(error)
                .hint("check the path; `kernrec publish` creates a store, nothing else does"),
            StoreError::Denied { .. } => {
                failed(error).hint("check the credentials of this machine for the store")
            }
            StoreError::Damaged { .. } => failed(error)
                .hint("publishing the same record again writes the damaged object anew"),
            _ => failed(error),
        }
    }
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Store(error) => error.into(),
            other => Self::unopenable(&other),
        }
    }
}
