//! What `run` and `env` say of the job and of how to record it.

use kernrec_setup::{BackendChoice, UnknownBackend};
use std::path::PathBuf;

/// Arguments that `run` and `env` share.
#[derive(Debug, clap::Args)]
pub(crate) struct JobArgs {
    /// The key of the pipeline step [env: BUILDKITE_STEP_KEY, GITHUB_JOB]
    #[arg(long, value_name = "KEY")]
    pub(crate) step: Option<String>,

    /// The GPUs to record: cuda, rocm, auto for what the machine has, or none with --python
    #[arg(long, value_name = "BACKEND", default_value = "auto", value_parser = backend)]
    pub(crate) backend: BackendChoice,

    /// Record too which Python functions are entered
    #[arg(long, value_name = "MODE", required_if_eq("backend", "none"))]
    pub(crate) python: Option<PythonArg>,

    /// The watched packages, with commas between; default vllm,aiter [env: KERNREC_PYTHON_ROOTS]
    #[arg(long, value_name = "NAMES", requires = "python")]
    pub(crate) python_roots: Option<String>,

    /// The checkout whose tests are watched too [env: KERNREC_PYTHON_CHECKOUT]
    #[arg(long, value_name = "DIR", requires = "python")]
    pub(crate) python_checkout: Option<PathBuf>,

    /// The Python that the step uses; default the command's, that of VIRTUAL_ENV, or python3 on PATH
    #[arg(long, value_name = "FILE", requires = "python")]
    pub(crate) python_exe: Option<PathBuf>,

    /// The job's folder; by default .kernrec/<job id>
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// The step's label, any text [env: BUILDKITE_LABEL]
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,

    /// The job; `local` outside CI [env: BUILDKITE_JOB_ID, or made of GITHUB_RUN_ID and others]
    #[arg(long, value_name = "ID")]
    pub(crate) job_id: Option<String>,

    /// The build's number [env: BUILDKITE_BUILD_NUMBER, GITHUB_RUN_NUMBER]
    #[arg(long, value_name = "N")]
    pub(crate) build: Option<String>,

    /// The commit that is tested [env: BUILDKITE_COMMIT, GITHUB_SHA]
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<String>,

    /// Which shard of the step this is, from 0 [env: BUILDKITE_PARALLEL_JOB]
    #[arg(long, value_name = "N")]
    pub(crate) shard: Option<String>,

    /// How many shards the step has [env: BUILDKITE_PARALLEL_JOB_COUNT]
    #[arg(long, value_name = "N")]
    pub(crate) shards: Option<String>,

    /// Which attempt of the job this is, from 0 [env: BUILDKITE_RETRY_COUNT, GITHUB_RUN_ATTEMPT]
    #[arg(long, value_name = "N")]
    pub(crate) retry: Option<String>,

    /// Which of several images of the backend this is [env: KERNREC_VARIANT]
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,

    /// How often names are fetched, in milliseconds; 0 only at the end
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=3_600_000))]
    pub(crate) flush_ms: Option<u64>,

    /// Every how many of those records of running kernels are fetched too; 0 never
    #[arg(long, value_name = "N")]
    pub(crate) force_every: Option<u64>,

    /// The CUPTI for processes that bring none [env: KERNREC_CUPTI_PATH]
    #[arg(long, value_name = "FILE")]
    pub(crate) cupti: Option<PathBuf>,

    /// Leave LD_PRELOAD alone; the recorder then knows less of other profilers
    #[arg(long)]
    pub(crate) no_preload: bool,
}

/// Where the Python recorder goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PythonArg {
    /// Into the Python's site-packages, where it stays until `kernrec python remove`
    Container,
    /// Into a folder of this job's own on PYTHONPATH, which the end removes
    Host,
}

fn backend(text: &str) -> Result<BackendChoice, UnknownBackend> {
    text.parse()
}
