//! What changed in the files that the function record can speak for.

use super::pins::{changed_pins, is_requirements};
use crate::change::{Change, ChangedFile, FileStatus};
use crate::placing::{MAX_PLACED_FILES, Placing, SharedSources};
use kernrec_attribution::{PythonAttribution, PythonReader, PythonWhy, Side};
use std::collections::BTreeSet;
use std::path::Path;

/// One changed file, as far as Python goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FunctionChange {
    /// No function record can speak for it.
    Outside,
    /// A Python file; `None`: nobody looked what changed in it, so all of it did.
    Python(Option<PythonAttribution>),
    /// A list of requirements of which only the pins of these distributions changed.
    Pins(BTreeSet<String>),
}

/// What changed in each file, in their order.
pub(crate) fn changes(change: &Change, placing: Placing<'_>) -> Vec<FunctionChange> {
    let sources = match placing {
        Placing::File => None,
        Placing::Kernel { sources, .. } => Some(sources),
    };
    let mut reader = PythonReader::default();
    let mut left = MAX_PLACED_FILES;
    change
        .files()
        .map(|file| of_file(file, sources, &mut reader, &mut left))
        .collect()
}

fn of_file(
    file: &ChangedFile,
    sources: Option<&SharedSources>,
    reader: &mut PythonReader,
    left: &mut usize,
) -> FunctionChange {
    let path = file.path.as_str();
    let is_one_file = match file.status {
        FileStatus::Named | FileStatus::Added | FileStatus::Deleted | FileStatus::Modified => {
            file.path.is_exact()
        }
        FileStatus::Indirect | FileStatus::Unspellable => false,
    };
    let is_python = Path::new(path).extension() == Some("py".as_ref());
    if !is_one_file || !(is_python || is_requirements(path)) {
        return FunctionChange::Outside;
    }
    let sides = match (sources, file.status) {
        (Some(sources), FileStatus::Modified) if *left > 0 => {
            *left -= 1;
            both_sides(sources, path)
        }
        (Some(_), FileStatus::Added | FileStatus::Deleted) => Err(Some(PythonWhy::NotOnBothSides)),
        _ => Err(None),
    };
    match (is_python, sides) {
        (true, Ok((base, head))) => FunctionChange::Python(Some(reader.compare(&base, &head))),
        (true, Err(why)) => FunctionChange::Python(why.map(PythonAttribution::Whole)),
        (false, Ok((base, head))) => {
            changed_pins(&base, &head).map_or(FunctionChange::Outside, FunctionChange::Pins)
        }
        (false, Err(_)) => FunctionChange::Outside,
    }
}

fn both_sides(
    sources: &SharedSources,
    path: &str,
) -> Result<(Vec<u8>, Vec<u8>), Option<PythonWhy>> {
    let read = |side| {
        let content = sources.read(side, path).ok().flatten();
        content.ok_or(Some(PythonWhy::UnreadableSide))
    };
    let (base, head) = (read(Side::Base)?, read(Side::Head)?);
    if base == head {
        return Err(Some(PythonWhy::SameText));
    }
    Ok((base, head))
}
