//! How a store behind a network is reached; shared by every command that takes the URL of a store.

use std::path::PathBuf;
use std::time::Duration;

/// Arguments of every command that reads a store.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct RemoteArgs {
    /// The S3-compatible service, for s3:// stores that are not at AWS [env: AWS_ENDPOINT_URL_S3,
    /// AWS_ENDPOINT_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,

    /// PEM file of further certificates to trust, beside the system's [env: KERNREC_CA_FILE]
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,

    /// Reach other machines without TLS too; this machine always may be
    #[arg(long)]
    pub(crate) allow_http: bool,

    /// Give up on the store this long after the start, with everything that is under way, for example
    /// 90s; fetch gives up after 10m at the latest if this is not given [env: KERNREC_TIMEOUT]
    #[arg(long, value_name = "D", value_parser = timeout)]
    pub(crate) timeout: Option<Duration>,

    /// Give up a connection that does not come about for this long
    #[arg(long, value_name = "D", value_parser = timeout, default_value = "10s")]
    pub(crate) connect_timeout: Duration,

    /// Give up a request that neither takes nor gives a byte for this long
    #[arg(long, value_name = "D", value_parser = timeout, default_value = "30s")]
    pub(crate) stall_timeout: Duration,

    /// How often a request is made again that failed for a reason that may pass
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=20))]
    pub(crate) retries: u32,
}

/// Arguments of every command that moves a pointer.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Write to a store that has no conditional writes: of two publishers at once, one may undo the
    /// other's work unseen
    #[arg(long)]
    pub(crate) unsafe_no_cas: bool,
}

/// A whole number above 0 and a unit from milliseconds to hours.
pub(crate) fn timeout(text: &str) -> Result<Duration, String> {
    let number_ends = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(number_ends);
    let milliseconds = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60 * 1000),
        "h" => Some(60 * 60 * 1000),
        _ => None,
    };
    number
        .parse::<u64>()
        .ok()
        .filter(|&number| number > 0)
        .zip(milliseconds)
        .and_then(|(number, unit)| number.checked_mul(unit))
        .map(Duration::from_millis)
        .ok_or_else(|| {
            "expected a whole number above 0 and a unit (ms, s, m, h), for example `90s`".to_owned()
        })
}
