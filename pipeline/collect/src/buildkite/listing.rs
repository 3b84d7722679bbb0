//! What a search for artifacts lists.

use super::Buildkite;
use super::agent::{LIMIT, call, end_of};
use crate::ci::CiError;
use crate::parallel::Failed;
use kernrec_schemas::JobId;
use std::collections::BTreeSet;

/// Job, size, SHA-256 and path, as `artifact search` fills them in. The path last: it may hold anything.
const FORMAT: &str = "%j\t%s\t%T\t%p\n";
/// The variable that makes searches and downloads see the artifacts of retried jobs too. Agents that are too old for
/// it take no offence, as they would at a flag.
const RETRIED: (&str, &str) = ("BUILDKITE_AGENT_INCLUDE_RETRIED_JOBS", "true");

/// One artifact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Artifact {
    pub(super) job: JobId,
    pub(super) path: String,
    /// In bytes; `None` when the agent does not tell.
    pub(super) size: Option<u64>,
    /// In hex; `None` likewise.
    pub(super) sha256: Option<String>,
}

/// Which jobs' artifacts a search sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Jobs {
    /// The last attempt of each.
    Last,
    /// All attempts.
    All,
}

/// Everything that fits one of the queries, in the build or of one step. A search without a result is an empty one.
pub(super) fn search(
    agent: &Buildkite,
    queries: &[&str],
    step: Option<&str>,
    jobs: Jobs,
) -> Result<BTreeSet<Artifact>, CiError> {
    let mut found = BTreeSet::new();
    for query in queries {
        let listed = agent
            .patience
            .tried(|| one(agent, query, step, jobs).map_err(Failed::ForNow))?;
        found.extend(parse(&listed));
    }
    Ok(found)
}

fn one(agent: &Buildkite, query: &str, step: Option<&str>, jobs: Jobs) -> Result<Vec<u8>, CiError> {
    let mut command = agent.of_build(&["artifact", "search", query, "--format", FORMAT]);
    if let Some(step) = step {
        command.args(["--step", step]);
    }
    if jobs == Jobs::All {
        command.env(RETRIED.0, RETRIED.1);
    }
    let ended = end_of(&mut command, b"", LIMIT)?;
    let finds_nothing = || {
        let said = ended.stderr().to_ascii_lowercase();
        said.contains("no matches found") || said.contains("no artifacts found")
    };
    if ended.is_success() || finds_nothing() {
        return Ok(ended.stdout);
    }
    Err(CiError::new(
        format!("search for `{query}`"),
        ended.complaint(),
    ))
}

/// A line that is none is part of a path with line breaks, which nothing would be downloaded from anyway: that path's
/// first line is an artifact that is not there.
fn parse(listed: &[u8]) -> impl Iterator<Item = Artifact> {
    let text = String::from_utf8_lossy(listed).into_owned();
    let artifact = |line: &str| {
        let mut fields = line.splitn(4, '\t');
        let (job, size, sha256, path) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        );
        let is_hex = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
        Some(Artifact {
            // It becomes the name of a folder, and an argument.
            job: JobId::new(job)
                .ok()
                .filter(|_| crate::names::is_safe(job) && !job.contains('/'))?,
            path: path.to_owned(),
            size: size.parse().ok(),
            sha256: is_hex.then(|| sha256.to_ascii_lowercase()),
        })
    };
    text.lines()
        .filter_map(artifact)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Downloads what fits a query, of one job, into a folder that exists.
pub(super) fn download(
    agent: &Buildkite,
    job: &JobId,
    query: &str,
    into: &str,
) -> Result<(), CiError> {
    let mut command =
        agent.of_build(&["artifact", "download", query, into, "--step", job.as_str()]);
    call(command.env(RETRIED.0, RETRIED.1), b"").map(drop)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use proptest::prelude::*;

    #[test]
    fn lines_of_a_listing() {
        let sha = "a".repeat(64);
        let text = format!(
            "0190-ab\t12\t{sha}\t.kernrec/x.tar.zst\nj\t%s\t%T\ta\tb\n../up\t1\t\tx\nrest of a path\n\n"
        );
        let parsed: Vec<_> = parse(text.as_bytes()).collect();
        assert_eq!(parsed.len(), 2);
        assert_eq!(parsed[0].size, Some(12));
        assert_eq!(parsed[0].sha256.as_deref(), Some(sha.as_str()));
        assert_eq!(parsed[1].path, "a\tb");
        assert_eq!((parsed[1].size, &parsed[1].sha256), (None, &None));
    }

    proptest! {
        #[test]
        fn any_listing_is_read(bytes: Vec<u8>) {
            for artifact in parse(&bytes) {
                prop_assert!(!artifact.job.as_str().contains(['/', '\\']));
            }
        }
    }
}
