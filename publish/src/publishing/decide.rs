//! Whether a record may become the current one, given what is current now.

use super::current::Current;
use super::ordering::{Supersession, superseded_by};
use super::{PublishError, PublishRequest};
use crate::gates::{self, Refusal};
use kernrec_git::Repo;
use kernrec_schemas::Digest;
use kernrec_schemas::manifest::Counts;

/// The decision.
pub(super) enum Decision {
    /// Publish.
    Go,
    /// It is current already.
    Unchanged,
    /// It is current already, by a pointer that this publisher has not signed.
    Renew,
    /// Somebody newer is current.
    Superseded(Supersession),
    /// These gates refuse.
    Refused(Vec<Refusal>),
}

/// Decides. `manifest` is `None` for a record that inherent gates refused, for which none was made.
pub(super) fn decide(
    request: &PublishRequest<'_>,
    counts: &Counts,
    manifest: Option<&Digest>,
    inherent: &[Refusal],
    current: Option<&Current>,
) -> Result<Decision, PublishError> {
    let refused = |more: Vec<Refusal>| {
        let mut refusals = inherent.to_vec();
        refusals.extend(more);
        Ok(Decision::Refused(refusals))
    };
    let Some(current) = current else {
        return if inherent.is_empty() {
            Ok(Decision::Go)
        } else {
            refused(Vec::new())
        };
    };
    let pointer = &current.versioned.pointer;
    let seal = &current.versioned.seal;
    if let Err(problem) = request.signing.check(seal) {
        return refused(vec![problem.into()]);
    }
    if inherent.is_empty() && manifest == Some(&pointer.current.manifest) {
        return Ok(if request.signing.is_due(seal) {
            Decision::Renew
        } else {
            Decision::Unchanged
        });
    }
    let relative = current
        .baseline
        .map(|baseline| gates::relative(counts, &baseline, &request.gates))
        .unwrap_or_default();
    // Without a manifest the build alone can be revoked; a digest of nothing matches no record.
    let digest = manifest.copied().unwrap_or_else(|| Digest::of(b""));
    if let Some(revoked) = pointer.revocation(&digest, request.build) {
        let mut more = vec![Refusal::Revoked {
            build: request.build,
            revoked,
        }];
        more.extend(relative);
        return refused(more);
    }
    if !inherent.is_empty() {
        return refused(relative);
    }
    let repo = request.repo.as_ref().map(Repo::new);
    let older = superseded_by(
        current,
        &request.commit,
        request.build,
        counts.usable_rows,
        repo.as_ref(),
    )?;
    // An older record is expected to differ from the newer one, so its ordering is told and not its size.
    match older {
        Some(supersession) => Ok(Decision::Superseded(supersession)),
        None if relative.is_empty() => Ok(Decision::Go),
        None => refused(relative),
    }
}
