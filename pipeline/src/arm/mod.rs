//! From a pipeline to an armed one.

mod collect;
mod container;
mod decide;
mod graph;
mod inject;
mod pipeline;
mod place;
mod report;
mod script;
mod shell;
mod step;

pub use pipeline::{Armed, MAX_BYTES, arm};
pub use report::{COLLECTOR_WORDS, CollectorReport, Fate, StepReport, WORDS};
