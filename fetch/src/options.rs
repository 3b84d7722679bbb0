//! What is to be fetched, from where, to where.

use kernrec_schemas::{Backend, Commit, Pipeline, Timestamp};
use kernrec_store::signing::TrustedKeys;
use kernrec_store::{OpenError, Store};
use std::path::PathBuf;
use std::time::Duration;

/// How long to wait for another fetcher of the same folder, unless the caller says otherwise.
pub const DEFAULT_LOCK_WAIT: Duration = Duration::from_mins(5);

/// Where records come from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// A store.
    Store(&'a dyn Store),
    /// A store that could not be opened: nothing is fetched, and the report says what is still there.
    Unopened {
        /// What the user named.
        url: &'a str,
        /// Why it could not be opened.
        error: &'a OpenError,
    },
    /// Nowhere: what is installed is checked and used.
    Offline,
}

/// Which backends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backends {
    /// Every one there is; one that was never published is reported, and is no error unless none was.
    All,
    /// These, each of which must have been published.
    Listed(Vec<Backend>),
}

impl Backends {
    /// The backends, in the order they are reported.
    pub fn list(&self) -> Vec<Backend> {
        match self {
            Self::All => Backend::ALL.to_vec(),
            Self::Listed(backends) => {
                let mut backends = backends.clone();
                backends.sort_unstable();
                backends.dedup();
                backends
            }
        }
    }
}

/// Which of the records that are not revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The newest.
    Newest,
    /// The newest of this commit.
    Commit(Commit),
    /// The newest whose commit is an ancestor of a revision, or is that revision.
    AncestorOf {
        /// The revision, as git understands it.
        revision: String,
        /// A folder inside the git repository that knows it.
        repository: PathBuf,
    },
}

/// Which layouts of a store are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayoutChoice {
    /// Ours, else the existing system's.
    #[default]
    Auto,
    /// Ours.
    Native,
    /// The existing system's: the store is the folder of `latest.json`, or the bucket above it.
    Upstream,
}

/// Everything that does not depend on the store.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// The local folder, `<out>` in the design.
    pub out: PathBuf,
    /// The pipeline whose record is wanted.
    pub pipeline: Pipeline,
    /// The backends.
    pub backends: Backends,
    /// How the store may be laid out.
    pub layout: LayoutChoice,
    /// Which record.
    pub choice: Choice,
    /// Refuse a record whose pointer none of these keys signed; without keys no signature is asked for.
    pub require_keys: TrustedKeys,
    /// Refuse a record published longer ago than this.
    pub max_age: Option<Duration>,
    /// Write the gzip twins, and links to them, that readers of the existing system look for. Once they are
    /// there they are kept up without being asked for.
    pub upstream_names: bool,
    /// How long to wait for another fetcher of the same folder.
    pub lock_wait: Duration,
    /// The present.
    pub now: Timestamp,
}

impl FetchOptions {
    /// The newest record of the pipeline `ci` for every backend, at the present.
    ///
    /// # Panics
    /// Never: `ci` is a valid pipeline name.
    #[expect(clippy::expect_used, reason = "a constant that is valid")]
    pub fn new(out: impl Into<PathBuf>) -> Self {
        Self {
            out: out.into(),
            pipeline: Pipeline::new("ci").expect("`ci` is a valid pipeline"),
            backends: Backends::All,
            layout: LayoutChoice::Auto,
            choice: Choice::Newest,
            require_keys: TrustedKeys::default(),
            max_age: None,
            upstream_names: false,
            lock_wait: DEFAULT_LOCK_WAIT,
            now: Timestamp::now(),
        }
    }
}
