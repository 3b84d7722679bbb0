//! `kernrec fetch` and `ci-fetch-kernel-record`.

use super::layout::ReadLayout;
use super::remote::RemoteArgs;
use super::signing::RequireKeyArgs;
use kernrec_schemas::{Backend, Commit, Pipeline};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `fetch`.
#[derive(Debug, clap::Args)]
pub(crate) struct FetchArgs {
    /// The store: a path, or a file://, https://, s3://, gs:// or az:// URL
    /// [env: CI_SELECTOR_KERNEL_RECORD_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// The backend: cuda, rocm, python or all
    #[arg(long, value_name = "BACKEND", default_value = "all")]
    pub(crate) backend: BackendsArg,

    /// The pipeline
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    /// How the store is laid out
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = ReadLayout::Auto)]
    pub(crate) layout: ReadLayout,

    /// Fetch the record of this commit instead of the newest
    #[arg(long, value_name = "SHA", conflicts_with = "ancestor_of")]
    pub(crate) commit: Option<Commit>,

    /// The folder the record is installed in
    #[arg(long, value_name = "DIR", default_value = "coverage-data")]
    pub(crate) out: PathBuf,

    /// Also keep kernel_table[.rocm].json.gz and kernel_symbol_map[.rocm].json.gz for the existing
    /// readers
    #[arg(long)]
    pub(crate) upstream_names: bool,

    /// Refuse a record published longer ago than this, for example 14d or 36h
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) max_age: Option<Duration>,

    /// Fetch the newest record whose commit is an ancestor of this revision
    #[arg(long, value_name = "REV", requires = "repo")]
    pub(crate) ancestor_of: Option<String>,

    /// Git repository for --ancestor-of
    #[arg(long, value_name = "DIR", requires = "ancestor_of")]
    pub(crate) repo: Option<PathBuf>,

    /// Only check what is installed; no request to the store
    #[arg(long)]
    pub(crate) offline: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) signing: RequireKeyArgs,

    #[command(flatten)]
    pub(crate) network: RemoteArgs,
}

/// Which backends are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BackendsArg {
    /// Every one.
    All,
    /// Just this one.
    One(Backend),
}

impl std::str::FromStr for BackendsArg {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        match text.parse() {
            Ok(backend) => Ok(Self::One(backend)),
            Err(_) => Err("expected one of `cuda`, `rocm`, `python`, `all`".to_owned()),
        }
    }
}

/// A whole number and a unit: seconds, minutes, hours, days or weeks.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let problem =
        || "expected a whole number and a unit (s, m, h, d, w), for example `14d`".to_owned();
    let unit_at = text.len() - text.chars().next_back().map_or(0, char::len_utf8);
    let (number, unit) = text.split_at(unit_at);
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "w" => 7 * 24 * 60 * 60,
        _ => return Err(problem()),
    };
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let total = number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(seconds));
    match total {
        Some(total) if digits => Ok(Duration::from_secs(total)),
        _ => Err(problem()),
    }
}
