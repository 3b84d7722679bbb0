//! From what a user wrote to a store.

#[cfg(feature = "remote")]
use crate::remote::RemoteOptions;
use crate::{LocalStore, Store, StoreError};
use std::path::Path;

/// What the store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading: a local store must exist.
    Read,
    /// Publishing: a local store is created.
    Write,
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The scheme names no backend of this program.
    #[error("`{url}` has the scheme `{scheme}`, expected a path or one of {known}")]
    Scheme {
        /// What the user wrote.
        url: String,
        /// Its scheme.
        scheme: String,
        /// Schemes that would do.
        known: &'static str,
    },
    /// A `file://` URL with a host or without a path.
    #[error("`{url}` is not a local path: expected `file:///absolute/path`")]
    FileUrl {
        /// What the user wrote.
        url: String,
    },
    /// A URL that names no store.
    #[error("`{url}` does not name a store: {problem}")]
    Url {
        /// What the user wrote.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Plain HTTP to another machine, which nothing protects from being changed on the way.
    #[error("`{url}` is plain HTTP to another machine, which is not allowed")]
    PlainHttp {
        /// The URL of the store, or of the service that holds it.
        url: String,
    },
    /// The HTTP client could not be set up.
    #[cfg(feature = "remote")]
    #[error("reach `{url}`: {source}")]
    Setup {
        /// What the user wrote.
        url: String,
        /// What failed.
        source: crate::remote::HttpSetupError,
    },
    /// The store is not usable.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OpenError {
    pub(crate) fn url(url: &str, problem: String) -> Self {
        Self::Url {
            url: shown(url),
            problem,
        }
    }

    pub(crate) fn unknown_scheme(url: &str, scheme: &str) -> Self {
        Self::Scheme {
            url: shown(url),
            scheme: scheme.to_owned(),
            known: KNOWN_SCHEMES,
        }
    }
}

/// The schemes this build opens.
const KNOWN_SCHEMES: &str = if cfg!(feature = "remote") {
    "`file://`, `s3://`, `gs://`, `az://`, `https://`"
} else {
    "`file://`"
};

/// Opens a store from a path or a URL; stores behind a network with default options.
pub fn open(url: &str, access: Access) -> Result<Box<dyn Store>, OpenError> {
    match named(url)? {
        Named::Path(path) => local(path, access),
        Named::Elsewhere(scheme) => elsewhere(url, scheme),
    }
}

/// As [`open`], with options for a store behind a network.
#[cfg(feature = "remote")]
pub fn open_with(
    url: &str,
    access: Access,
    options: &RemoteOptions,
) -> Result<Box<dyn Store>, OpenError> {
    match named(url)? {
        Named::Path(path) => local(path, access),
        Named::Elsewhere(_) => crate::remote::open_remote(url, options),
    }
}

#[cfg(feature = "remote")]
fn elsewhere(url: &str, _: &str) -> Result<Box<dyn Store>, OpenError> {
    crate::remote::open_remote(url, &RemoteOptions::default())
}

#[cfg(not(feature = "remote"))]
fn elsewhere(url: &str, scheme: &str) -> Result<Box<dyn Store>, OpenError> {
    Err(OpenError::unknown_scheme(url, scheme))
}

/// A URL as it may stand in a log: without what stands before an `@` or behind a `?`, which may be a secret.
pub(crate) fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (kept, cut) = match rest.find(['?', '#']) {
        Some(at) if !rest[at..].contains('@') => (&rest[..at], "…"),
        _ => (rest, ""),
    };
    match kept.rsplit_once('@') {
        Some((_, rest)) => format!("{scheme}://…@{rest}{cut}"),
        None => format!("{scheme}://{kept}{cut}"),
    }
}

/// What a URL names.
enum Named<'a> {
    Path(&'a Path),
    Elsewhere(&'a str),
}

fn named(url: &str) -> Result<Named<'_>, OpenError> {
    if url.is_empty() {
        // An unset variable in a script; as a path it would be the working directory.
        return Err(OpenError::url(url, "it is empty".to_owned()));
    }
    match url.split_once("://") {
        None => Ok(Named::Path(Path::new(url))),
        Some(("file", rest)) if rest.starts_with('/') => Ok(Named::Path(Path::new(rest))),
        Some(("file", _)) => Err(OpenError::FileUrl {
            url: url.to_owned(),
        }),
        Some((scheme, _)) => Ok(Named::Elsewhere(scheme)),
    }
}

fn local(path: &Path, access: Access) -> Result<Box<dyn Store>, OpenError> {
    let store = match access {
        Access::Read => LocalStore::existing(path)?,
        Access::Write => LocalStore::create(path)?,
    };
    Ok(Box::new(store))
}
