//! The libraries of the CUDA recorder.

use super::RECORDER;
use crate::environment::Environment;
use crate::libraries;
use crate::reason::Unavailable;
use std::path::PathBuf;

const FORWARDERS: &str = "libkernrec_cupti_forwarders.so";

/// The libraries to use.
#[derive(Debug)]
pub(super) struct Libraries {
    pub(super) recorder: PathBuf,
    /// Without them the recorder works, and knows less: the recording's header then says `forwarders=no`.
    pub(super) forwarders: Result<PathBuf, Unavailable>,
}

pub(super) fn find(environment: &Environment) -> Result<Libraries, Unavailable> {
    Ok(Libraries {
        recorder: libraries::find(environment, RECORDER, Some(c"InitializeInjection"))?,
        forwarders: libraries::find(environment, FORWARDERS, None),
    })
}
