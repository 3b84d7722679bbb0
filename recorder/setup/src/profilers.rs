//! Other profilers, by how they show before anything runs.

use crate::environment::Environment;
use crate::options::Purpose;
use crate::program;
use crate::reason::Unavailable;

/// The profilers of one vendor.
pub(crate) struct Profilers {
    /// Variables that they set in the processes they watch.
    pub(crate) variables: &'static [&'static str],
    /// Parts of the names of their libraries in `LD_PRELOAD`.
    pub(crate) preloaded: &'static [&'static str],
    /// Programs that start what they watch.
    pub(crate) programs: &'static [&'static str],
}

impl Profilers {
    /// Refuses a workload that one of them watches.
    pub(crate) fn check(
        &self,
        environment: &Environment,
        purpose: Purpose<'_>,
    ) -> Result<(), Unavailable> {
        let set = |name: &&&str| environment.set(name).is_some();
        if let Some(name) = self.variables.iter().find(set) {
            return found(format!("`{name}` is set"));
        }
        let preload = environment.set("LD_PRELOAD").unwrap_or_default();
        let preload = preload.to_string_lossy();
        if let Some(name) = self.preloaded.iter().find(|name| preload.contains(**name)) {
            return found(format!("`LD_PRELOAD` names `{name}`"));
        }
        if let Purpose::Command(command) = purpose
            && let Some(tool) = program::name(command).filter(|name| self.programs.contains(name))
        {
            return found(format!("the command is `{tool}`"));
        }
        Ok(())
    }
}

fn found(sign: String) -> Result<(), Unavailable> {
    Err(Unavailable::OtherProfiler { sign })
}
