//! What one pair knows about each changed file: its kernels, who launched them, and what silence is worth.

use crate::change::{Change, ChangedPath};
use crate::index::{Index, Lists, SymbolId, SymbolSet};
use crate::placing::Placed;
use kernrec_attribution::Attribution;
use kernrec_schemas::{KernelName, StepKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What the silence of a row about a file is worth.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FileClass {
    /// The map does not know the file: this pair cannot say who uses it.
    FileNotInMap,
    /// The file's kernels are not all it can change; the [`Cause`]s say why. Launches select, silence says nothing.
    FileMayOnlySelect,
    /// No row launched any of its kernels: nobody's silence is news.
    FileNeverObserved,
    /// A usable row that launched none of its kernels, or entered none of its functions, lets its step be skipped.
    FileMayDrop,
    /// The function record does not know the file: no step entered anything in it.
    FileNotInRecord,
    /// No row entered one of the changed functions, or used one of the changed libraries: nobody's silence is news.
    FunctionNeverObserved,
}

impl FileClass {
    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::FileNotInMap => "file-not-in-map",
            Self::FileMayOnlySelect => "file-may-only-select",
            Self::FileNeverObserved => "file-never-observed",
            Self::FileMayDrop => "file-may-drop",
            Self::FileNotInRecord => "file-not-in-record",
            Self::FunctionNeverObserved => "function-never-observed",
        }
    }
}

/// Why a file may only select.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Something is missing from the map.
    MapIncomplete,
    /// An object that uses the file could not be read.
    UnreadableObject,
    /// An object without kernels was compiled from the file or includes it: host code uses it.
    HostCode,
    /// A row launched a kernel of it under a name with other hashes: table and map are of one commit, not of one build.
    AnotherBuild,
    /// No kernel comes from the file.
    NoKernel,
    /// An object uses what may be the same file under another kind of path: relative here, absolute there.
    AmbiguousPath,
    /// Changed host code may act without launching a kernel.
    HostCodeChanged,
    /// A Python file that is run without being asked for: `__init__.py`, `conftest.py`.
    ImportedImplicitly,
    /// Another compiler may read a changed function, which then runs without being entered.
    CompiledFunction,
    /// Nobody declared which packages a changed distribution brings.
    UndeclaredLibrary,
}

impl Cause {
    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::MapIncomplete => "map-incomplete",
            Self::UnreadableObject => "unreadable-object",
            Self::HostCode => "host-code",
            Self::AnotherBuild => "another-build",
            Self::NoKernel => "no-kernel",
            Self::AmbiguousPath => "ambiguous-path",
            Self::HostCodeChanged => "host-code-changed",
            Self::ImportedImplicitly => "imported-implicitly",
            Self::CompiledFunction => "compiled-function",
            Self::UndeclaredLibrary => "undeclared-library",
        }
    }
}

impl fmt::Display for FileClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// One changed file as one pair sees it.
#[derive(Debug)]
pub struct FileEvidence<'a> {
    /// The file.
    pub path: &'a ChangedPath,
    /// What silence about it is worth.
    pub class: FileClass,
    /// Why it may only select; empty for every other class.
    pub causes: BTreeSet<Cause>,
    /// It, or what is compiled together with it, changed between the record and the base of the change.
    pub moved: bool,
    /// How many objects were compiled from it or include it.
    pub objects: usize,
    /// What changed in it; `None` if nobody looked, or nobody could.
    pub attribution: Option<Attribution>,
    /// The kernels that it can reach, each once, ascending: those of its objects, or of what changed in it.
    pub kernels: Vec<SymbolId>,
    /// How many of its kernels some step launched.
    pub launched_kernels: usize,
    /// How many steps launched one.
    pub steps: usize,
    /// By row, the kernels of the file that it launched.
    launches: Lists<SymbolId>,
}

impl FileEvidence<'_> {
    /// The kernels of the file that a row launched; empty when it launched none.
    pub(crate) fn launched_by(&self, row: u32) -> &[SymbolId] {
        self.launches.list(row)
    }

    /// The rows that launched one of its kernels, each with those kernels.
    pub(crate) fn launches(&self) -> impl Iterator<Item = (u32, &[SymbolId])> {
        self.launches.filled()
    }
}

/// All changed files as one pair sees them, sorted by path.
#[derive(Debug)]
pub struct PairEvidence<'a> {
    /// The pair.
    pub index: &'a Index<'a>,
    /// Its view of each changed file.
    pub files: Vec<FileEvidence<'a>>,
}

impl<'a> PairEvidence<'a> {
    /// Looks every changed file up.
    pub fn gather(index: &'a Index<'a>, change: &'a Change) -> Self {
        Self::gather_placed(index, change, Vec::new())
    }

    /// Looks every changed file up, given what changed in each, in their order; what is missing was not asked.
    pub(crate) fn gather_placed(
        index: &'a Index<'a>,
        change: &'a Change,
        placed: Vec<Placed>,
    ) -> Self {
        let placed = placed
            .into_iter()
            .chain(std::iter::repeat(Placed::NotAsked));
        Self {
            index,
            files: change
                .files()
                .zip(placed)
                .map(|(file, placed)| file_evidence(index, &file.path, placed))
                .collect(),
        }
    }

    /// The view of one file.
    pub fn file(&self, path: &str) -> Option<&FileEvidence<'a>> {
        self.files.iter().find(|file| file.path.as_str() == path)
    }

    /// Who launched which kernels of a file, by step.
    pub fn launches(
        &self,
        file: &FileEvidence<'_>,
    ) -> BTreeMap<&'a StepKey, BTreeSet<&'a KernelName>> {
        file.launches()
            .filter_map(|(row, kernels)| {
                let row = self.index.rows().get(row as usize)?;
                Some((
                    row.step,
                    kernels
                        .iter()
                        .map(|&kernel| self.index.name(kernel))
                        .collect(),
                ))
            })
            .collect()
    }
}

fn file_evidence<'a>(index: &Index<'_>, path: &'a ChangedPath, placed: Placed) -> FileEvidence<'a> {
    let Whole {
        objects,
        mut moved,
        mut causes,
        kernels: all,
    } = Whole::of(index, path);
    if !placed.may_drop() {
        causes.insert(Cause::HostCodeChanged);
    }
    let attribution = placed.attribution();
    if let Some(attribution) = &attribution {
        moved |= index.has_moved(&attribution.consulted);
    }
    // What moved since the record may have had other names there; of what has two paths, nobody knows what it is.
    let may_narrow = !moved && !causes.contains(&Cause::AmbiguousPath);
    let kernels = reached(index, all, attribution.as_ref(), may_narrow);
    causes.extend(causes_of_kernels(index, &kernels));
    let launches = launches(index, &kernels);
    let class = match objects {
        0 => FileClass::FileNotInMap,
        _ if !causes.is_empty() => FileClass::FileMayOnlySelect,
        _ if launches.len() == 0 => FileClass::FileNeverObserved,
        _ => FileClass::FileMayDrop,
    };
    if class != FileClass::FileMayOnlySelect {
        causes.clear();
    }
    FileEvidence {
        path,
        class,
        causes,
        moved,
        objects,
        attribution,
        launched_kernels: kernels
            .iter()
            .filter(|&&kernel| !index.rows_of(kernel).is_empty())
            .count(),
        steps: launches.filled().count(),
        kernels,
        launches,
    }
}

/// What the maps say of a whole file.
struct Whole {
    objects: usize,
    moved: bool,
    causes: BTreeSet<Cause>,
    kernels: Vec<SymbolId>,
}

impl Whole {
    fn of(index: &Index<'_>, path: &ChangedPath) -> Self {
        let mut causes = BTreeSet::new();
        let mut objects = 0;
        let mut moved = false;
        let mut kernels = SymbolSet::new(index.symbol_count());
        for object in index.objects_of(path) {
            objects += 1;
            moved |= object.moved;
            if object.symbols.is_empty() {
                causes.insert(Cause::HostCode);
            }
            if object.unreadable {
                causes.insert(Cause::UnreadableObject);
            }
            object
                .symbols
                .iter()
                .for_each(|&symbol| kernels.insert(symbol));
        }
        for object in index.objects_elsewhere(path) {
            causes.insert(Cause::AmbiguousPath);
            object
                .symbols
                .iter()
                .for_each(|&symbol| kernels.insert(symbol));
        }
        let kernels = kernels.to_vec();
        causes.extend(causes_of_kernels(index, &kernels));
        Self {
            objects,
            moved,
            causes,
            kernels,
        }
    }
}

/// The kernels that a file can reach, of all kernels of its objects and those of what changed in it.
fn reached(
    index: &Index<'_>,
    all: Vec<SymbolId>,
    attribution: Option<&Attribution>,
    may_narrow: bool,
) -> Vec<SymbolId> {
    let Some(attribution) = attribution else {
        return all;
    };
    let mut kernels = SymbolSet::new(index.symbol_count());
    let placed = attribution.kernels.iter();
    placed.for_each(|&kernel| kernels.insert(SymbolId::of_number(kernel)));
    if !may_narrow {
        for kernel in all {
            kernels.insert(kernel);
        }
    }
    kernels.to_vec()
}

fn causes_of_kernels(index: &Index<'_>, kernels: &[SymbolId]) -> impl Iterator<Item = Cause> {
    let is_of_another_build = |&kernel: &SymbolId| index.is_of_another_build(kernel);
    let causes = [
        (kernels.is_empty(), Cause::NoKernel),
        (kernels.iter().any(is_of_another_build), Cause::AnotherBuild),
        (index.is_incomplete(), Cause::MapIncomplete),
    ];
    let held = causes.into_iter().filter(|(holds, _)| *holds);
    held.map(|(_, cause)| cause)
}

fn launches(index: &Index<'_>, kernels: &[SymbolId]) -> Lists<SymbolId> {
    let pairs: Vec<(u32, SymbolId)> = kernels
        .iter()
        .flat_map(|&kernel| index.rows_of(kernel).iter().map(move |&row| (row, kernel)))
        .collect();
    // A diff may name tens of thousands of files without kernels: they need no room for rows.
    let rows = if pairs.is_empty() {
        0
    } else {
        index.rows().len()
    };
    Lists::of_pairs(rows, &pairs)
}
