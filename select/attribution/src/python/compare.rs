//! One side of a file against the other.

use super::docs;
use super::scopes::{CodeObject, CodeObjectKind, code_objects};
use super::text::{PythonWhy, readable};
use crate::parse::BoundedParser;
use std::collections::{BTreeMap, BTreeSet};

/// What a change of a Python file reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PythonAttribution {
    /// These functions. None at all: nothing changed that anybody runs.
    Functions(ChangedFunctions),
    /// Everything in the file.
    Whole(PythonWhy),
}

/// Functions by their qualified names: the code objects that differ and are on both sides. One that is on one side only
/// is a change of what surrounds it; `<module>` is what importing the file runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFunctions {
    /// All of them.
    pub names: BTreeSet<String>,
    /// Those whose source another compiler may read: they can run without being entered.
    pub compiled: BTreeSet<String>,
}

/// Reads Python files.
pub struct PythonReader {
    parser: Option<BoundedParser>,
}

impl Default for PythonReader {
    fn default() -> Self {
        Self {
            parser: BoundedParser::of(&tree_sitter_python::LANGUAGE.into()),
        }
    }
}

impl PythonReader {
    /// Compares both sides of a file. Never names less than what changed.
    pub fn compare(&mut self, base: &[u8], head: &[u8]) -> PythonAttribution {
        match self.functions(base, head) {
            Ok(functions) => PythonAttribution::Functions(functions),
            Err(why) => PythonAttribution::Whole(why),
        }
    }

    /// The code objects that the interpreter makes of a file, the module first.
    pub fn code_objects(&mut self, text: &[u8]) -> Result<Vec<CodeObject>, PythonWhy> {
        let text = readable(text)?;
        self.read(text, docs::are_read(text))
    }

    fn functions(&mut self, base: &[u8], head: &[u8]) -> Result<ChangedFunctions, PythonWhy> {
        let (base, head) = (readable(base)?, readable(head)?);
        if base == head {
            return Ok(ChangedFunctions::default());
        }
        let docs_are_read = docs::are_read(base) || docs::are_read(head);
        let base = self.read(base, docs_are_read)?;
        let head = self.read(head, docs_are_read)?;
        Ok(differing(&base, &head))
    }

    fn read(&mut self, text: &str, docs_are_read: bool) -> Result<Vec<CodeObject>, PythonWhy> {
        let parser = self.parser.as_mut().ok_or(PythonWhy::SyntaxError)?;
        let tree = parser.parse(text.as_bytes()).ok_or(PythonWhy::TooLarge)?;
        code_objects(&tree, text, docs_are_read)
    }
}

fn differing(base: &[CodeObject], head: &[CodeObject]) -> ChangedFunctions {
    let (base, head) = (by_name(base), by_name(head));
    let mut changed = ChangedFunctions::default();
    for (name, before) in &base {
        let Some(after) = head.get(name) else {
            continue;
        };
        let is_same = before.len() == after.len()
            && before
                .iter()
                .zip(after)
                .all(|(b, a)| b.content == a.content);
        if is_same {
            continue;
        }
        changed.names.insert((*name).to_owned());
        if before.iter().chain(after).any(|object| object.is_compiled) {
            changed.compiled.insert((*name).to_owned());
        }
    }
    changed
}

/// A name may stand for several: overloads, properties, definitions under a condition, lambdas.
fn by_name(objects: &[CodeObject]) -> BTreeMap<&str, Vec<&CodeObject>> {
    let mut named: BTreeMap<&str, Vec<&CodeObject>> = BTreeMap::new();
    let compared = objects
        .iter()
        .filter(|object| !object.is_unreached && object.kind != CodeObjectKind::Annotation);
    for object in compared {
        named.entry(&object.name).or_default().push(object);
    }
    named
}
