//! Which names an entry can have: a list of what is allowed, not of what is forbidden.

use super::Refusal;
use super::limits::MAX_NAME_BYTES;

/// What the bundle says of itself; always the first entry.
pub(super) const META: &str = "bundle.json";
/// The job sidecar.
pub const SIDECAR: &str = "kernrec.json";
/// The log of the recorder's set-up; in a bundle on request only.
pub const SETUP_LOG: &str = "setup.log";
/// The log of the runtime preflight; in a bundle on request only.
pub const PREFLIGHT_LOG: &str = "preflight.log";

const RECORDING_PREFIX: &str = "kern.";
const RECORDING_SUFFIX: &str = ".txt";

/// True for the name of a recording, `kern.<pid>.txt`, that a bundle can hold.
pub fn is_recording(name: &str) -> bool {
    looks_like_recording(name.as_bytes()) && rule(name.as_bytes()).is_ok()
}

/// True for anything that matches `kern.*.txt`, whatever stands between.
pub(super) fn looks_like_recording(name: &[u8]) -> bool {
    name.len() >= RECORDING_PREFIX.len() + RECORDING_SUFFIX.len()
        && name.starts_with(RECORDING_PREFIX.as_bytes())
        && name.ends_with(RECORDING_SUFFIX.as_bytes())
}

/// The name as an entry of a bundle, or why it cannot be one.
pub(super) fn check(name: &[u8]) -> Result<&str, Refusal> {
    let text = rule(name)?;
    let allowed = matches!(text, META | SIDECAR | SETUP_LOG | PREFLIGHT_LOG);
    if allowed || looks_like_recording(name) {
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
