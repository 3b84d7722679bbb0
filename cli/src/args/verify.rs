//! `kernrec verify`.

use super::remote::RemoteArgs;
use super::signing::RequireKeyArgs;
use kernrec_schemas::{Backend, Commit, Pipeline};
use std::path::PathBuf;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 all as it should be, 3 something differs, 1 it could not be told."
)]
pub(crate) struct VerifyArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// What is verified.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum What {
    /// Check a build of the recorder against its expected digests, or two builds against each other
    Build(BuildArgs),
    /// Compare two files or two folders by the digest of their content
    Files(FilesArgs),
    /// Fold a published record again from its own bundles and compare byte for byte
    Record(RecordArgs),
    /// Check every installed file against the digests of its record
    Installed(InstalledArgs),
}

/// Arguments of `verify build`.
#[derive(Debug, clap::Args)]
pub(crate) struct BuildArgs {
    /// The folder of the build
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Another build, to compare with instead of the expected digests
    #[arg(value_name = "OTHER", conflicts_with = "expect")]
    pub(crate) other: Option<PathBuf>,

    /// The file of expected digests; by default those this program was built with
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,

    /// Write the digests of the libraries to this file instead of comparing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["other", "expect"])]
    pub(crate) record: Option<PathBuf>,

    /// The oldest C library that the build must run with
    #[arg(long, value_name = "VERSION", default_value = "2.17")]
    pub(crate) glibc: String,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `verify files`.
#[derive(Debug, clap::Args)]
pub(crate) struct FilesArgs {
    /// A file or folder
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,

    /// Another of the same kind
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `verify record`.
#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// The store: a path, or a file://, https://, s3://, gs:// or az:// URL
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,

    /// The pipeline
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    /// The backend: cuda, rocm or python
    #[arg(long, value_name = "BACKEND", default_value = "cuda")]
    pub(crate) backend: Backend,

    /// The commit of the record; by default the current one's
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<Commit>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) signing: RequireKeyArgs,

    #[command(flatten)]
    pub(crate) network: RemoteArgs,
}

/// Arguments of `verify installed`.
#[derive(Debug, clap::Args)]
pub(crate) struct InstalledArgs {
    /// The folder a record was fetched to
    #[arg(long, value_name = "DIR", default_value = "coverage-data")]
    pub(crate) data: PathBuf,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
