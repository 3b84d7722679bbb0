//! From a pipeline to an armed one.

mod container;
mod decide;
mod inject;
mod pipeline;
mod report;
mod script;
mod shell;
mod step;

pub use pipeline::{Armed, MAX_BYTES, arm};
pub use report::{Fate, StepReport, WORDS};
