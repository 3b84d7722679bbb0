//! From what a user wrote about the network to the options of a store.

use crate::args::remote::{RemoteArgs, WriteArgs, timeout};
use crate::environment;
use crate::error::CommandError;
use kernrec_store::remote::{HttpOptions, RemoteOptions};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of a store that is read. The time of `--timeout` starts now; where nothing sets it, `otherwise` is
/// the limit (`None`: no end beside those of single requests).
pub(crate) fn reading(
    args: &RemoteArgs,
    otherwise: Option<Duration>,
) -> Result<RemoteOptions, CommandError> {
    let endpoint = match &args.endpoint {
        Some(endpoint) => Some(endpoint.clone()),
        None => match environment::S3_ENDPOINT.read()? {
            Some(endpoint) => Some(endpoint),
            None => environment::ENDPOINT.read()?,
        },
    };
    let ca_file = match &args.ca_file {
        Some(file) => Some(file.clone()),
        None => environment::CA_FILE.read()?.map(PathBuf::from),
    };
    let limit = limit(args)?.or(otherwise);
    Ok(RemoteOptions {
        http: HttpOptions {
            connect: args.connect_timeout,
            stall: args.stall_timeout,
            ca_file,
            ..HttpOptions::default()
        },
        endpoint,
        allow_http: args.allow_http,
        retries: args.retries,
        deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
        ..RemoteOptions::default()
    })
}

/// Options of a store whose pointers are moved.
pub(crate) fn writing(args: &WriteArgs) -> Result<RemoteOptions, CommandError> {
    Ok(RemoteOptions {
        without_conditional_writes: args.unsafe_no_cas,
        ..reading(&args.remote, None)?
    })
}

/// How long the command may work with a store, as far as the user said it.
pub(crate) fn limit(args: &RemoteArgs) -> Result<Option<Duration>, CommandError> {
    if args.timeout.is_some() {
        return Ok(args.timeout);
    }
    Ok(environment::TIMEOUT.parse()?.map(|Timeout(limit)| limit))
}

/// A timeout as it stands in a variable.
struct Timeout(Duration);

impl std::str::FromStr for Timeout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        timeout(text).map(Self)
    }
}
