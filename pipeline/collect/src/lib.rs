//! Collecting from a pipeline: what the jobs of one backend left becomes a published record.
//!
//! In the order of the work: [`Ci`] is what a CI system is asked for ([`Buildkite`] through its agent's program,
//! [`GitHub`] through its API), `wait` polls the armed steps until all are over or time is, the CI system gathers
//! bundles, job folders and symbol maps into the [`Workplace`], `publish` folds and publishes through the same code
//! as `kernrec-publish`, `report` says how all of it went and `annotation` says it to people. [`collect`] is the whole.
//!
//! Nothing here prints, exits or reads the environment.
#![warn(missing_docs)]

mod annotation;
mod arrived;
mod buildkite;
mod ci;
mod compare;
mod delivered;
mod github;
mod maps;
mod names;
mod parallel;
mod program;
mod publish;
mod report;
mod rows;
mod run;
mod step;
mod wait;
mod workplace;

pub use buildkite::Buildkite;
pub use ci::{
    Announcement, Ci, CiError, Gathered, Lost, Phase, Poll, State, Style, Trouble, Upload,
};
pub use compare::{Changes, NamesChanged};
pub use github::{Access, AccessError, GitHub};
pub use parallel::Patience;
pub use report::{CollectReport, Folded, Names, Obstacle, Outcome};
pub use run::{Progress, Request, collect};
pub use step::{InvalidStep, Step, key_of};
pub use wait::{End, StepEnd, WaitOptions, Waited, wait};
pub use workplace::{ANNOTATION, JOBS, RESULT, Workplace, WorkplaceError};
