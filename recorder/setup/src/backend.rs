//! Which GPUs to record.

use crate::environment::Environment;
use kernrec_schemas::Backend;
use std::str::FromStr;

/// The backend a caller names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// What the machine has.
    #[default]
    Auto,
    /// This one.
    Is(Backend),
    /// None: no kernel is recorded.
    None,
}

/// A word that names no GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `cuda`, `rocm`, `auto` or `none`")]
pub struct UnknownBackend;

impl FromStr for BackendChoice {
    type Err = UnknownBackend;
    fn from_str(text: &str) -> Result<Self, UnknownBackend> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            other => Backend::KERNELS
                .into_iter()
                .find(|backend| backend.as_str() == other)
                .map(Self::Is)
                .ok_or(UnknownBackend),
        }
    }
}

/// Devices that exist where a backend's kernel driver is loaded. NVIDIA's first: a machine with both has its
/// AMD device for the display more often than not.
const DEVICES: [(&str, Backend); 4] = [
    ("/dev/nvidiactl", Backend::Cuda),
    ("/proc/driver/nvidia/version", Backend::Cuda),
    // NVIDIA's driver under WSL.
    ("/dev/dxg", Backend::Cuda),
    ("/dev/kfd", Backend::Rocm),
];

impl BackendChoice {
    /// The backend. A machine without any GPU is set up for CUDA: its processes never load the recorder, and
    /// the sidecar of the step appears all the same.
    pub(crate) fn resolve(self, environment: &Environment) -> Option<Backend> {
        match self {
            Self::Is(backend) => Some(backend),
            Self::None => None,
            Self::Auto => Some(of_machine(environment)),
        }
    }
}

/// The backend of the GPUs that this machine has.
pub(crate) fn of_machine(environment: &Environment) -> Backend {
    DEVICES
        .into_iter()
        .find(|(path, _)| environment.system(path).exists())
        .map_or(Backend::Cuda, |(_, backend)| backend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_what_the_machine_has() {
        for (device, expected) in [
            (None, Backend::Cuda),
            (Some("dev/kfd"), Backend::Rocm),
            (Some("dev/nvidiactl"), Backend::Cuda),
        ] {
            let root = tempfile::tempdir().unwrap();
            if let Some(device) = device {
                fs_err::create_dir(root.path().join("dev")).unwrap();
                fs_err::write(root.path().join(device), "").unwrap();
            }
            let environment = Environment::default().with_system(root.path());
            assert_eq!(BackendChoice::Auto.resolve(&environment), Some(expected));
        }
    }

    #[test]
    fn a_named_backend_is_taken() {
        let choice: BackendChoice = "rocm".parse().unwrap();
        assert_eq!(choice.resolve(&Environment::default()), Some(Backend::Rocm));
        let none: BackendChoice = "none".parse().unwrap();
        assert_eq!(none.resolve(&Environment::default()), None);
        for wrong in ["opencl", "python", ""] {
            assert!(wrong.parse::<BackendChoice>().is_err(), "{wrong}");
        }
    }
}
