//! `kernrec store`.

use super::fetch::{BackendsArg, duration};
use super::remote::{RemoteArgs, WriteArgs};
use super::signing::{RequireKeyArgs, SignArgs};
use kernrec_schemas::{Backend, Digest, Pipeline};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `store`.
#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// What is done with a store.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum What {
    /// Prove that a store keeps what publish and fetch rely on
    ///
    /// Writes random keys below scratch/ and removes them. Of a store that can only be read, what fetch relies
    /// on is tried on what is published there.
    #[command(
        after_help = "Exit status: 0 every promise was kept, 3 one was broken or there was nothing to try, 1 it could not be told."
    )]
    Check(CheckArgs),
    /// Check that everything the pointers name is there and whole; writes nothing
    #[command(
        after_help = "Exit status: 0 whole, 3 something is damaged, missing or not signed, or there was nothing to look at, 1 it could not be told."
    )]
    Fsck(FsckArgs),
    /// Remove what no record in any pointer's history names; says what, unless told to delete
    Gc(GcArgs),
    /// Show what was published, newest first
    Log(LogArgs),
    /// Make a past record current again and revoke everything newer
    Rollback(RollbackArgs),
    /// Store a document or a bundle under the digest of its content
    Put(PutArgs),
    /// Get a document or a bundle by its digest, verified
    Get(GetArgs),
}

/// Which store, for every sub-command.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArgs {
    /// The store: a path, or a file://, https://, s3://, gs:// or az:// URL
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `store check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// The pipeline whose records a store that can only be read is tried on
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    #[command(flatten)]
    pub(crate) network: RemoteArgs,
}

/// Arguments of `store fsck`.
#[derive(Debug, clap::Args)]
pub(crate) struct FsckArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Presence and size only: read no content
    #[arg(long)]
    pub(crate) quick: bool,

    /// Leave the bundles out: only `verify record` needs them
    #[arg(long)]
    pub(crate) no_bundles: bool,

    /// The pipeline to look at in a store that cannot be listed; others are looked at whole
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    /// Rows shown of each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,

    #[command(flatten)]
    pub(crate) signing: RequireKeyArgs,

    #[command(flatten)]
    pub(crate) network: RemoteArgs,
}

/// Arguments of `store gc`.
#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Remove; without it only what would be removed is said
    #[arg(long)]
    pub(crate) delete: bool,

    /// Keep what was stored within this time, for example 7d or 60h
    #[arg(long, value_name = "D", default_value = "7d", value_parser = duration)]
    pub(crate) grace: Duration,

    /// Nothing publishes to the store meanwhile: allows a grace below 2d
    #[arg(long)]
    pub(crate) quiescent: bool,

    /// Go on although a record's manifest is lost or damaged, or no pointer is there: what only they name is not kept
    #[arg(long)]
    pub(crate) accept_broken: bool,

    /// Rows shown of each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,

    #[command(flatten)]
    pub(crate) signing: RequireKeyArgs,

    #[command(flatten)]
    pub(crate) network: RemoteArgs,
}

/// Arguments of `store log`.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// The pipeline
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    /// The backend: cuda, rocm, python or all
    #[arg(long, value_name = "BACKEND", default_value = "all")]
    pub(crate) backend: BackendsArg,

    /// How many records to read, newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) signing: RequireKeyArgs,

    #[command(flatten)]
    pub(crate) network: RemoteArgs,
}

/// Arguments of `store rollback`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 rolled back or already current, 3 refused, 5 the answer was lost, 1 failed."
)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// The record to go back to, as `store log` shows it: its commit, build or manifest, whole
    #[arg(long, value_name = "COMMIT|BUILD|MANIFEST")]
    pub(crate) to: String,

    /// Why, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    /// The pipeline
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    /// The backend: cuda, rocm or python
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Backend,

    /// Do not ask for the target's bundles: only `verify record` needs them
    #[arg(long)]
    pub(crate) no_bundles: bool,

    /// Check everything, move nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) signing: SignArgs,

    #[command(flatten)]
    pub(crate) network: WriteArgs,
}

/// Arguments of `store put`.
#[derive(Debug, clap::Args)]
pub(crate) struct PutArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// A document, compressed or not, or a bundle
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) network: RemoteArgs,
}

/// Arguments of `store get`.
#[derive(Debug, clap::Args)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// The digest of its uncompressed content: b3: and 64 hex digits
    #[arg(value_name = "DIGEST")]
    pub(crate) digest: Digest,

    /// The file to write; a document is compressed if its name ends in .gz or .zst. By default a document
    /// goes to stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) network: RemoteArgs,
}
