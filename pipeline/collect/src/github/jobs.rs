//! From the jobs of a run to steps. A job has no key there, only a name: the key unless the workflow names it
//! otherwise, with its matrix behind and the calling job in front.

use crate::ci::{Phase, State};
use crate::step::Step;
use kernrec_schemas::JobId;
use kernrec_schemas::jobs::ListedJob;
use serde::Deserialize;

/// A page of the list.
#[derive(Debug, Deserialize)]
pub(super) struct Jobs {
    pub(super) jobs: Vec<Job>,
}

/// One job of one attempt.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Job {
    name: String,
    status: String,
    #[serde(default)]
    conclusion: Option<String>,
    #[serde(default)]
    run_attempt: Option<u64>,
}

impl Job {
    fn is_of(&self, step: &Step) -> bool {
        let own = self.name.rsplit(" / ").next().unwrap_or(&self.name);
        match own.strip_prefix(step.key.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with(" ("),
            None => false,
        }
    }

    fn is_over(&self) -> bool {
        self.status == "completed"
    }

    fn conclusion(&self) -> &str {
        self.conclusion.as_deref().unwrap_or_default()
    }
}

/// How a step stands; `None` when the run has no job of it, or none yet.
pub(super) fn state(step: &Step, jobs: &[Job]) -> Option<State> {
    let own: Vec<&Job> = jobs.iter().filter(|job| job.is_of(step)).collect();
    let first = own.first()?;
    if let Some(open) = own.iter().find(|job| !job.is_over()) {
        let all_wait = own
            .iter()
            .filter(|job| !job.is_over())
            .all(|job| matches!(job.status.as_str(), "waiting" | "pending" | "requested"));
        return Some(State {
            phase: if all_wait {
                Phase::Waiting
            } else {
                Phase::Running
            },
            word: open.status.clone(),
            passed: None,
        });
    }
    let ran = own.iter().any(|job| job.conclusion() != "skipped");
    let failed = own.iter().find(|job| job.conclusion() != "success");
    Some(State {
        phase: if ran { Phase::Ended } else { Phase::CannotRun },
        word: failed.unwrap_or(first).conclusion().to_owned(),
        passed: Some(failed.is_none()),
    })
}

/// The jobs as recordings name them. Only where every step has one job: the environment of a job tells nothing of its
/// place in a matrix that the API would tell too, and a list with holes is worse than none.
pub(super) fn listed(run: u64, steps: &[Step], jobs: &[Job]) -> Option<Vec<ListedJob>> {
    let mut listed = Vec::new();
    for step in steps {
        let own = jobs.iter().filter(|job| job.is_of(step));
        let own: Vec<&Job> = own
            .filter(|job| job.is_over() && job.conclusion() != "skipped")
            .collect();
        let attempts: Option<Vec<u64>> = own.iter().map(|job| job.run_attempt).collect();
        let mut attempts = attempts?;
        attempts.sort_unstable();
        attempts.dedup();
        if step.jobs != 1 || attempts.len() != own.len() {
            return None;
        }
        for job in own {
            let attempt = job.run_attempt.unwrap_or(1);
            let passed = job.conclusion() == "success";
            listed.push(ListedJob {
                id: JobId::new(format!("{run}-{attempt}-{}", step.key)).ok()?,
                state: Some(if passed { "passed" } else { "failed" }.to_owned()),
                step_key: Some(step.key.clone()),
            });
        }
    }
    (!listed.is_empty()).then_some(listed)
}

#[cfg(test)]
mod tests {
    use super::{Job, listed, state};
    use crate::ci::Phase;
    use crate::step::Step;

    fn job(name: &str, status: &str, conclusion: &str, attempt: u64) -> Job {
        Job {
            name: name.to_owned(),
            status: status.to_owned(),
            conclusion: (!conclusion.is_empty()).then(|| conclusion.to_owned()),
            run_attempt: Some(attempt),
        }
    }

    fn step(text: &str) -> Step {
        text.parse().unwrap()
    }

    #[test]
    fn names_of_jobs() {
        for (name, is_of) in [
            ("gpu", true),
            ("gpu (0, 2)", true),
            ("nightly / gpu", true),
            ("nightly / gpu (0)", true),
            ("gpu-more", false),
            ("gpu / other", false),
            ("more gpu", false),
        ] {
            assert_eq!(
                job(name, "queued", "", 1).is_of(&step("gpu")),
                is_of,
                "{name}"
            );
        }
    }

    #[test]
    fn a_step_is_over_when_all_its_jobs_are() {
        let told = |jobs: &[Job]| state(&step("a=2"), jobs).map(|s| (s.phase, s.word, s.passed));
        let done = |conclusion| job("a (0)", "completed", conclusion, 1);
        let word = str::to_owned;
        assert_eq!(told(&[]), None);
        assert_eq!(
            told(&[done("success"), job("a (1)", "in_progress", "", 1)]),
            Some((Phase::Running, word("in_progress"), None))
        );
        assert_eq!(
            told(&[done("failure"), job("a (1)", "waiting", "", 1)]),
            Some((Phase::Waiting, word("waiting"), None))
        );
        assert_eq!(
            told(&[done("success"), done("timed_out")]),
            Some((Phase::Ended, word("timed_out"), Some(false)))
        );
        assert_eq!(
            told(&[done("success"), done("success")]),
            Some((Phase::Ended, word("success"), Some(true)))
        );
        assert_eq!(
            told(&[done("skipped")]),
            Some((Phase::CannotRun, word("skipped"), Some(false)))
        );
    }

    #[test]
    fn jobs_are_listed_as_recordings_name_them_or_not_at_all() {
        let jobs = [
            job("a", "completed", "failure", 1),
            job("a", "completed", "success", 2),
            job("b", "completed", "skipped", 1),
            job("c (0)", "completed", "success", 1),
            job("c (1)", "completed", "success", 1),
        ];
        let ids = |steps: &[Step]| {
            let jobs = listed(77, steps, &jobs)?;
            Some(
                jobs.iter()
                    .map(|job| format!("{} {:?}", job.id, job.passed()))
                    .collect::<Vec<_>>(),
            )
        };
        let expected = ["77-1-a Some(false)", "77-2-a Some(true)"];
        assert_eq!(ids(&[step("a"), step("b")]).unwrap(), expected);
        for unlistable in ["c", "c=2", "b"] {
            assert_eq!(ids(&[step(unlistable)]), None, "{unlistable}");
        }
    }
}
