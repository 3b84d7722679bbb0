//! The release of kernrec that jobs run.

use serde::Deserialize;

/// A `tar` archive, compressed or not, with `kernrec` and its libraries at the top, named by its digest.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Release {
    /// Its SHA-256 in hex, which every job checks with `sha256sum`.
    pub(crate) sha256: String,
    /// Where `curl` gets it.
    #[serde(default)]
    pub(crate) url: Option<String>,
    /// The store that `kernrec store get` gets it from,
    #[serde(default)]
    pub(crate) store: Option<String>,
    /// under this digest.
    #[serde(default)]
    pub(crate) digest: Option<String>,
    /// The folder that keeps it on each agent.
    #[serde(default = "cache")]
    pub(crate) cache: String,
}

fn cache() -> String {
    "/var/tmp/kernrec".to_owned()
}

impl Release {
    /// The command that writes the archive to the file `release`.
    pub(crate) fn get(&self) -> String {
        match (&self.url, &self.store, &self.digest) {
            (Some(url), ..) => format!(
                "curl -fsSL --retry 3 --connect-timeout 10 --max-time 120 --output release '{url}'"
            ),
            (None, Some(store), Some(digest)) => {
                format!("kernrec store get '{store}' '{digest}' --out release >&2")
            }
            // Refused when the file was read.
            (None, ..) => "false".to_owned(),
        }
    }
}
