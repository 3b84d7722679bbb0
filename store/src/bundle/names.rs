//! Which names an entry can have: a list of what is allowed, not of what is forbidden.

use super::limits::MAX_NAME_BYTES;
use super::{Part, Refusal};

/// What the bundle says of itself; always the first entry.
pub(super) const META: &str = "bundle.json";
/// The log of the recorder's set-up; in a bundle on request only.
pub const SETUP_LOG: &str = "setup.log";
/// The log of the runtime preflight; in a bundle on request only.
pub const PREFLIGHT_LOG: &str = "preflight.log";

/// The name as an entry of a bundle, or why it cannot be one.
pub(super) fn check(name: &[u8]) -> Result<&str, Refusal> {
    let text = rule(name)?;
    let allowed = matches!(text, META | SETUP_LOG | PREFLIGHT_LOG);
    if allowed || Part::of(name).is_some() {
        Ok(text)
    } else {
        Err(Refusal::NameNotAllowed)
    }
}

/// The name in an error message: cut, with control characters escaped.
pub(super) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    text.chars()
        .take(MAX_NAME_BYTES)
        .flat_map(char::escape_debug)
        .collect()
}

fn rule(name: &[u8]) -> Result<&str, Refusal> {
    if name.starts_with(b"/") {
        return Err(Refusal::AbsoluteName);
    }
    if name.split(|&b| b == b'/').any(|part| part == b"..") {
        return Err(Refusal::ParentName);
    }
    if name.contains(&b'/') {
        return Err(Refusal::NestedName);
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(Refusal::NameTooLong);
    }
    match std::str::from_utf8(name) {
        Ok(text) if !text.is_empty() && !text.chars().any(char::is_control) => Ok(text),
        _ => Err(Refusal::NameNotAllowed),
    }
}
