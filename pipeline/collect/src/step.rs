//! The steps to wait for, as a pipeline names them.

use kernrec_schemas::StepKey;
use std::str::FromStr;

/// The most jobs that one step can be said to have.
const MAX_JOBS: u64 = 10_000;

/// An armed step and how many jobs it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its key.
    pub key: StepKey,
    /// How many jobs it has: 1, or the parallelism of a sharded step.
    pub jobs: u64,
}

/// A text that is no step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected KEY or KEY=N, a key of letters, digits and `_-:.` and a number of jobs from 1 to 10000"
)]
pub struct InvalidStep;

impl Step {
    /// A step of one job.
    pub fn single(key: StepKey) -> Self {
        Self { key, jobs: 1 }
    }
}

impl FromStr for Step {
    type Err = InvalidStep;

    fn from_str(text: &str) -> Result<Self, InvalidStep> {
        let (key, jobs) = match text.split_once('=') {
            None => (text, 1),
            Some((key, jobs)) => (key, jobs.parse().map_err(|_| InvalidStep)?),
        };
        Ok(Self {
            key: key_of(key).ok_or(InvalidStep)?,
            jobs: (1..=MAX_JOBS)
                .contains(&jobs)
                .then_some(jobs)
                .ok_or(InvalidStep)?,
        })
    }
}

/// The text as the key of an armed step; other programs are given it as an argument.
pub fn key_of(text: &str) -> Option<StepKey> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-:.".contains(&b);
    let is_plain = text.bytes().all(plain) && !text.starts_with('-');
    is_plain.then(|| StepKey::new(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::Step;

    #[test]
    fn a_step_is_a_key_and_perhaps_a_number_of_jobs() {
        let parsed = |text: &str| {
            let step: Step = text.parse().ok()?;
            Some((step.key.to_string(), step.jobs))
        };
        assert_eq!(parsed("kernels"), Some(("kernels".to_owned(), 1)));
        assert_eq!(parsed("a:b.c_d-e=8"), Some(("a:b.c_d-e".to_owned(), 8)));
        for wrong in [
            "", "=2", "a=", "a=0", "a=10001", "a=-1", "a=1=2", "a b", "--build", "a/b",
        ] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
