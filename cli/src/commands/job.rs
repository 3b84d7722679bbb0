//! The arguments of `run` and `env` as options of the set-up.

use crate::args::job::JobArgs;
use kernrec_setup::{Identity, Options};

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
    }
}
