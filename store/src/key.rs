//! Keys: where a thing stands in a store, relative to its root.

use kernrec_schemas::{Backend, Digest, Nonce, Pipeline};
use std::fmt;

/// A relative path of safe segments, joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<str>);

/// The parts of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// `objects`: documents by their digest.
    Objects,
    /// `bundles`: what was folded, by its digest.
    Bundles,
    /// `pointers`: the mutable documents.
    Pointers,
    /// `scratch`: what a program needs while it runs.
    Scratch,
}

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a store key: expected segments of letters, digits, `.`, `_` or `-` joined by `/`"
)]
pub struct InvalidKey(String);

impl Key {
    /// Checks a key: no empty segment, none that starts with a dot, at most 1024 bytes.
    pub fn new(text: &str) -> Result<Self, InvalidKey> {
        let segment = |segment: &str| {
            !segment.is_empty()
                && !segment.starts_with('.')
                && segment
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        };
        if text.len() > 1024 || !text.split('/').all(segment) {
            return Err(InvalidKey(
                text.chars().take(80).flat_map(char::escape_debug).collect(),
            ));
        }
        Ok(Self(text.into()))
    }

    /// The prefix of a part of a store.
    pub fn area(area: Area) -> Self {
        let text = match area {
            Area::Objects => "objects",
            Area::Bundles => "bundles",
            Area::Pointers => "pointers",
            Area::Scratch => "scratch",
        };
        Self(Box::from(text))
    }

    /// `objects/b3/<2 hex>/<62 hex>.zst`
    pub fn object(digest: &Digest) -> Self {
        Self::addressed("objects", digest, "zst")
    }

    /// `bundles/b3/<2 hex>/<62 hex>.tar.zst`
    pub fn bundle(digest: &Digest) -> Self {
        Self::addressed("bundles", digest, "tar.zst")
    }

    /// `pointers/<pipeline>/<backend>.json`
    pub fn pointer(pipeline: &Pipeline, backend: Backend) -> Self {
        Self(format!("pointers/{pipeline}/{backend}.json").into_boxed_str())
    }

    /// `scratch/<nonce>`: a prefix for one run of one program, which removes what it wrote below it.
    pub fn scratch(nonce: &Nonce) -> Self {
        Self(format!("scratch/{}", nonce.as_str()).into_boxed_str())
    }

    /// The scratch prefix this key is or stands below; `None` for any other key.
    pub fn scratch_prefix(&self) -> Option<Self> {
        let mut parts = self.0.split('/');
        let (root, nonce) = (parts.next()?, parts.next()?);
        (root == "scratch")
            .then(|| Nonce::new(nonce).ok())?
            .map(|nonce| Self::scratch(&nonce))
    }

    /// The digest an object or bundle key is named by; `None` for any other key.
    pub fn digest(&self) -> Option<Digest> {
        let mut parts = self.0.split('/');
        let (prefix, algorithm, fan, rest) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let hex = match prefix {
            "objects" => rest.strip_suffix(".zst")?,
            "bundles" => rest.strip_suffix(".tar.zst")?,
            _ => return None,
        };
        let whole = algorithm == "b3" && fan.len() == 2 && parts.next().is_none();
        if whole {
            Digest::from_hex(&format!("{fan}{hex}")).ok()
        } else {
            None
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn addressed(prefix: &str, digest: &Digest, extension: &str) -> Self {
        let hex = digest.hex();
        let (fan, rest) = hex.split_at(2);
        Self(format!("{prefix}/b3/{fan}/{rest}.{extension}").into_boxed_str())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
