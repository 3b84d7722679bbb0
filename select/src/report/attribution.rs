//! What changed in a file, as data.

use super::MAX_EXAMPLES;
use kernrec_attribution::{Attribution, ChangedUnit, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What changed in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttributionReport {
    /// `narrowed-to-changed-kernels`, or `widened:` and why the whole file counts.
    pub word: String,
    /// The first line that could not be placed, as `base:12` or `head:12`, if the whole file counts because of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Why launching none of the kernels proves nothing: what changed host code may do.
    pub doubts: Vec<String>,
    /// How many definitions changed, those of each side counted.
    pub unit_count: u64,
    /// The first of them.
    pub units: Vec<UnitReport>,
}

/// A changed definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnitReport {
    /// What it is: `kernel`, `device function`, ...
    pub kind: String,
    /// The names that it declares.
    pub names: Vec<String>,
    /// Where it starts: `base:12` or `head:12`.
    pub place: String,
}

impl AttributionReport {
    pub(super) fn of(attribution: &Attribution) -> Self {
        let placed = attribution.widened.and_then(|widening| widening.place);
        Self {
            word: attribution.word(),
            place: placed.map(|(side, line)| place(side, line)),
            doubts: attribution
                .doubts
                .iter()
                .map(|doubt| doubt.word().to_owned())
                .collect(),
            unit_count: attribution.units.len() as u64,
            units: attribution
                .units
                .iter()
                .take(MAX_EXAMPLES)
                .map(UnitReport::of)
                .collect(),
        }
    }
}

impl UnitReport {
    fn of(unit: &ChangedUnit) -> Self {
        Self {
            kind: unit.kind.to_owned(),
            names: unit.names.iter().take(MAX_EXAMPLES).cloned().collect(),
            place: place(unit.side, unit.line),
        }
    }
}

fn place(side: Side, line: u32) -> String {
    match side {
        Side::Base => format!("base:{line}"),
        Side::Head => format!("head:{line}"),
    }
}
