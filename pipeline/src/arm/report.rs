//! What was decided about a step.

use kernrec_schemas::Backend;

/// One step of a pipeline, for `--explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    /// Its key, else its label, else which it is.
    pub name: String,
    /// What was decided.
    pub fate: Fate,
    /// The stable word or the rule's name.
    pub rule: String,
    /// What made it hold, for people; may be empty.
    pub detail: String,
}

/// The words of [`StepReport::rule`] that always exist; the others are names of rules in the configuration, and
/// `image-builds` for a step whose key stands there.
pub const WORDS: [&str; 17] = [
    "no-command-step",
    "skipped",
    "armed-already",
    "skip-list",
    "no-rule",
    "two-backends",
    "no-key",
    "key-unusable",
    "matrix",
    "host-step",
    "no-commands",
    "container-command",
    "no-shell",
    "plugin-shape",
    "open-here-document",
    "alias",
    "switch-off",
];

/// The step that collects for a backend with armed steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectorReport {
    /// Its key.
    pub key: String,
    /// The keys of the steps it waits for.
    pub waits_for: Vec<String>,
    /// How many jobs they have.
    pub jobs: u64,
    /// The keys of the image builds it starts after.
    pub depends_on: Vec<String>,
    /// The keys of armed steps that it does not wait for, since they wait for somebody.
    pub behind_a_block: Vec<String>,
    /// Why it is not added: the stable word.
    pub not_added: Option<&'static str>,
}

/// The words of [`CollectorReport::not_added`].
pub const COLLECTOR_WORDS: [&str; 3] = ["no-store", "all-behind-a-block", "collector-exists"];

/// What becomes of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It records.
    Armed {
        /// The kernels of this backend.
        kernels: Option<Backend>,
        /// Python's functions.
        python: bool,
    },
    /// It builds a backend's image, and leaves the symbol map.
    Mapped(Backend),
    /// It stays as it is.
    NotArmed,
}

impl StepReport {
    pub(crate) fn new(fate: Fate, rule: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            name: String::new(),
            fate,
            rule: rule.into(),
            detail: detail.into(),
        }
    }

    pub(crate) fn not(rule: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Fate::NotArmed, rule, detail)
    }
}
