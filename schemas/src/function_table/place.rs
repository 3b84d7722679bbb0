//! How the paths of recordings become those of a repository.
//!
//! A recording has absolute paths of the machine it was made on. A package is the folder of its name, wherever it
//! lies: installed in `site-packages`, as editable, or in a checkout. So its files are named from the folder that
//! holds it, and the tests of a checkout from the checkout: `vllm/...` and `tests/...` in every case, which is how
//! the repository of a package in its top folder names them.

use super::CodePath;
use crate::function_recording::FunctionRecording;

/// The watched packages where a recording does not name them.
const DEFAULT_PACKAGES: &str = "vllm,aiter";

/// The places that one recording names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places<'a> {
    places: Vec<&'a str>,
    packages: Vec<&'a str>,
}

impl<'a> Places<'a> {
    /// The places of a recording.
    pub fn of(recording: &'a FunctionRecording<'_>) -> Self {
        let places = recording.roots.iter().chain(&recording.tests);
        let mut places: Vec<&str> = places.map(String::as_str).collect();
        // Of two places of which one is in the other, the inner one is the file's.
        places.sort_by_key(|place| std::cmp::Reverse(place.len()));
        let header = recording.header.as_ref();
        let named = header.and_then(|header| header.field("root_env"));
        let packages = named.unwrap_or(DEFAULT_PACKAGES).split(',');
        let packages = packages.map(str::trim).filter(|name| !name.is_empty());
        Self {
            places,
            packages: packages.collect(),
        }
    }

    /// The file's path in its repository, and whether it lies in one of the places.
    ///
    /// One that does not is named from the last folder that has the name of a watched package, else from the root
    /// of the machine: it counts as entered, and nobody can say what it would be called elsewhere. `None` for a
    /// path that cannot be any file's.
    pub fn path(&self, file: &str) -> Option<(CodePath, bool)> {
        let inside = |place: &&&str| {
            file.strip_prefix(**place).is_some_and(|rest| {
                place.ends_with('/') || rest.is_empty() || rest.starts_with('/')
            })
        };
        if let Some(place) = self.places.iter().find(inside) {
            let folder = place.trim_end_matches('/');
            let start = folder.rfind('/').map_or(0, |slash| slash + 1);
            if let Ok(path) = CodePath::new(&file[start..]) {
                return Some((path, true));
            }
        }
        let guessed = self.packages.iter().filter_map(|package| {
            let at = file.rfind(&format!("/{package}/"))?;
            Some(at + 1)
        });
        let start = guessed.max().unwrap_or(0);
        let path = file[start..].trim_start_matches('/');
        Some((CodePath::new(path).ok()?, false))
    }
}
