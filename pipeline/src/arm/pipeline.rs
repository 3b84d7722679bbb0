//! The whole pipeline: walk its steps, decide, edit.

use super::decide::{Decision, decide};
use super::inject::inject;
use super::report::StepReport;
use super::step::Step;
use crate::config::{Backends, Config};
use crate::error::PipelineError;
use crate::yaml::{Document, Edits, Node};

/// The largest pipeline that is read, in bytes. One of 5,000 steps has about 3 MiB.
pub const MAX_BYTES: usize = 64 << 20;

/// An armed pipeline.
#[derive(Debug)]
pub struct Armed {
    /// The pipeline; where nothing was to be done the very bytes that came in.
    pub bytes: Vec<u8>,
    /// Every step, in the pipeline's order.
    pub steps: Vec<StepReport>,
}

/// Arms a pipeline for some backends. One that is armed already comes out as it is.
///
/// # Errors
/// A pipeline that is not understood is refused whole.
pub fn arm(pipeline: &[u8], config: &Config, backends: Backends) -> Result<Armed, PipelineError> {
    let document = Document::parse(readable(pipeline)?)?;
    let mut arming = Arming {
        config,
        backends,
        document: &document,
        edits: Edits::new(&document),
        queue: None,
        steps: Vec::new(),
    };
    arming.pipeline()?;
    let bytes = if arming.edits.is_empty() {
        pipeline.to_vec()
    } else {
        arming.edits.apply()?.into_bytes()
    };
    let steps = arming.steps;
    Ok(Armed { bytes, steps })
}

fn readable(pipeline: &[u8]) -> Result<&str, PipelineError> {
    if pipeline.len() > MAX_BYTES {
        let (size, limit) = (pipeline.len(), MAX_BYTES);
        return Err(PipelineError::TooLarge { size, limit });
    }
    std::str::from_utf8(pipeline)
        .map_err(|error| PipelineError::not_text(pipeline, error.valid_up_to()))
}

struct Arming<'d> {
    config: &'d Config,
    backends: Backends,
    document: &'d Document<'d>,
    edits: Edits<'d>,
    /// The queue of steps that name none.
    queue: Option<&'d str>,
    steps: Vec<StepReport>,
}

impl<'d> Arming<'d> {
    /// A pipeline is a list of steps, or a map with them.
    fn pipeline(&mut self) -> Result<(), PipelineError> {
        let root = &self.document.root;
        if let Some(steps) = root.items() {
            return self.list(steps, false);
        }
        let agents = root.get("agents");
        self.queue = agents.and_then(|agents| agents.get("queue")?.text());
        let steps = root.get("steps").unwrap_or(root);
        match steps.items() {
            Some(steps) => self.list(steps, false),
            None => Err(self.shape(steps, "expected a list of `steps`")),
        }
    }

    fn list(&mut self, steps: &'d [Node<'d>], in_group: bool) -> Result<(), PipelineError> {
        for node in steps {
            if node.scalar().is_some() && !node.is_null() {
                // `wait`, `block` and the like.
                let name = node.text().unwrap_or_default().to_owned();
                self.report(name, StepReport::not("no-command-step", ""));
                continue;
            }
            if node.entries().is_none() {
                return Err(self.shape(node, "expected a step"));
            }
            if node.get("group").is_some() && !in_group {
                let within = node.get("steps").unwrap_or(node);
                let Some(steps) = within.items() else {
                    return Err(self.shape(within, "expected the group's list of `steps`"));
                };
                self.list(steps, true)?;
            } else {
                self.step(node)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, node: &'d Node<'d>) -> Result<(), PipelineError> {
        let step = Step::read(node, self.document, self.queue)?;
        let number = self.steps.len() + 1;
        let name = step
            .key
            .or(step.label)
            .map_or_else(|| format!("step {number}"), str::to_owned);
        let report = match decide(&step, self.config, self.backends) {
            Decision::Leave(report) => report,
            Decision::Edit(work, report) => {
                inject(&step, &work, self.config, &mut self.edits);
                report
            }
        };
        self.report(name, report);
        Ok(())
    }

    fn report(&mut self, name: String, report: StepReport) {
        self.steps.push(StepReport { name, ..report });
    }

    fn shape(&self, node: &Node<'_>, problem: &str) -> PipelineError {
        self.document.error(node.start, "unknown-shape", problem)
    }
}
