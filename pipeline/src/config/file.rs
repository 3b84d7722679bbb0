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
    pub(crate) python: PythonConfig,
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

/// The part of the Python recorder.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct PythonConfig {
    pub(crate) switch: String,
    pub(crate) timeout_factor: f64,
    pub(crate) collector: String,
    pub(crate) image_builds: Vec<String>,
    pub(crate) never: Vec<String>,
    pub(crate) skip: Vec<String>,
    pub(crate) host_steps: bool,
    pub(crate) roots: Vec<String>,
    pub(crate) checkout: String,
    pub(crate) arm: BTreeMap<String, Rule>,
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

/// What is armed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Switches {
    /// The kernels of NVIDIA GPUs.
    pub cuda: bool,
    /// The kernels of AMD GPUs.
    pub rocm: bool,
    /// Python's functions.
    pub python: bool,
}

impl Switches {
    /// What is armed, in the order of [`Backend::ALL`].
    pub fn on(self) -> impl Iterator<Item = Backend> {
        let is_on = move |backend: &Backend| self.contains(*backend);
        Backend::ALL.into_iter().filter(is_on)
    }

    pub(crate) const fn contains(self, backend: Backend) -> bool {
        match backend {
            Backend::Cuda => self.cuda,
            Backend::Rocm => self.rocm,
            Backend::Python => self.python,
            _ => false,
        }
    }
}

impl Config {
    /// What is switched on; `variable` gives the value of an environment variable that is text. Only exactly `1`
    /// is on.
    pub fn switched_on(&self, mut variable: impl FnMut(&str) -> Option<String>) -> Switches {
        let mut is_on = |switch: &str| variable(switch).as_deref() == Some("1");
        Switches {
            cuda: is_on(&self.cuda.switch),
            rocm: is_on(&self.rocm.switch),
            python: is_on(&self.python.switch),
        }
    }

    /// The part of one of the two backends that have kernels.
    pub(crate) const fn backend(&self, backend: Backend) -> &BackendConfig {
        match backend {
            Backend::Rocm => &self.rocm,
            _ => &self.cuda,
        }
    }

    /// The key of a backend's collector, and those of the image builds that it starts after.
    pub(crate) fn collector(&self, backend: Backend) -> (&str, &[String]) {
        if backend == Backend::Python {
            (&self.python.collector, &self.python.image_builds)
        } else {
            let backend = self.backend(backend);
            (&backend.collector, &backend.image_builds)
        }
    }
}
