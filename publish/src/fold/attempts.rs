//! Retries of one job, told apart from several jobs of one step.

use super::FoldOptions;
use super::filing::Filed;
use std::collections::BTreeMap;

/// The jobs that speak for their step: of several attempts the last, otherwise all.
pub(super) fn deciding<'a>(jobs: &[Filed<'a>], options: &FoldOptions) -> Vec<Filed<'a>> {
    let mut shards: BTreeMap<Option<u64>, Vec<Filed<'a>>> = BTreeMap::new();
    for filed in jobs {
        let shard = filed.job.sidecar().and_then(|sidecar| sidecar.shard);
        shards.entry(shard).or_default().push(*filed);
    }
    shards
        .into_values()
        .flat_map(|shard| match last_attempt(&shard, options) {
            Some(last) => vec![last],
            None => shard,
        })
        .collect()
}

/// The last of the attempts these jobs are; `None` when they cannot be attempts of each other: their retry
/// counts must be distinct and run from 0 without a gap, all but the last must have failed, and all must have run
/// in one variant.
fn last_attempt<'a>(jobs: &[Filed<'a>], options: &FoldOptions) -> Option<Filed<'a>> {
    let mut by_retry: BTreeMap<u64, Filed<'a>> = BTreeMap::new();
    let variant = jobs.first()?.job.variant();
    for filed in jobs {
        let retry = filed.job.sidecar()?.retry_count?;
        // A job whose identity is in doubt is nobody's attempt.
        if !filed.job.flaws.is_empty() || filed.contradicted || filed.is_foreign(options) {
            return None;
        }
        // A failure in one image is not undone by a success in another.
        if filed.job.variant() != variant {
            return None;
        }
        if by_retry.insert(retry, *filed).is_some() {
            return None;
        }
    }
    let without_gap = by_retry.keys().copied().eq(0..jobs.len() as u64);
    let (_, last) = by_retry.pop_last()?;
    let others_failed = by_retry.values().all(|filed| !filed.passed());
    (without_gap && others_failed).then_some(last)
}
