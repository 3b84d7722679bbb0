//! Every environment variable that set-up reads or sets, for the documentation and for tests.

/// A variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// One line for the documentation.
    pub meaning: &'static str,
}

const fn variable(name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, meaning }
}

/// What set-up reads.
pub const READ: [Variable; 19] = [
    variable(
        "KERNREC_LIB_DIR",
        "the folder of the recorder's libraries; else beside the program, then `../lib/kernrec` from there",
    ),
    variable("KERNREC_CUPTI_PATH", "`--cupti`; also read by the recorder"),
    variable(
        "ROCPROFILER_SDK_LIB",
        "the ROCProfiler SDK, `librocprofiler-sdk.so`, or its folder",
    ),
    variable(
        "ROCM_PATH",
        "the installation of ROCm whose SDK is used, where `ROCPROFILER_SDK_LIB` is not set; default `/opt/rocm`",
    ),
    variable("KERNREC_VARIANT", "`--variant`"),
    variable(
        "VIRTUAL_ENV",
        "`--python-exe`, where the command names no Python: the one in this environment",
    ),
    variable("BUILDKITE_STEP_KEY", "`--step`"),
    variable("BUILDKITE_LABEL", "`--label`"),
    variable("BUILDKITE_JOB_ID", "`--job-id`"),
    variable("BUILDKITE_BUILD_NUMBER", "`--build`"),
    variable("BUILDKITE_COMMIT", "`--commit`"),
    variable("BUILDKITE_PARALLEL_JOB", "`--shard`"),
    variable("BUILDKITE_PARALLEL_JOB_COUNT", "`--shards`"),
    variable("BUILDKITE_RETRY_COUNT", "`--retry`"),
    variable(
        "GITHUB_JOB",
        "`--step`, where `BUILDKITE_STEP_KEY` is not set",
    ),
    variable(
        "GITHUB_RUN_ID",
        "with attempt, job and shard `--job-id`: `<run>-<attempt>-<job>[-<shard>]`",
    ),
    variable("GITHUB_RUN_NUMBER", "`--build`"),
    variable("GITHUB_RUN_ATTEMPT", "`--retry`, counted from 1"),
    variable("GITHUB_SHA", "`--commit`"),
];

/// What set-up gives to the workload.
pub const SET: [Variable; 15] = [
    variable(
        "CUDA_INJECTION64_PATH",
        "absolute path of `libkernrec_cupti.so`; the driver takes one library only",
    ),
    variable(
        "LD_PRELOAD",
        "absolute path of `libkernrec_cupti_forwarders.so`, on AMD of the SDK, before what is there already",
    ),
    variable(
        "ROCP_TOOL_LIBRARIES",
        "on AMD: absolute path of `libkernrec_rocprofiler.so`",
    ),
    variable(
        "ROCPROFILER_REGISTER_LIBRARY",
        "on AMD, if not set: absolute path of the SDK, for processes that do not take `LD_PRELOAD`",
    ),
    variable(
        "VLLM_WORKER_MULTIPROC_METHOD",
        "on AMD: `spawn` if not set, since forked workers cannot be recorded",
    ),
    variable(
        "KERNREC_DIR",
        "absolute path of the folder for the recordings; not set: nothing is recorded",
    ),
    variable(
        "KERNREC_SESSION",
        "which set-up this is, for `kernrec finish` and for a set-up within it",
    ),
    variable(
        "KERNREC_FLUSH_MS",
        "with `--flush-ms`: how often names are fetched, 0 to 3,600,000, default 1000; 0 only at the end",
    ),
    variable(
        "KERNREC_FORCE_EVERY",
        "with `--force-every`: every how many of those also records of kernels still running are fetched; default 0, never",
    ),
    variable(
        "KERNREC_CUPTI_PATH",
        "with `--cupti` or if set: the CUPTI to load where the process has none; default: found beside the CUDA runtime",
    ),
    variable(
        "KERNREC_PYTHON_DIR",
        "with `--python`: absolute path of the folder for recordings of Python; not set: none is made",
    ),
    variable(
        "KERNREC_PYTHON_ROOTS",
        "with `--python-roots`: the watched packages, with commas between; default `vllm,aiter`",
    ),
    variable(
        "KERNREC_PYTHON_CHECKOUT",
        "with `--python-checkout`: absolute path of the checkout whose `tests` are watched too",
    ),
    variable(
        "PYTHONPATH",
        "with `--python host`: absolute path of the job's copy of the recorder, before what is there already",
    ),
    variable(
        "VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS",
        "30 if not set, so that vLLM's workers have time to finish their recordings",
    ),
];
