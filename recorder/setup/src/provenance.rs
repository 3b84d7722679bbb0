//! What a job ran with, for people who look into a recording later.

use crate::environment::Environment;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The variables that may be copied into a sidecar, one by one: a prefix could take a secret along.
const ALLOWED: [&str; 27] = [
    // Which GPUs are visible.
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "AMD_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HSA_OVERRIDE_GFX_VERSION",
    // How vLLM starts and ends its workers.
    "VLLM_WORKER_MULTIPROC_METHOD",
    "VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS",
    // Which of vLLM's AITER kernels are on.
    "VLLM_ROCM_USE_AITER",
    "VLLM_ROCM_USE_AITER_CUSTOM_AR",
    "VLLM_ROCM_USE_AITER_FP4BMM",
    "VLLM_ROCM_USE_AITER_FP4_ASM_GEMM",
    "VLLM_ROCM_USE_AITER_FP8BMM",
    "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS",
    "VLLM_ROCM_USE_AITER_LINEAR",
    "VLLM_ROCM_USE_AITER_MHA",
    "VLLM_ROCM_USE_AITER_MLA",
    "VLLM_ROCM_USE_AITER_MOE",
    "VLLM_ROCM_USE_AITER_PAGED_ATTN",
    "VLLM_ROCM_USE_AITER_RMSNORM",
    "VLLM_ROCM_USE_AITER_TRITON_GEMM",
    "VLLM_ROCM_USE_AITER_TRITON_ROPE",
    "VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION",
    // How AITER itself is used.
    "AITER_TRITON_ONLY",
    "AITER_AOT_IMPORT",
    // How the recorder was asked to work.
    "KERNREC_FLUSH_MS",
];

/// A longer value says nothing that is looked for here.
const MAX_VALUE: usize = 256;

/// The branch the pipeline's scripts come from.
pub(crate) fn branch(environment: &Environment) -> Option<String> {
    environment.text("VLLM_CI_BRANCH").map(str::to_owned)
}

/// The allowed variables that are set.
pub(crate) fn variables(environment: &Environment) -> BTreeMap<String, String> {
    ALLOWED
        .into_iter()
        .filter_map(|name| Some((name, environment.text(name)?)))
        .filter(|(_, value)| value.len() <= MAX_VALUE)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Takes in the allowed ones of variables that set-up gives to the workload.
pub(crate) fn add(to: &mut BTreeMap<String, String>, given: &[(&'static str, OsString)]) {
    let kept = given
        .iter()
        .filter(|(name, _)| ALLOWED.contains(name))
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
