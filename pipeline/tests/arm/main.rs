//! Pipelines armed: as people read them, by rule, by property, and refused.
#![cfg(test)]

mod collectors;
mod properties;
mod refused;
mod rules;
mod snapshots;

use kernrec_pipeline::{Armed, Backends, Config, arm};

const CUDA: Backends = Backends {
    cuda: true,
    rocm: false,
};
const ROCM: Backends = Backends {
    cuda: false,
    rocm: true,
};
const BOTH: Backends = Backends {
    cuda: true,
    rocm: true,
};
const NONE: Backends = Backends {
    cuda: false,
    rocm: false,
};

fn armed(pipeline: &str, backends: Backends) -> Armed {
    armed_with(pipeline, "", backends)
}

fn armed_with(pipeline: &str, config: &str, backends: Backends) -> Armed {
    arm(
        pipeline.as_bytes(),
        &Config::parse(config).unwrap(),
        backends,
        Some("main"),
    )
    .unwrap()
}

fn text(armed: &Armed) -> &str {
    std::str::from_utf8(&armed.bytes).unwrap()
}
