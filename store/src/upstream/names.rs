//! What stands where.

use crate::{InvalidKey, Key};
use kernrec_schemas::manifest::{ROLE_SYMBOL_MAP, ROLE_TABLE};
use kernrec_schemas::{Backend, Commit, Pipeline};

/// One of the two files of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Which step launched what.
    Table,
    /// Which source each kernel comes from.
    SymbolMap,
}

impl Half {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Table, Self::SymbolMap];

    /// Its role in a manifest.
    pub const fn role(self) -> &'static str {
        match self {
            Self::Table => ROLE_TABLE,
            Self::SymbolMap => ROLE_SYMBOL_MAP,
        }
    }
}

/// `kernel_table.json.gz`, `kernel_symbol_map.rocm.json.gz`: CUDA came first and is not named.
pub fn file_name(half: Half, backend: Backend) -> String {
    let stem = match half {
        Half::Table => "kernel_table",
        Half::SymbolMap => "kernel_symbol_map",
    };
    match backend {
        Backend::Cuda => format!("{stem}.json.gz"),
        other => format!("{stem}.{other}.json.gz"),
    }
}

/// `latest.json` or `latest.rocm.json`.
pub fn pointer_name(backend: Backend) -> String {
    match backend {
        Backend::Cuda => "latest.json".to_owned(),
        other => format!("latest.{other}.json"),
    }
}

/// Where in a store the pointers of the layout stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place(Option<Pipeline>);

impl Place {
    /// At its root: the user named the folder of one pipeline.
    pub const fn root() -> Self {
        Self(None)
    }

    /// In `<pipeline>/kernrec`: the user named the bucket.
    pub const fn of_pipeline(pipeline: Pipeline) -> Self {
        Self(Some(pipeline))
    }

    /// The URL of the folder, given the store's.
    pub fn url(&self, store: &str) -> String {
        match &self.0 {
            None => store.to_owned(),
            Some(pipeline) => format!("{}/{pipeline}/kernrec", store.trim_end_matches('/')),
        }
    }

    /// The key of a backend's pointer.
    pub fn pointer(&self, backend: Backend) -> Result<Key, InvalidKey> {
        self.key(&pointer_name(backend))
    }

    /// The key of a file of a commit.
    pub fn file(&self, commit: &Commit, half: Half, backend: Backend) -> Result<Key, InvalidKey> {
        self.key(&format!("{commit}/{}", file_name(half, backend)))
    }

    fn key(&self, rest: &str) -> Result<Key, InvalidKey> {
        match &self.0 {
            None => Key::new(rest),
            Some(pipeline) => Key::new(&format!("{pipeline}/kernrec/{rest}")),
        }
    }
}
