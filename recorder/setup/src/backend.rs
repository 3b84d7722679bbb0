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
}

impl FromStr for BackendChoice {
    type Err = kernrec_schemas::InvalidId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            other => other.parse().map(Self::Is),
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
    pub(crate) fn resolve(self, environment: &Environment) -> Backend {
        match self {
            Self::Is(backend) => backend,
            Self::Auto => DEVICES
                .into_iter()
                .find(|(path, _)| environment.system(path).exists())
                .map_or(Backend::Cuda, |(_, backend)| backend),
        }
    }
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
            assert_eq!(BackendChoice::Auto.resolve(&environment), expected);
        }
    }

    #[test]
    fn a_named_backend_is_taken() {
        let choice: BackendChoice = "rocm".parse().unwrap();
        assert_eq!(choice.resolve(&Environment::default()), Backend::Rocm);
        assert!("opencl".parse::<BackendChoice>().is_err());
    }
}
