//! What a user may write, as plain data: one module per sub-command. Nothing here decides or reads anything.

pub(crate) mod arm;
pub(crate) mod audit;
pub(crate) mod collect;
pub(crate) mod diff;
pub(crate) mod env;
pub(crate) mod explain;
pub(crate) mod fetch;
pub(crate) mod finish;
pub(crate) mod fold;
pub(crate) mod job;
pub(crate) mod layout;
pub(crate) mod pack;
pub(crate) mod publish;
pub(crate) mod python;
pub(crate) mod remote;
pub(crate) mod run;
pub(crate) mod select;
pub(crate) mod show;
pub(crate) mod signing;
pub(crate) mod store;
pub(crate) mod symbol_map;
pub(crate) mod validate;
pub(crate) mod verify;

use clap::{Parser, Subcommand};

/// Record which GPU kernels each CI test step launches, and skip the steps a change cannot reach
#[derive(Debug, Parser)]
#[command(name = "kernrec", version, max_term_width = 100)]
pub(crate) struct Kernrec {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Fold, check and publish the kernel record of a build: the same as `kernrec publish`
#[derive(Debug, Parser)]
#[command(name = "kernrec-publish", version, max_term_width = 100)]
pub(crate) struct KernrecPublish {
    #[command(flatten)]
    pub(crate) args: publish::PublishArgs,
}

/// Fetch the newest good kernel record: the same as `kernrec fetch`
#[derive(Debug, Parser)]
#[command(name = "ci-fetch-kernel-record", version, max_term_width = 100)]
pub(crate) struct CiFetchKernelRecord {
    #[command(flatten)]
    pub(crate) args: fetch::FetchArgs,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fold, check and publish the kernel record of a build
    Publish(publish::PublishArgs),
    /// Fetch the newest good kernel record
    Fetch(fetch::FetchArgs),
    /// Say which steps a change can reach
    Select(select::SelectArgs),
    /// Show the evidence between one step and one file
    Explain(explain::ExplainArgs),
    /// Replay past changes, and say whether a step that failed would have been skipped
    Validate(validate::ValidateArgs),
    /// Run a command and record which GPU kernels it launches
    ///
    /// Exits with the command's status: 128 and the signal's number when one ended it, 127 when there is no
    /// such command, 126 when it cannot be run. Where nothing can be recorded the command runs all the same,
    /// once, and the job's sidecar says why.
    Run(run::RunArgs),
    /// Print the lines that make a shell record what it runs
    ///
    /// To be used as `eval "$(kernrec env --step KEY)"`, with the double quotes, in bash or sh.
    Env(env::EnvArgs),
    /// Write the exit status of what the shell ran, and pack its recordings
    ///
    /// Exits 0 whatever happens, so that it can never fail a step. A second call with the same status changes
    /// nothing; a failure that is reported after a success counts.
    Finish(finish::FinishArgs),
    /// Look after the Python recorder in a Python's site-packages
    Python(python::PythonArgs),
    /// Map the GPU kernels of a build to the source files they came from
    ///
    /// Reads the objects and the records that the build left, and needs none of the vendors' tools. Never fails an
    /// image build unless told to: whatever could not be read stands in the map, and makes it no evidence.
    SymbolMap(symbol_map::SymbolMapArgs),
    /// Make the steps of a Buildkite pipeline that run on GPUs record
    ///
    /// A filter before the upload: `generate | kernrec arm | buildkite-agent pipeline upload`. Without
    /// VLLM_CI_KERNREC=1 (NVIDIA) or VLLM_CI_KERNREC_AMD=1 (AMD) every byte comes out as it went in.
    Arm(arm::ArmArgs),
    /// Wait for a build's armed steps, download what they left, and publish it
    ///
    /// Run by a step of the build. Leaves the kernel table, result.json and annotation.md in its folder, and shows
    /// the annotation on the build's page.
    Collect(collect::CollectArgs),
    /// Turn job folders into bundles, one file per job
    Pack(pack::PackArgs),
    /// Fold recordings into a kernel table
    Fold(fold::FoldArgs),
    /// Show any document readably
    Show(show::ShowArgs),
    /// Say what each health rule costs, and which processes are to blame
    Audit(audit::AuditArgs),
    /// Compare two kernel tables
    Diff(diff::DiffArgs),
    /// Prove that files, a published record or installed data are what they should be
    Verify(verify::VerifyArgs),
    /// Look after a store: prove it, check it, clean it, read its history, roll it back
    Store(store::StoreArgs),
}
