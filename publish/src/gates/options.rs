//! Thresholds and permissions.

/// The smallest accepted share of expected jobs when nothing else is asked for.
pub const DEFAULT_MIN_DELIVERED: f64 = 0.5;

/// Thresholds and permissions of the gates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateOptions {
    /// How many jobs should have delivered; without it the delivered share is no gate.
    pub expected_jobs: Option<u64>,
    /// The smallest accepted share of them, 0 to 1.
    pub min_delivered: f64,
    /// Accept a record of less than half of what the current one has (`collapse`, and the share part of
    /// `names-do-not-join`).
    pub allow_shrink: bool,
    /// Accept deliveries of which nobody knows the step although no jobs list says whose they were.
    pub allow_unreadable: bool,
}

impl Default for GateOptions {
    fn default() -> Self {
        Self {
            expected_jobs: None,
            min_delivered: DEFAULT_MIN_DELIVERED,
            allow_shrink: false,
            allow_unreadable: false,
        }
    }
}
