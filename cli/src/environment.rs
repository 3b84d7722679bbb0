//! Every environment variable the programs read: one table, also printed in the docs.
//!
//! A variable that is set but empty counts as not set: CI systems export what they do not know as "".

use crate::error::CommandError;

/// A variable and what it stands in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// One line for the documentation.
    pub meaning: &'static str,
}

macro_rules! variables {
    ($($constant:ident = $name:literal, $meaning:literal;)+) => {
        $(pub(crate) const $constant: Variable = Variable { name: $name, meaning: $meaning };)+

        /// All of them, in the order they are documented.
        pub const VARIABLES: &[Variable] = &[$($constant,)+];
    };
}

variables! {
    COMMIT = "BUILDKITE_COMMIT", "the commit of `publish`, `collect` and `symbol-map`, when `--commit` is not given";
    BUILD = "BUILDKITE_BUILD_NUMBER", "the build of `publish` and `collect`, when `--build` is not given";
    BRANCH = "BUILDKITE_BRANCH", "the branch of `publish` and `collect` for `--only-branch`, when `--branch` is not given, and of the queue that `arm` lets the collectors run in";
    REF_NAME = "GITHUB_REF_NAME", "the same, when `BUILDKITE_BRANCH` is not set either";
    PULL_REQUEST = "BUILDKITE_PULL_REQUEST", "a pull request, unless it is `false`: `--only-branch` and `arm` take it for another branch, whatever its name and `--branch`";
    EVENT_NAME = "GITHUB_EVENT_NAME", "the same, when it is `pull_request` or `pull_request_target`";
    SHA = "GITHUB_SHA", "the commit of `collect`, when `BUILDKITE_COMMIT` is not set either";
    RUN_NUMBER = "GITHUB_RUN_NUMBER", "the build of `collect`, when `BUILDKITE_BUILD_NUMBER` is not set either";
    SOURCE_DATE_EPOCH = "SOURCE_DATE_EPOCH", "the time a record or a symbol map speaks of, in seconds since 1970, when `--recorded-at` is not given";
    RECORD_URL = "CI_SELECTOR_KERNEL_RECORD_URL", "the store `fetch` reads, when `--url` is not given";
    S3_ENDPOINT = "AWS_ENDPOINT_URL_S3", "the S3-compatible service, when `--endpoint` is not given";
    ENDPOINT = "AWS_ENDPOINT_URL", "the same, when `AWS_ENDPOINT_URL_S3` is not set either";
    CA_FILE = "KERNREC_CA_FILE", "further certificates to trust, when `--ca-file` is not given";
    TIMEOUT = "KERNREC_TIMEOUT", "how long a command works with a store, when `--timeout` is not given";
    SIGN_KEY = "KERNREC_SIGN_KEY", "the private key that signs pointers, when `--sign-key` is not given";
    REQUIRE_KEY = "KERNREC_REQUIRE_KEY", "public keys one of which must have signed, separated by `:`, when no `--require-key` is given";
    BUILDKITE = "BUILDKITE", "`true` makes `collect` ask Buildkite, when `--ci` is not given";
    GITHUB_ACTIONS = "GITHUB_ACTIONS", "`true` makes `collect` ask GitHub, when `--ci` is not given";
    GITHUB_API_URL = "GITHUB_API_URL", "where `collect` finds GitHub's API";
    GITHUB_REPOSITORY = "GITHUB_REPOSITORY", "the repository `collect` works for, as `owner/name`";
    GITHUB_RUN_ID = "GITHUB_RUN_ID", "the run that `collect` collects from, when `--source-build` is not given";
    GITHUB_TOKEN = "GITHUB_TOKEN", "the token `collect` shows GitHub's API";
    STEP_SUMMARY = "GITHUB_STEP_SUMMARY", "the file that `collect` and `select --format github` append the job's summary to";
    GITHUB_OUTPUT = "GITHUB_OUTPUT", "the file that `select --format github` appends the job's outputs to";
    ARM_CUDA = "VLLM_CI_KERNREC", "exactly `1` lets `arm` arm steps on NVIDIA GPUs";
    ARM_ROCM = "VLLM_CI_KERNREC_AMD", "exactly `1` lets `arm` arm steps on AMD GPUs";
    ARM_PYTHON = "VLLM_CI_FNREC", "exactly `1` lets `arm` arm steps for Python's functions";
    CI = "CI", "`true` turns progress bars off even on a terminal";
}

impl Variable {
    /// Its value; `None` when it is not set or empty. One that is not UTF-8 is a usage error.
    pub(crate) fn read(self) -> Result<Option<String>, CommandError> {
        match std::env::var(self.name) {
            Ok(value) if value.is_empty() => Ok(None),
            Ok(value) => Ok(Some(value)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(CommandError::usage(format!(
                "environment variable `{}` is not UTF-8",
                self.name
            ))),
        }
    }

    /// Its value read as a `T`; the error names the variable and the value.
    pub(crate) fn parse<T>(self) -> Result<Option<T>, CommandError>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
    {
        let Some(text) = self.read()? else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|error| {
            let shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
            CommandError::usage(format!(
                "environment variable `{}` has the invalid value `{shown}`: {error}",
                self.name
            ))
        })
    }
}
