//! Where a step's commands stand, and what runs them.

use super::container::{Inner, Plugin};
use super::report::StepReport;
use super::shell::not_wrappable;
use super::step::{Commands, Step};
use crate::config::Config;
use crate::yaml::Node;
use kernrec_schemas::Backend;

/// Where the commands stand that are recorded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'d> {
    Text(&'static str, &'d Node<'d>),
    List(&'d Node<'d>),
    /// A variable of the step, whose commands hand it over to what runs them in a container.
    Variable {
        name: &'d str,
        node: &'d Node<'d>,
        /// What the commands must mention for that.
        mention: &'d str,
    },
    /// An item of a plugin's list.
    Item(&'d Node<'d>, &'d Node<'d>),
}

/// Where the commands stand and run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runs<'d> {
    pub(super) place: Place<'d>,
    /// The options of the step's docker plugin.
    pub(super) docker: Option<&'d Node<'d>>,
    /// Whether they run in no container.
    pub(super) on_host: bool,
}

impl<'d> Runs<'d> {
    /// Of a step on the machines of a backend.
    pub(super) fn of(
        step: &Step<'d>,
        config: &'d Config,
        backend: Backend,
        host_steps: bool,
    ) -> Result<Self, StepReport> {
        let settings = config.backend(backend);
        let name = settings.commands_variable.as_str();
        let runs = match step.variable(name) {
            Some(node) => Self {
                place: Place::Variable {
                    name,
                    node,
                    mention: &settings.mention,
                },
                docker: None,
                on_host: false,
            },
            None => in_container(step, config, host_steps)?,
        };
        let script = match runs.place {
            Place::Text(..) | Place::List(_) => step.script(),
            Place::Variable { node, .. } | Place::Item(_, node) => {
                node.text().unwrap_or_default().to_owned()
            }
        };
        if script.trim().is_empty() {
            return Err(StepReport::not("no-commands", ""));
        }
        match not_wrappable(&script) {
            Some(word) => Err(StepReport::not(word, "")),
            None => Ok(runs),
        }
    }
}

fn in_container<'d>(
    step: &Step<'d>,
    config: &Config,
    host_steps: bool,
) -> Result<Runs<'d>, StepReport> {
    let runs = |plugin: &&Plugin<'_>| config.containers.iter().any(|name| name == plugin.name);
    let container = step.plugins.iter().find(runs);
    if container.is_none() && !host_steps {
        return Err(StepReport::not("host-step", "it runs in no container"));
    }
    let docker = container.filter(|plugin| plugin.name == "docker");
    let place = match container.map_or(Inner::StepCommands, Plugin::inner) {
        Inner::Unclear(word) => return Err(StepReport::not(word, "")),
        Inner::Text(list, text) => Place::Item(list, text),
        Inner::StepCommands => match step.commands {
            Commands::None => return Err(StepReport::not("no-commands", "")),
            Commands::Text(name, node) => Place::Text(name, node),
            Commands::List(node) => Place::List(node),
        },
    };
    Ok(Runs {
        place,
        docker: docker.and_then(|plugin| plugin.options),
        on_host: container.is_none(),
    })
}
