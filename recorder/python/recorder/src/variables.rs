//! The environment variables that may stand in a recording.

/// The variables that are copied into a header, one by one: a prefix could take a secret along.
pub const ALLOWED: [&str; 35] = [
    // Whose recording it is, where no sidecar says so.
    "BUILDKITE_JOB_ID",
    "BUILDKITE_PIPELINE_SLUG",
    "BUILDKITE_STEP_KEY",
    "BUILDKITE_LABEL",
    "BUILDKITE_RETRY_COUNT",
    "BUILDKITE_PARALLEL_JOB",
    "BUILDKITE_PARALLEL_JOB_COUNT",
    // How vLLM starts and ends its workers.
    "VLLM_WORKER_MULTIPROC_METHOD",
    "VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS",
    // Which GPUs are visible, and as what.
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HSA_OVERRIDE_GFX_VERSION",
    // Which of vLLM's AITER functions are on.
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
    // How AITER builds and runs its own.
    "AITER_TRITON_ONLY",
    "AITER_AOT_IMPORT",
    "AITER_REBUILD",
    "AITER_USE_SYSTEM_TRITON",
    // How vLLM finds its kernels on ROCm.
    "VLLM_ROCM_CUSTOM_PAGED_ATTN",
];

/// A longer value says nothing that is looked for here.
const MAX_VALUE_BYTES: usize = 256;

/// Whether a variable may stand in a header.
pub(crate) fn is_allowed(name: &str, value: &str) -> bool {
    !value.is_empty() && value.len() <= MAX_VALUE_BYTES && ALLOWED.contains(&name)
}
