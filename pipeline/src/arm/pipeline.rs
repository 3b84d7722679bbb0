//! The whole pipeline: walk its steps, decide, edit.

use super::collect::{self, Build, Found};
use super::decide::{Decision, Work, decide};
use super::graph::{Graph, Scope};
use super::inject::inject;
use super::report::{CollectorReport, StepReport};
use super::step::{Step, is_set};
use crate::config::{Config, Switches};
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
    /// The collector of each backend that a step was armed for.
    pub collectors: Vec<CollectorReport>,
}

/// Arms a pipeline for what is switched on, in a build of `branch` if that is known. One that is armed already comes out as
/// it is.
///
/// # Errors
/// A pipeline that is not understood is refused whole.
pub fn arm(
    pipeline: &[u8],
    config: &Config,
    switches: Switches,
    branch: Option<&str>,
) -> Result<Armed, PipelineError> {
    let document = Document::parse(readable(pipeline)?)?;
    let mut arming = Arming {
        config,
        switches,
        document: &document,
        edits: Edits::new(&document),
        queue: None,
        steps: Vec::new(),
        graph: Graph::default(),
        found: Found::default(),
    };
    let list = arming.pipeline()?;
    let behind = arming.graph.behind_a_block();
    let build = Build { config, branch };
    let collectors = collect::add(&arming.found, &behind, build, list, &mut arming.edits);
    let bytes = if arming.edits.is_empty() {
        pipeline.to_vec()
    } else {
        arming.edits.apply()?.into_bytes()
    };
    let steps = arming.steps;
    Ok(Armed {
        bytes,
        steps,
        collectors,
    })
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
    switches: Switches,
    document: &'d Document<'d>,
    edits: Edits<'d>,
    /// The queue of steps that name none.
    queue: Option<&'d str>,
    steps: Vec<StepReport>,
    graph: Graph<'d>,
    found: Found<'d>,
}

/// Where a list of steps stands.
#[derive(Debug, Clone, Copy)]
struct Within {
    group: bool,
    /// In a group that is skipped.
    skipped: bool,
}

impl<'d> Arming<'d> {
    /// A pipeline is a list of steps, or a map with them. The list is returned.
    fn pipeline(&mut self) -> Result<&'d Node<'d>, PipelineError> {
        let root = &self.document.root;
        let agents = root.get("agents");
        self.queue = agents.and_then(|agents| agents.get("queue")?.text());
        let list = match root.items() {
            Some(_) => root,
            None => root.get("steps").unwrap_or(root),
        };
        let Some(steps) = list.items() else {
            return Err(self.shape(list, "expected a list of `steps`"));
        };
        let within = Within {
            group: false,
            skipped: false,
        };
        self.list(steps, within, &mut Scope::default())?;
        Ok(list)
    }

    /// The numbers of the list's steps.
    fn list(
        &mut self,
        steps: &'d [Node<'d>],
        within: Within,
        scope: &mut Scope,
    ) -> Result<Vec<usize>, PipelineError> {
        let mut numbers = Vec::new();
        for node in steps {
            if node.scalar().is_some() && !node.is_null() {
                numbers.push(self.graph.step(node, scope));
                // `wait`, `block` and the like.
                let name = node.text().unwrap_or_default().to_owned();
                self.report(name, StepReport::not("no-command-step", ""));
                continue;
            }
            if node.entries().is_none() {
                return Err(self.shape(node, "expected a step"));
            }
            if node.get("group").is_some() && !within.group {
                self.group(node, scope)?;
            } else {
                let number = self.graph.step(node, scope);
                numbers.push(number);
                self.step(node, number, within)?;
            }
        }
        Ok(numbers)
    }

    fn group(&mut self, node: &'d Node<'d>, outer: &mut Scope) -> Result<(), PipelineError> {
        let list = node.get("steps").unwrap_or(node);
        let Some(steps) = list.items() else {
            return Err(self.shape(list, "expected the group's list of `steps`"));
        };
        self.found.groups.push(node);
        self.found.keys.extend(node.get("key").and_then(Node::text));
        let within = Within {
            group: true,
            skipped: is_set(node, "skip"),
        };
        let mut scope = self.graph.group(node, outer);
        let members = self.list(steps, within, &mut scope)?;
        self.graph.end_of_group(node, &members, outer);
        Ok(())
    }

    fn step(
        &mut self,
        node: &'d Node<'d>,
        number: usize,
        within: Within,
    ) -> Result<(), PipelineError> {
        let step = Step::read(node, self.document, self.queue)?;
        self.found.keys.extend(step.key);
        let position = self.steps.len() + 1;
        let name = step
            .key
            .or(step.label)
            .map_or_else(|| format!("step {position}"), str::to_owned);
        let decision = if within.skipped {
            Decision::Leave(StepReport::not("skipped", "its group is"))
        } else {
            self.found.build(&step, number);
            decide(&step, self.config, self.switches)
        };
        let report = match decision {
            Decision::Leave(report) => report,
            Decision::Edit(work, report) => {
                if let Work::Record(record) = &work {
                    self.found.armed(&step, number, record);
                }
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
