//! Small checked types. A value of one of these has passed its rule; nothing re-checks it later.

mod backend;
mod digest;
mod kernel_name;
mod number;
mod stable;
mod text;

pub use backend::{Backend, RowBackend};
pub use digest::{Digest, Hasher};
pub use kernel_name::{KernelName, MAX_KERNEL_NAME_BYTES};
pub use number::{BuildNumber, Generation};
pub use stable::stable_form;
pub use text::{Commit, JobId, KeyId, Nonce, Pipeline, StepKey, Variant};

/// A text that breaks the rule of the type it was meant for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a valid {kind}: {rule}")]
pub struct InvalidId {
    /// What the text was meant to be, for example "commit".
    pub kind: &'static str,
    /// The text, cut to 80 characters and with control characters escaped.
    pub value: String,
    /// The rule it breaks.
    pub rule: &'static str,
}

impl InvalidId {
    pub(crate) fn new(kind: &'static str, value: &str, rule: &'static str) -> Self {
        let value = value
            .chars()
            .take(80)
            .flat_map(char::escape_debug)
            .collect();
        Self { kind, value, rule }
    }
}
