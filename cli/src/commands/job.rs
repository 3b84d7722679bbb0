//! The arguments of `run` and `env` as options of the set-up.

use crate::args::job::{JobArgs, PythonArg};
use kernrec_setup::{Identity, Options, PythonMode, PythonOptions};

pub(super) fn options(args: &JobArgs) -> Options {
    Options {
        backend: args.backend,
        dir: args.dir.clone(),
        identity: Identity {
            step_key: args.step.clone(),
            label: args.label.clone(),
            job_id: args.job_id.clone(),
            build: args.build.clone(),
            commit: args.commit.clone(),
            shard: args.shard.clone(),
            shard_count: args.shards.clone(),
            retry_count: args.retry.clone(),
            variant: args.variant.clone(),
        },
        flush_ms: args.flush_ms,
        force_every: args.force_every,
        cupti: args.cupti.clone(),
        no_preload: args.no_preload,
        python: args.python.map(|mode| PythonOptions {
            mode: match mode {
                PythonArg::Container => PythonMode::Container,
                PythonArg::Host => PythonMode::Host,
            },
            roots: args.python_roots.clone(),
            checkout: args.python_checkout.clone(),
            executable: args.python_exe.clone(),
        }),
    }
}
