//! The symbol maps given to a publish, by backend and variant.

use kernrec_schemas::json::MAX_RECORD_BYTES;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::{Backend, Variant};
use kernrec_store::artifact::{self, ArtifactError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The maps given: those that can be told apart, and those whose backend nobody can read.
#[derive(Debug, Clone, Default)]
pub struct Maps {
    known: BTreeMap<(Backend, Variant), MapFile>,
    refused: Vec<RefusedMap>,
}

/// A map and the file it was read from.
#[derive(Debug, Clone)]
pub struct MapFile {
    /// The file.
    pub path: PathBuf,
    /// The map; whether it may be used is a gate's decision.
    pub map: SymbolMap,
}

/// A file that is no symbol map this version can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedMap {
    /// The file.
    pub path: PathBuf,
    /// What the loader said.
    pub problem: String,
}

/// Why the maps cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapsError {
    /// A file cannot be read.
    #[error("read symbol map: {0}")]
    Read(#[from] ArtifactError),
    /// Two maps for one backend and variant.
    #[error(
        "`{}` and `{}` are both symbol maps of {backend}, variant `{variant}`",
        first.display(),
        second.display()
    )]
    Twice {
        /// The backend.
        backend: Backend,
        /// The variant.
        variant: Variant,
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
}

impl MapsError {
    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Read(source) => source.reason(),
            Self::Twice { .. } => "map-given-twice",
        }
    }
}

impl Maps {
    /// Reads map files. A file that is damaged or no map is kept as refused: it costs only the backend that has
    /// no other.
    pub fn load(paths: &[PathBuf]) -> Result<Self, MapsError> {
        let mut maps = Self::default();
        for path in paths {
            let map = match artifact::read(path, MAX_RECORD_BYTES) {
                Ok(bytes) => SymbolMap::parse(&bytes).map_err(|error| error.to_string()),
                // No file, or none that may be read: the caller's mistake.
                Err(error @ ArtifactError::Fs(_)) => return Err(error.into()),
                Err(damaged) => Err(damaged.to_string()),
            };
            match map {
                Ok(map) => maps.add(path.clone(), map)?,
                Err(problem) => maps.refused.push(RefusedMap {
                    path: path.clone(),
                    problem,
                }),
            }
        }
        Ok(maps)
    }

    /// Adds a map that is in memory already.
    pub fn add(&mut self, path: PathBuf, map: SymbolMap) -> Result<(), MapsError> {
        let (backend, variant) = (map.backend, map.variant.clone());
        let file = MapFile { path, map };
        if let Some(first) = self.known.get(&(backend, variant.clone())) {
            return Err(MapsError::Twice {
                backend,
                variant,
                first: first.path.clone(),
                second: file.path,
            });
        }
        self.known.insert((backend, variant), file);
        Ok(())
    }

    /// The maps of one backend, by variant.
    pub fn of(&self, backend: Backend) -> impl Iterator<Item = (&Variant, &MapFile)> {
        self.known
            .iter()
            .filter(move |((of, _), _)| *of == backend)
            .map(|((_, variant), file)| (variant, file))
    }

    /// The backends that have a map, in order.
    pub fn backends(&self) -> BTreeSet<Backend> {
        self.known.keys().map(|(backend, _)| *backend).collect()
    }

    /// Files that are no symbol maps this version can read.
    pub fn refused(&self) -> &[RefusedMap] {
        &self.refused
    }
}
