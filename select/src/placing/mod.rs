//! Which kernels each changed file can reach, by what changed in it.
//!
//! `objects` hands the maps of a pair to `kernrec-attribution`, `git` the files of both commits.

mod git;
mod objects;

pub use git::GitSources;

use crate::change::{Change, FileStatus};
use crate::index::Index;
use kernrec_attribution::{Attribution, ChangedFile, HostCode, Library, Side, Sources, Unreadable};
use std::cell::RefCell;
use std::fmt;

/// The most changed files of the maps that are looked into: each may take milliseconds. Beyond, all count whole and may
/// only select.
pub const MAX_PLACED_FILES: usize = 500;

/// How closely changed files are looked into.
#[derive(Debug, Clone, Copy, Default)]
pub enum Placing<'q> {
    /// Every changed file counts for all of its kernels, and for those only: the answer is about device code.
    #[default]
    File,
    /// By the definitions that changed, host code included.
    Kernel {
        /// The files of both commits.
        sources: &'q SharedSources,
        /// Which changed host code silence may clear.
        host_code: HostCode,
    },
}

/// What became of one changed file in one pair.
#[derive(Debug, Clone, Default)]
pub(crate) enum Placed {
    /// Nobody looked into it.
    #[default]
    NotAsked,
    /// It could not be looked into: anything in it may have changed.
    Unplaced,
    /// The kernels it can reach.
    At(Box<Attribution>),
}

impl Placed {
    /// Whether silence about the file may mean something, as far as its host code goes.
    pub(crate) fn may_drop(&self) -> bool {
        match self {
            Self::NotAsked => true,
            Self::Unplaced => false,
            Self::At(attribution) => attribution.may_drop(),
        }
    }

    /// What changed in it, if that is known.
    pub(crate) fn attribution(self) -> Option<Attribution> {
        match self {
            Self::NotAsked | Self::Unplaced => None,
            Self::At(attribution) => Some(*attribution),
        }
    }
}

/// Places every changed file in every pair: by pair, in the order of the change's files.
pub(crate) fn place(indexes: &[Index<'_>], change: &Change, how: Placing<'_>) -> Vec<Vec<Placed>> {
    let Placing::Kernel { sources, host_code } = how else {
        return indexes.iter().map(|_| Vec::new()).collect();
    };
    let changes: Vec<ChangedFile> = change.files().filter_map(changed_file).collect();
    let mut sources = Borrowed(sources);
    let mut library = Library::new(&changes, &mut sources);
    indexes
        .iter()
        .map(|index| {
            let known: Vec<ChangedFile> = change
                .files()
                .filter(|file| index.objects_of(&file.path).next().is_some())
                .filter_map(changed_file)
                .collect();
            if known.len() > MAX_PLACED_FILES {
                return change.files().map(|_| Placed::Unplaced).collect();
            }
            let objects = objects::Objects::of(index);
            let mut found = library
                .attribute(&objects.build(), &known, host_code)
                .into_iter();
            change
                .files()
                .map(|file| {
                    let is_known = index.objects_of(&file.path).next().is_some();
                    match (is_known, changed_file(file).is_some()) {
                        (true, true) => found
                            .next()
                            .flatten()
                            .map_or(Placed::Unplaced, |placed| Placed::At(Box::new(placed))),
                        _ if file.status == FileStatus::Named => Placed::NotAsked,
                        _ => Placed::Unplaced,
                    }
                })
                .collect()
        })
        .collect()
}

/// The sides of a file; `None` for one that was only named, or that is more than one file.
fn changed_file(file: &crate::change::ChangedFile) -> Option<ChangedFile> {
    let path = file
        .path
        .is_exact()
        .then(|| file.path.as_str().to_owned())?;
    let (base, head) = match file.status {
        FileStatus::Modified => (Some(path.clone()), Some(path)),
        FileStatus::Added => (None, Some(path)),
        FileStatus::Deleted => (Some(path), None),
        FileStatus::Named | FileStatus::Indirect | FileStatus::Unspellable => return None,
    };
    Some(ChangedFile { base, head })
}

/// Sources that several questions share.
pub struct SharedSources(RefCell<Box<dyn Sources>>);

impl SharedSources {
    /// Shares them.
    pub fn new(sources: impl Sources + 'static) -> Self {
        Self(RefCell::new(Box::new(sources)))
    }

    /// The content of a file of one side; `None` when that side has no such file.
    pub(crate) fn read(&self, side: Side, path: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        match self.0.try_borrow_mut() {
            Ok(mut sources) => sources.read(side, path),
            Err(_) => Err(Unreadable {
                problem: "the sources are being read".to_owned(),
            }),
        }
    }
}

impl fmt::Debug for SharedSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSources")
    }
}

struct Borrowed<'q>(&'q SharedSources);

impl Sources for Borrowed<'_> {
    fn read(&mut self, side: Side, path: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        self.0.read(side, path)
    }
}
