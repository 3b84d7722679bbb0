//! What a job ran with, for people who look into a recording later.

use crate::environment::Environment;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// What the Python recorder's headers do not have, and a sidecar does.
const MORE: [&str; 2] = [
    "AMD_VISIBLE_DEVICES",
    // How the recorder was asked to work.
    "KERNREC_FLUSH_MS",
];

/// The variables that may be copied into a sidecar: those of the Python recorder's headers, which are listed one by one
/// since a prefix could take a secret along, without those that say whose job it is.
fn allowed() -> impl Iterator<Item = &'static str> {
    let listed = kernrec_python_recorder::ALLOWED.into_iter();
    listed
        .filter(|name| !name.starts_with("BUILDKITE_"))
        .chain(MORE)
}

/// A longer value says nothing that is looked for here.
const MAX_VALUE: usize = 256;

/// The branch the pipeline's scripts come from.
pub(crate) fn branch(environment: &Environment) -> Option<String> {
    environment.text("VLLM_CI_BRANCH").map(str::to_owned)
}

/// The allowed variables that are set.
pub(crate) fn variables(environment: &Environment) -> BTreeMap<String, String> {
    allowed()
        .filter_map(|name| Some((name, environment.text(name)?)))
        .filter(|(_, value)| value.len() <= MAX_VALUE)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Takes in the allowed ones of variables that set-up gives to the workload.
pub(crate) fn add(to: &mut BTreeMap<String, String>, given: &[(&'static str, OsString)]) {
    let kept = given
        .iter()
        .filter(|(name, _)| allowed().any(|allowed| allowed == *name))
        .filter_map(|(name, value)| Some((*name, value.to_str()?)))
        .filter(|(_, value)| value.len() <= MAX_VALUE);
    to.extend(kept.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

/// The node's name; empty where the system does not say.
pub(crate) fn host() -> String {
    fs_err::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_variables_are_taken() {
        let environment = Environment::default()
            .with("CUDA_VISIBLE_DEVICES", "0,1")
            .with("VLLM_ROCM_USE_AITER", "1")
            .with("VLLM_ROCM_USE_AITER_TOKEN", "secret")
            .with("HF_TOKEN", "secret")
            .with("BUILDKITE_AGENT_ACCESS_TOKEN", "secret");
        let taken = variables(&environment);
        let names: Vec<&str> = taken.keys().map(String::as_str).collect();
        assert_eq!(names, ["CUDA_VISIBLE_DEVICES", "VLLM_ROCM_USE_AITER"]);
    }
}
