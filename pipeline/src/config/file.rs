//! What can be said in `kernrec.toml`.

use super::release::Release;
use super::rule::Rule;
use kernrec_schemas::Backend;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Everything that `kernrec.toml` says, defaults filled in.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    pub(crate) interpolated: bool,
    pub(crate) containers: Vec<String>,
    pub(crate) host_steps: bool,
    pub(crate) skip: Vec<String>,
    pub(crate) artifacts: Vec<String>,
    pub(crate) mount: String,
    pub(crate) identity: Vec<String>,
    pub(crate) never: BTreeMap<String, Rule>,
    pub(crate) cuda: BackendConfig,
    pub(crate) rocm: BackendConfig,
    pub(crate) collect: Collect,
    #[serde(default)]
    pub(crate) release: Option<Release>,
    #[serde(default)]
    pub(crate) texts: Texts,
}

/// One backend's part.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BackendConfig {
    pub(crate) switch: String,
    pub(crate) timeout_factor: f64,
    pub(crate) collector: String,
    pub(crate) image_builds: Vec<String>,
    pub(crate) map_variable: String,
    pub(crate) arm: BTreeMap<String, Rule>,
    #[serde(default)]
    pub(crate) commands_variable: String,
    #[serde(default)]
    pub(crate) mention: String,
}

/// The steps that collect what armed ones left.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Collect {
    #[serde(default)]
    pub(crate) store: Option<String>,
    pub(crate) pipeline: String,
    pub(crate) only_branch: String,
    pub(crate) queue: String,
    pub(crate) queue_elsewhere: String,
    pub(crate) deadline_minutes: u32,
    pub(crate) timeout_minutes: u32,
    pub(crate) group: String,
    pub(crate) artifacts: Vec<String>,
    pub(crate) arguments: Vec<String>,
}

/// The shell text that is put in. Between `set-up` and `finish` stand the step's own commands, in a sub-shell.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Texts {
    pub(crate) set_up: String,
    pub(crate) finish: String,
    pub(crate) release: String,
    pub(crate) forward: String,
    pub(crate) collect: String,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            set_up: include_str!("../texts/set-up.sh").to_owned(),
            finish: include_str!("../texts/finish.sh").to_owned(),
            release: include_str!("../texts/release.sh").to_owned(),
            forward: include_str!("../texts/forward.sh").to_owned(),
            collect: include_str!("../texts/collect.sh").to_owned(),
        }
    }
}

/// Which backends are armed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backends {
    /// NVIDIA GPUs.
    pub cuda: bool,
    /// AMD GPUs.
    pub rocm: bool,
}

impl Backends {
    /// Whether none is.
    pub const fn is_empty(self) -> bool {
        !self.cuda && !self.rocm
    }

    pub(crate) const fn contains(self, backend: Backend) -> bool {
        match backend {
            Backend::Cuda => self.cuda,
            Backend::Rocm => self.rocm,
            _ => false,
        }
    }
}

impl Config {
    /// The backends whose switch is on; `variable` gives the value of an environment variable that is text.
    /// Only exactly `1` is on.
    pub fn switched_on(&self, mut variable: impl FnMut(&str) -> Option<String>) -> Backends {
        let mut is_on = |backend: &BackendConfig| variable(&backend.switch).as_deref() == Some("1");
        Backends {
            cuda: is_on(&self.cuda),
            rocm: is_on(&self.rocm),
        }
    }

    /// The part of one of the two backends that steps are armed for.
    pub(crate) const fn backend(&self, backend: Backend) -> &BackendConfig {
        match backend {
            Backend::Rocm => &self.rocm,
            _ => &self.cuda,
        }
    }
}
