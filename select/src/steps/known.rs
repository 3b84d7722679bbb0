//! The fields that steps have. One that is not here may be a misspelt list of files, and then the list is missing.

/// Fields that make a step one that runs nothing.
pub(super) const GATES: [&str; 6] = ["wait", "waiter", "block", "input", "manual", TRIGGER];

/// The gate that starts a build of another pipeline.
pub(super) const TRIGGER: &str = "trigger";

/// Values of `type`, and steps written as one word, that run nothing.
pub(super) const GATE_TYPES: [&str; 6] = ["wait", "waiter", "block", "input", "manual", TRIGGER];

/// Fields that name files.
pub(super) const PATHS: [&str; 3] = ["if_changed", "source_file_dependencies", "paths"];

/// Fields that have the step's key.
pub(super) const KEYS: [&str; 3] = ["key", "id", "identifier"];

/// Every other field: of Buildkite's command and group steps, and of test areas.
const OTHERS: [&str; 59] = [
    "agent_pool",
    "agents",
    "allow_dependency_failure",
    "amd_experimental",
    "artifact_paths",
    "async",
    "autorun_on_main",
    "blocked_state",
    "branches",
    "build",
    "cache",
    "cancel_on_build_failing",
    "command",
    "commands",
    "concurrency",
    "concurrency_group",
    "concurrency_method",
    "continue_on_failure",
    "depends_on",
    "device",
    "env",
    "fast_check",
    "fast_check_only",
    "gpu",
    "grade",
    "group",
    "if",
    "image",
    "label",
    "matrix",
    "mirror",
    "mirror_hardwares",
    "mount_buildkite_agent",
    "name",
    "no_gpu",
    "no_plugin",
    "notify",
    "num_devices",
    "num_gpus",
    "num_nodes",
    "optional",
    "parallelism",
    "plugin",
    "plugins",
    "priority",
    "retry",
    "secrets",
    "signature",
    "skip",
    "soft_fail",
    "steps",
    "tags",
    "timeout",
    "timeout_in_minutes",
    "torch_nightly",
    "type",
    "working_dir",
    "working_directory",
    "<<",
];

/// Whether a step may have this field.
pub(super) fn is_known(field: &str) -> bool {
    [&PATHS[..], &KEYS, &OTHERS].concat().contains(&field)
}
