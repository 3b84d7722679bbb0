//! A pipeline with `skip` on some of its steps, otherwise byte for byte what it was: comments, anchors and order stay.
//!
//! One field is put before a step's first one. What comes out is read again and compared, so that a way of writing
//! that this does not know ends in an error and not in another pipeline.

use super::yaml::{self, Node, Value};
use super::{Place, Steps};
use kernrec_schemas::{StepKey, json};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// A pipeline with some steps skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedPipeline {
    /// The pipeline.
    pub text: String,
    /// Steps that could be skipped and are not: they stand in several places, or say themselves whether they are
    /// skipped.
    pub left: Vec<StepKey>,
}

/// A pipeline that cannot be written back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pipeline is written in a way that no `skip` can be added to: {problem}")]
pub struct SpliceError {
    problem: String,
}

impl SpliceError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        "pipeline-not-writable"
    }
}

const SKIP: &str = "skip";

impl Steps {
    /// The pipeline that was [parsed](Steps::parse) from `text`, with these steps skipped, each for its reason.
    pub fn with_skips(
        &self,
        text: &str,
        reasons: &BTreeMap<StepKey, String>,
    ) -> Result<SkippedPipeline, SpliceError> {
        let mut left = Vec::new();
        let mut added: BTreeMap<usize, (&Place, &str)> = BTreeMap::new();
        for step in &self.list {
            let Some((key, reason)) = step.key.as_ref().and_then(|key| reasons.get_key_value(key))
            else {
                continue;
            };
            match &step.place {
                Some(place) if !place.has_skip => {
                    added.insert(place.first_field, (place, reason));
                }
                _ => left.push(key.clone()),
            }
        }
        let spliced = spliced(text, &added);
        let places: HashSet<usize> = added.values().map(|(place, _)| place.mapping).collect();
        verify(text, &spliced, &places)?;
        Ok(SkippedPipeline {
            text: spliced,
            left,
        })
    }
}

fn spliced(text: &str, added: &BTreeMap<usize, (&Place, &str)>) -> String {
    let mut out = String::with_capacity(text.len() + 100 * added.len());
    let mut flows: HashSet<usize> = HashSet::new();
    let mappings: HashSet<usize> = added.values().map(|(place, _)| place.mapping).collect();
    for (at, character) in text.chars().enumerate() {
        if character == '{' && mappings.contains(&at) {
            flows.insert(at);
        }
        if let Some((place, reason)) = added.get(&at) {
            // JSON's strings are YAML's.
            let value = String::from_utf8_lossy(&json::canonical(reason)).into_owned();
            if flows.contains(&place.mapping) {
                out.extend(["\"", SKIP, "\": ", &value, ", "]);
            } else {
                out.extend([SKIP, ": ", &value, "\n"]);
                out.extend(std::iter::repeat_n(' ', place.column));
            }
        }
        out.push(character);
    }
    out
}

/// Whether the new text says what the old one says, and of the mappings at these places one field more.
fn verify(old: &str, new: &str, places: &HashSet<usize>) -> Result<(), SpliceError> {
    let parse = |text| {
        yaml::parse(text).map_err(|error| SpliceError {
            problem: error.to_string(),
        })
    };
    let mut comparison = Comparison {
        places,
        seen: HashSet::new(),
        found: 0,
    };
    if comparison.is_same(&parse(old)?, &parse(new)?) && comparison.found == places.len() {
        return Ok(());
    }
    Err(SpliceError {
        problem: "what was written reads otherwise".to_owned(),
    })
}

struct Comparison<'p> {
    places: &'p HashSet<usize>,
    /// Pairs of shared nodes that were compared: an alias is not followed twice.
    seen: HashSet<(*const Node, *const Node)>,
    found: usize,
}

impl Comparison<'_> {
    fn is_same(&mut self, old: &Rc<Node>, new: &Rc<Node>) -> bool {
        if old.is_anchored && !self.seen.insert((Rc::as_ptr(old), Rc::as_ptr(new))) {
            return true;
        }
        match (&old.value, &new.value) {
            (Value::Scalar(old), Value::Scalar(new)) => old == new,
            (Value::Sequence(old), Value::Sequence(new)) => {
                old.len() == new.len()
                    && old.iter().zip(new).all(|(old, new)| self.is_same(old, new))
            }
            (Value::Mapping(old_entries), Value::Mapping(new_entries)) => {
                let mut new_entries = new_entries.as_slice();
                if self.places.contains(&old.place.start) {
                    let Some(((key, _), rest)) = new_entries.split_first() else {
                        return false;
                    };
                    if key.text() != Some(SKIP) {
                        return false;
                    }
                    self.found += 1;
                    new_entries = rest;
                }
                old_entries.len() == new_entries.len()
                    && old_entries.iter().zip(new_entries).all(|(old, new)| {
                        self.is_same(&old.0, &new.0) && self.is_same(&old.1, &new.1)
                    })
            }
            _ => false,
        }
    }
}
