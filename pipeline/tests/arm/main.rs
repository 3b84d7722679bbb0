//! Pipelines armed: as people read them, by rule, by property, and refused.
#![cfg(test)]

mod collectors;
mod functions;
mod properties;
mod refused;
mod rules;
mod snapshots;

use kernrec_pipeline::{Armed, Config, Fate, Switches, arm};

const CUDA: Switches = Switches {
    cuda: true,
    rocm: false,
    python: false,
};
const ROCM: Switches = Switches {
    cuda: false,
    rocm: true,
    python: false,
};
const BOTH: Switches = Switches {
    cuda: true,
    rocm: true,
    python: false,
};
const PYTHON: Switches = Switches {
    cuda: false,
    rocm: false,
    python: true,
};
const ALL: Switches = Switches {
    cuda: true,
    rocm: true,
    python: true,
};
const NONE: Switches = Switches {
    cuda: false,
    rocm: false,
    python: false,
};

fn armed(pipeline: &str, backends: Switches) -> Armed {
    armed_with(pipeline, "", backends)
}

fn armed_with(pipeline: &str, config: &str, backends: Switches) -> Armed {
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

/// What becomes of a step, in words.
fn fate(fate: Fate) -> String {
    match fate {
        Fate::Armed { kernels, python } => {
            let kernels = kernels.map(|backend| backend.to_string());
            let python = python.then(|| "python".to_owned());
            let recorded: Vec<String> = kernels.into_iter().chain(python).collect();
            recorded.join(" ")
        }
        Fate::Mapped(backend) => format!("map {backend}"),
        Fate::NotArmed => "-".to_owned(),
    }
}
