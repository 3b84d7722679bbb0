//! What the function record knows about each changed file: what of it was entered, by whom, and what silence is worth.

use super::libraries::{Libraries, normal};
use super::{FunctionChange, FunctionIndex};
use crate::change::{Change, ChangedPath};
use crate::evidence::{Cause, FileClass};
use crate::index::Lists;
use kernrec_attribution::{ChangedFunctions, PythonAttribution};
use kernrec_schemas::function_table::TableFunction;
use kernrec_schemas::table::RowReason;
use std::collections::{BTreeMap, BTreeSet};

/// What importing a file runs.
const MODULE: &str = "<module>";

/// All changed files as the function record sees them, in the order of the change; `None` for one that it cannot speak
/// for.
#[derive(Debug)]
pub struct FunctionEvidence<'a> {
    /// The record.
    pub index: &'a FunctionIndex<'a>,
    /// Its view of each changed file.
    pub files: Vec<Option<FunctionFile<'a>>>,
}

/// One changed file as the function record sees it.
#[derive(Debug)]
pub struct FunctionFile<'a> {
    /// The file.
    pub path: &'a ChangedPath,
    /// What silence about it is worth.
    pub class: FileClass,
    /// Why it may only select; empty for every other class.
    pub causes: BTreeSet<Cause>,
    /// It changed between the record and the base of the change.
    pub moved: bool,
    /// What was done: `narrowed-to-changed-functions`, `whole-file`, `widened:` and why the whole file counts, or
    /// `narrowed-to-changed-pins`.
    pub word: String,
    /// The changed functions by their qualified names, or the changed distributions; empty when the whole file counts.
    pub names: Vec<String>,
    /// How many of those some row entered; of a file that counts whole, how many of its functions.
    pub observed: usize,
    /// By row, the changed functions that it entered.
    entered: Lists<u32>,
    /// By row, the packages of changed distributions that it used.
    used: BTreeMap<u32, BTreeSet<String>>,
    /// By row, why its silence about this file says nothing, though the row is usable.
    blind: BTreeMap<u32, RowReason>,
}

impl FunctionFile<'_> {
    /// Why a usable row's silence about this file says nothing; `None` if it counts.
    pub(crate) fn blindness_of(&self, row: u32) -> Option<&RowReason> {
        self.blind.get(&row)
    }

    /// The changed functions that a row entered, by number.
    pub(crate) fn entered_by(&self, row: u32) -> &[u32] {
        self.entered.list(row)
    }

    /// The packages of changed distributions that a row used.
    pub(crate) fn used_by(&self, row: u32) -> impl Iterator<Item = &str> {
        let used = self.used.get(&row);
        used.into_iter().flatten().map(String::as_str)
    }

    /// The rows that entered or used anything of it, with how much.
    pub(crate) fn users(&self) -> BTreeMap<u32, usize> {
        let entered = self.entered.filled();
        let mut users: BTreeMap<u32, usize> = entered
            .map(|(row, functions)| (row, functions.len()))
            .collect();
        for (&row, packages) in &self.used {
            *users.entry(row).or_default() += packages.len();
        }
        users
    }
}

impl<'a> FunctionEvidence<'a> {
    /// Looks every changed file up, given what changed in each, in their order.
    pub(crate) fn gather(
        index: &'a FunctionIndex<'a>,
        change: &'a Change,
        changes: &[FunctionChange],
        libraries: Option<&Libraries>,
    ) -> Self {
        let files = change.files().zip(changes);
        let files = files.map(|(file, what)| match what {
            FunctionChange::Outside => None,
            FunctionChange::Python(found) => Some(python(index, &file.path, found.as_ref())),
            FunctionChange::Pins(names) => Some(pins(index, &file.path, names, libraries)),
        });
        Self {
            index,
            files: files.collect(),
        }
    }

    /// Whether the record speaks for each file, in their order.
    pub(crate) fn spoken(&self) -> Vec<bool> {
        self.files.iter().map(Option::is_some).collect()
    }

    /// The files that it speaks for.
    pub(crate) fn known(&self) -> impl Iterator<Item = &FunctionFile<'a>> {
        self.files.iter().flatten()
    }
}

fn python<'a>(
    index: &FunctionIndex<'_>,
    path: &'a ChangedPath,
    found: Option<&PythonAttribution>,
) -> FunctionFile<'a> {
    let recorded = index.functions_in(path.as_str());
    let name_of = |number: &u32| index.function(*number).map_or("", name);
    let (word, changed) = match found {
        None => ("whole-file".to_owned(), None),
        Some(PythonAttribution::Whole(why)) => (format!("widened:{why}"), None),
        Some(PythonAttribution::Functions(changed)) => {
            ("narrowed-to-changed-functions".to_owned(), Some(changed))
        }
    };
    let is_changed =
        |number: &u32| changed.is_none_or(|changed| changed.names.contains(name_of(number)));
    let functions: Vec<u32> = recorded.iter().copied().filter(is_changed).collect();
    let observed: BTreeSet<&str> = functions
        .iter()
        .filter(|&&function| !index.rows_of(function).is_empty())
        .map(name_of)
        .collect();
    let is_unobserved = match changed {
        Some(changed) => changed.names.len() > observed.len(),
        None => !observed.contains(MODULE),
    };
    let causes = causes(path.as_str(), changed);
    let class = match recorded {
        [] => FileClass::FileNotInRecord,
        _ if !causes.is_empty() => FileClass::FileMayOnlySelect,
        _ if is_unobserved => FileClass::FunctionNeverObserved,
        _ => FileClass::FileMayDrop,
    };
    FunctionFile {
        path,
        causes: if class == FileClass::FileMayOnlySelect {
            causes
        } else {
            BTreeSet::new()
        },
        class,
        moved: has_moved(index, path),
        word,
        names: changed.map_or_else(Vec::new, |it| it.names.iter().cloned().collect()),
        observed: observed.len(),
        entered: entered(index, &functions),
        used: BTreeMap::new(),
        blind: without_tests(index, path.as_str()),
    }
}

fn name(function: &TableFunction) -> &str {
    function.name.as_str()
}

/// Files that reach a step in ways that no entered function shows, and functions that run without being entered.
fn causes(path: &str, changed: Option<&ChangedFunctions>) -> BTreeSet<Cause> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let is_implicit = matches!(file, "__init__.py" | "conftest.py");
    let is_compiled = changed.is_some_and(|changed| !changed.compiled.is_empty());
    let causes = [
        (is_implicit, Cause::ImportedImplicitly),
        (is_compiled, Cause::CompiledFunction),
    ];
    let held = causes.into_iter().filter(|(holds, _)| *holds);
    held.map(|(_, cause)| cause).collect()
}

fn entered(index: &FunctionIndex<'_>, functions: &[u32]) -> Lists<u32> {
    let rows_of = |&function: &u32| {
        let rows = index.rows_of(function).iter();
        rows.map(move |&row| (row, function))
    };
    let pairs: Vec<(u32, u32)> = functions.iter().flat_map(rows_of).collect();
    let rows = if pairs.is_empty() {
        0
    } else {
        index.rows().len()
    };
    Lists::of_pairs(rows, &pairs)
}

fn pins<'a>(
    index: &FunctionIndex<'_>,
    path: &'a ChangedPath,
    names: &BTreeSet<String>,
    libraries: Option<&Libraries>,
) -> FunctionFile<'a> {
    let known = index.packages();
    let mut used: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    let (mut observed, mut is_guess) = (0, false);
    for name in names {
        let declared = libraries.and_then(|libraries| libraries.packages(name));
        is_guess |= declared.is_none();
        // Undeclared, a package of the same name is certainly one of its own; there may be others.
        let of_its_name = || known.iter().filter(|package| normal(package) == *name);
        let packages: BTreeSet<&str> = declared.map_or_else(
            || of_its_name().copied().collect(),
            |packages| packages.iter().map(String::as_str).collect(),
        );
        let mut is_observed = false;
        for package in packages {
            for row in index.rows_using(package) {
                is_observed = true;
                used.entry(row).or_default().insert(package.to_owned());
            }
        }
        observed += usize::from(is_observed);
    }
    let class = match (is_guess, observed == names.len()) {
        (true, _) => FileClass::FileMayOnlySelect,
        (false, false) => FileClass::FunctionNeverObserved,
        (false, true) => FileClass::FileMayDrop,
    };
    FunctionFile {
        path,
        class,
        causes: is_guess
            .then_some(Cause::UndeclaredLibrary)
            .into_iter()
            .collect(),
        moved: has_moved(index, path),
        word: "narrowed-to-changed-pins".to_owned(),
        names: names.iter().cloned().collect(),
        observed,
        entered: Lists::of_pairs(0, &[]),
        used,
        blind: with_killed_processes(index),
    }
}

/// Rows that cannot tell whether they ran a test. One that entered none of the checkout's may have run them from
/// elsewhere, where nobody watched; one that used a library named like a folder of the test's path, or like the test, may
/// have run it as that library's.
fn without_tests(index: &FunctionIndex<'_>, path: &str) -> BTreeMap<u32, RowReason> {
    let Some(path) = path.strip_prefix("tests/") else {
        return BTreeMap::new();
    };
    let names = path.strip_suffix(".py").unwrap_or(path).split('/');
    let strangers = names.flat_map(|name| index.rows_with_library(name));
    let unwatched = (0_u32..)
        .zip(index.rows())
        .filter(|(_, row)| !row.has_tests);
    let unwatched = unwatched.map(|(number, _)| number);
    let blind = unwatched.chain(strangers.copied());
    blind.map(|row| (row, RowReason::TestsNotWatched)).collect()
}

/// Rows of which a process was killed. What it used of compiled code is looked up at its start and at its end only.
fn with_killed_processes(index: &FunctionIndex<'_>) -> BTreeMap<u32, RowReason> {
    let rows = (0_u32..).zip(index.rows());
    let killed = rows.filter(|(_, row)| row.has_killed);
    killed.map(|(row, _)| (row, RowReason::NoFooter)).collect()
}

fn has_moved(index: &FunctionIndex<'_>, path: &ChangedPath) -> bool {
    let moved = index.record().lineage.moved();
    moved.is_some_and(|moved| moved.contains(path.as_str()))
}
